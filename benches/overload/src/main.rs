//! Asks a server for more than the machine can take, and for rows that get slower. Server,
//! PostgreSQL and load share the machine. Prints tables; ends with 1 when an answer comes too late,
//! or too few of them.

mod app;
mod claims;
mod load;
mod tally;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Parser, Subcommand};
use testbed::{Database, Process, Request, Server, mebibytes};
use tokio::runtime::Runtime;

use claims::Claims;
use tally::Tally;

/// The database that the server reads.
const NAME: &str = "overload";
/// Clients that keep both processors busy.
const BUSY: usize = 16;
/// The longest that one who is refused may wait.
const AT_ONCE: Duration = Duration::from_millis(50);
/// The time in which the limit follows rows that have become slower or fast again.
const FOLLOWS: Duration = Duration::from_secs(5);

#[derive(Parser)]
#[command(about = "The answers to more requests than the machine can take")]
struct Arguments {
    /// Seconds of overload; rows are slow for a third of it.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The load, as a multiple of what the machine can take.
    #[arg(long, default_value_t = 4.0)]
    times: f64,
    /// The numbers that PostgreSQL counts for a request.
    #[arg(long, default_value_t = 50_000)]
    numbers: u32,
    /// Seconds for which a queue is a burst that is waited for, as `SVC_SHED_AFTER` is by default.
    #[arg(long, default_value_t = 5)]
    shed_after: u64,
    #[command(subcommand)]
    mode: Option<Mode>,
}

#[derive(Subcommand)]
enum Mode {
    /// Serves a database on a port.
    Serve { database: String, port: u16 },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.mode {
        Some(Mode::Serve { database, port }) => serve(database, *port).map(|()| Vec::new()),
        None => measure(&arguments),
    };
    match outcome {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("not kept:\n  {}", failed.join("\n  "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The server, as a process of its own.
fn serve(database: &str, port: u16) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let served = runtime.block_on(app::serve(database, port));
    served.map_err(|error| anyhow::anyhow!("the server does not start: {error:?}"))
}

/// Prints the tables; gives back the claims that are not kept.
fn measure(arguments: &Arguments) -> Result<Vec<String>> {
    let database = Database::from_env()?;
    database.run(
        "postgres",
        &format!("DROP DATABASE IF EXISTS {NAME} WITH (FORCE)"),
    )?;
    database.run("postgres", &format!("CREATE DATABASE {NAME}"))?;
    database.run(NAME, app::SQL)?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["serve", &database.url(NAME)])
        .env("SVC_SHED_AFTER", arguments.shed_after.to_string());
    let server = Server::start(
        command,
        &Request::new("{ work { count } }", &serde_json::json!({})),
    )?;
    // One thread, so that the load takes no more of the machine than it must.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let bench = Bench {
        database,
        server,
        runtime,
        numbers: arguments.numbers,
    };
    bench.set_effort(1)?;
    let mut claims = Claims::default();
    println!("<!-- begin overload -->\n{}\n", bench.database.hardware()?);
    bench.overload(arguments, &mut claims)?;
    bench.slower(arguments, &mut claims)?;
    println!("<!-- end overload -->");
    Ok(claims.failed())
}

/// The server, its database, and what loads them.
struct Bench {
    database: Database,
    server: Server,
    runtime: Runtime,
    numbers: u32,
}

/// The rates at which the machine answers, and how long it takes then.
struct Usual {
    /// Of one client that is alone.
    alone: Tally,
    /// Answers in a second, at most.
    peak: f64,
}

impl Bench {
    /// Makes rows so many times as dear as in the beginning.
    fn set_effort(&self, times: u32) -> Result<()> {
        self.database
            .run(
                NAME,
                &format!("UPDATE tb_effort SET numbers = {}", self.numbers * times),
            )
            .map(drop)
    }

    fn usual(&self) -> Result<Usual> {
        let time = Duration::from_secs(5);
        let closed = |clients| {
            let answers =
                self.runtime
                    .block_on(load::closed(self.server.address, clients, time))?;
            anyhow::Ok(Tally::of(&answers, Duration::ZERO, time))
        };
        Ok(Usual {
            alone: closed(1)?,
            peak: closed(BUSY)?.goodput(),
        })
    }

