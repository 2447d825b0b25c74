//! Measures four ordinary clients beside slow clients, and beside an identity provider that hangs.
//!
//! Each period with slow clients follows one without them, and is compared with it. Server,
//! PostgreSQL and clients share the machine. Prints a table, and exits with 1 if the responses to
//! the ordinary clients are too few or late, or if any is an error.

mod app;
mod load;
mod slow;

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};
use testbed::{Database, Server};
use tokio::runtime::Runtime;

use load::Answers;
use slow::Slow;

/// The database that the server reads.
const NAME: &str = "slow_clients";
/// The pause before each period, for the connections of slow clients to open or close.
const SETTLED: Duration = Duration::from_secs(1);
/// The minimum of responses beside slow clients, relative to the period without them.
const LEAST: f64 = 0.95;
/// The bound of the 99th percentile, relative to the period without slow clients.
const MOST: f64 = 2.0;

#[derive(Parser)]
#[command(about = "Measures responses to ordinary clients beside slow clients")]
struct Arguments {
    /// Periods with each kind of slow clients; as many without them.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of a period.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    #[command(subcommand)]
    mode: Option<Mode>,
}

#[derive(Subcommand)]
enum Mode {
    /// Serves a database on a port.
    Serve {
        database: String,
        provider: String,
        port: u16,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.mode {
        Some(Mode::Serve {
            database,
            provider,
            port,
        }) => serve(database, provider, *port).map(|()| Vec::new()),
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

/// Runs the server, as a separate process.
fn serve(database: &str, provider: &str, port: u16) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(app::serve(database, provider, port))
}

/// Prints the table, and returns the rows that exceed a bound.
fn measure(arguments: &Arguments) -> Result<Vec<String>> {
    let database = Database::from_env()?;
    database.run(
        "postgres",
        &format!("DROP DATABASE IF EXISTS {NAME} WITH (FORCE)"),
    )?;
    database.run("postgres", &format!("CREATE DATABASE {NAME}"))?;
    database.run(NAME, app::SQL)?;
    // The kernel completes connections, but no request is read, so the provider seems to hang.
    let provider = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["serve", &database.url(NAME)])
        .arg(format!("http://{}/", provider.local_addr()?))
        .env("SVC_UPLOADS", "true");
    let bench = Bench {
        server: Server::start(command, &load::request())?,
        // The slow clients share one thread, because they need little of the processor.
        runtime: tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
        time: Duration::from_secs(arguments.seconds),
    };

    println!(
        "<!-- begin slow-clients -->\n{}\n\n{} rounds with periods of {} s.\n\n{HEAD}",
        database.hardware()?,
        arguments.rounds,
        arguments.seconds
    );
    let mut failed = Vec::new();
    for slow in Slow::ALL {
        let row = bench.beside(slow, arguments.rounds)?;
        println!("{row}");
        failed.extend((!row.is_kept()).then(|| row.to_string()));
    }
    println!("<!-- end slow-clients -->");
    Ok(failed)
}

const HEAD: &str = "| Beside | responses (≥ 95 %) | 99th percentile (< 2 ×) | errors (0) |\n\
                    |---|---:|---:|---:|";

/// The server, and the runtime of its clients.
struct Bench {
    server: Server,
    runtime: Runtime,
    time: Duration,
}

impl Bench {
    /// Compares periods with slow clients and without them.
    fn beside(&self, slow: Slow, rounds: usize) -> Result<Row> {
        let (mut answers, mut late, mut refused) = (Vec::new(), Vec::new(), 0);
        for _ in 0..rounds.max(1) {
            let calm = self.answers(None)?;
            let busy = self.answers(Some(slow))?;
            answers.push(busy.count() / calm.count());
            late.push(busy.late().as_secs_f64() / calm.late().as_secs_f64());
            refused += calm.refused + busy.refused;
        }
        Ok(Row {
            name: slow.name(),
            answers: median(answers),
            late: median(late),
            refused,
        })
    }

    /// Runs the ordinary clients for a period.
    fn answers(&self, slow: Option<Slow>) -> Result<Answers> {
        self.runtime.block_on(async {
            let _clients = slow.map(|slow| slow.start(self.server.address));
            tokio::time::sleep(SETTLED).await;
            load::ask(self.server.address, self.time).await
        })
    }
}

/// The responses to ordinary clients beside slow ones, relative to the periods without them.
struct Row {
    name: String,
    answers: f64,
    late: f64,
    refused: usize,
}

impl Row {
    fn is_kept(&self) -> bool {
        self.answers >= LEAST && self.late < MOST && self.refused == 0
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "| {} | {:.1} % | {:.2} × | {} |",
            self.name,
            self.answers * 100.0,
            self.late,
            self.refused
        )
    }
}

/// Returns the median, or NaN if there are no values. NaN fails both bounds.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