    /// So many times what the machine can take.
    fn overload(&self, arguments: &Arguments, claims: &mut Claims) -> Result<()> {
        let (before, time) = (self.usual()?, Duration::from_secs(arguments.seconds));
        let rate = before.peak * arguments.times;
        let (process, own, database) = (
            self.server.process(),
            Process::new(i32::try_from(std::process::id())?),
            self.database.process()?,
        );
        process.reset_peak()?;
        let spent = || anyhow::Ok([process.cpu()?, database.cpu()?, own.cpu()?]);
        let start = spent()?;
        let answers = self
            .runtime
            .block_on(load::open(self.server.address, rate, time))?;
        let end = spent()?;
        let after = self.usual()?;
        let (all, settled) = (
            Tally::of(&answers, Duration::ZERO, time),
            Tally::of(&answers, Duration::from_secs(arguments.shed_after), time),
        );
        // What else the machine does comes and goes.
        let peak = f64::midpoint(before.peak, after.peak);
        let alone = before.alone.admitted(0.99).max(after.alone.admitted(0.99));
        let [server, postgres, both] =
            [0, 1, 2].map(|part| (end[part] - start[part]).as_secs_f64());
        let cores = |part: f64| part / time.as_secs_f64();
        println!(
            "{rate:.0} requests a second for {} s, {} times what clients that wait get. Processors used: server {:.2}, \
             PostgreSQL {:.2}, load {:.2}. The server's memory: {:.0} MiB at most.\n",
            arguments.seconds,
            arguments.times,
            cores(server),
            cores(postgres),
            cores(both - server),
            mebibytes(process.peak()?),
        );
        println!("{}", claims::HEAD);
        claims.time("one client alone, 99 % of answers", alone, None);
        claims.rate("answers in a second, 16 clients that wait", peak, None);
        claims.rate(
            "answers in a second under this load",
            settled.goodput(),
            Some(0.9 * peak),
        );
        claims.time("their median", settled.admitted(0.5), None);
        claims.time("99 % of them", settled.admitted(0.99), Some(4 * alone));
        claims.rate("refused in a second", settled.refused(), None);
        claims.time("99 % of the refusals", settled.shed(0.99), Some(AT_ONCE));
        claims.time("the last of the refusals", settled.shed(1.0), None);
        claims.time(
            "with the burst before, 99 % of answers",
            all.admitted(0.99),
            None,
        );
        claims.time(
            "with the burst before, 99 % of refusals",
            all.shed(0.99),
            None,
        );
        claims.count("answers that are neither", all.others);
        println!();
        Ok(())
    }

    /// Rows that become ten times slower under a load that is no trouble before, and fast again.
    fn slower(&self, arguments: &Arguments, claims: &mut Claims) -> Result<()> {
        let before = self.usual()?;
        self.set_effort(10)?;
        let slow = self.usual()?;
        self.set_effort(1)?;
        // A second without a queue ends what is known of the last one.
        std::thread::sleep(Duration::from_secs(2));
        let part = Duration::from_secs(arguments.seconds / 3);
        let (rate, start) = (before.peak / 2.0, Instant::now());
        let answers = std::thread::scope(|scope| {
            let changing = scope.spawn(|| {
                for times in [10, 1] {
                    std::thread::sleep(part * if times == 10 { 1 } else { 2 } - start.elapsed());
                    self.set_effort(times)?;
                }
                anyhow::Ok(())
            });
            let answers = self
                .runtime
                .block_on(load::open(self.server.address, rate, part * 3));
            changing
                .join()
                .map_err(|_| anyhow::anyhow!("the change of rows panicked"))??;
            answers
        })?;
        let of = |from: Duration, to: Duration| Tally::of(&answers, from, to);
        let (first, during) = (of(Duration::ZERO, part), of(part + FOLLOWS, part * 2));
        let later = of(part * 2 + FOLLOWS, part * 3);
        let alone = before.alone.admitted(0.99);
        println!(
            "{rate:.0} requests a second; rows take ten times as long for {} s.\n",
            part.as_secs()
        );
        println!("{}", claims::HEAD);
        claims.time("99 % of answers before", first.admitted(0.99), None);
        claims.time(
            "slow rows, one client alone, 99 % of answers",
            slow.alone.admitted(0.99),
            None,
        );
        claims.rate(
            "slow rows, 16 clients that wait, answers in a second",
            slow.peak,
            None,
        );
        claims.rate(
            "5 s after they became slow, answers in a second",
            during.goodput(),
            Some(0.9 * slow.peak),
        );
        claims.time(
            "99 % of them",
            during.admitted(0.99),
            Some(4 * slow.alone.admitted(0.99)),
        );
        claims.time("99 % of the refusals", during.shed(0.99), Some(AT_ONCE));
        claims.rate(
            "5 s after they became fast, answers in a second",
            later.goodput(),
            Some(0.98 * rate),
        );
        claims.time(
            "99 % of them, once fast",
            later.admitted(0.99),
            Some(4 * alone),
        );
        for second in 0..part.as_secs() * 3 {
            let [from, to] = [second, second + 1].map(Duration::from_secs);
            let tally = of(from, to);
            eprintln!(
                "second {second}: {:.0} answered, 99 % in {:.0?}; {:.0} refused, 99 % in {:.0?}",
                tally.goodput(),
                tally.admitted(0.99),
                tally.refused(),
                tally.shed(0.99)
            );
        }
        Ok(())
    }
}
