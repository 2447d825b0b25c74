//! Four ordinary clients beside clients that are slow on purpose, and beside an identity provider
//! that hangs. Times with them and without them take turns, and each is compared with the time just
//! before it. Server, PostgreSQL and clients share the machine. Prints a table; ends with 1 when the
//! ordinary clients get fewer answers, later ones, or any refusal.

mod app;
mod load;
mod slow;

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};
use testbed::{Database, Request, Server};
use tokio::runtime::Runtime;

use load::Answers;
use slow::Slow;

/// The database that the server reads.
const NAME: &str = "slow_clients";
/// The time in which the slow clients begin, or are gone.
const SETTLED: Duration = Duration::from_secs(1);
/// The least part of the answers that comes beside slow clients.
const LEAST: f64 = 0.95;
/// The most that the 99th percentile grows.
const MOST: f64 = 2.0;

#[derive(Parser)]
#[command(about = "The answers to ordinary clients beside slow ones")]
struct Arguments {
    /// Times with each kind of slow clients, and as many without.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of each of them.
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

/// The server, as a process of its own.
fn serve(database: &str, provider: &str, port: u16) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(app::serve(database, provider, port))
}

/// Prints the table; gives back the rows that are out of bounds.
fn measure(arguments: &Arguments) -> Result<Vec<String>> {
    let database = Database::from_env()?;
    database.run(
        "postgres",
        &format!("DROP DATABASE IF EXISTS {NAME} WITH (FORCE)"),
    )?;
    database.run("postgres", &format!("CREATE DATABASE {NAME}"))?;
    database.run(NAME, app::SQL)?;
    // The system accepts connections, and nobody reads what comes.
    let provider = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["serve", &database.url(NAME)])
        .arg(format!("http://{}/", provider.local_addr()?))
        .env("SVC_UPLOADS", "true");
    let probe = Request::new("{ works { id } }", &serde_json::json!({}));
    let bench = Bench {
        server: Server::start(command, &probe)?,
        // One thread, so that the load takes no more of the machine than it must.
        runtime: tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
        time: Duration::from_secs(arguments.seconds),
    };

    println!(
        "<!-- begin slow-clients -->\n{}\n\n{} times of {} s each.\n\n{HEAD}",
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

const HEAD: &str = "| Beside | answers (≥ 95 % of those without) | 99th percentile (< 2 ×) | refused (0) |\n\
                    |---|---:|---:|---:|";

/// The server, and what loads it.
struct Bench {
    server: Server,
    runtime: Runtime,
    time: Duration,
}

impl Bench {
    /// Compares times with slow clients and without.
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

    /// The answers to ordinary clients.
    fn answers(&self, slow: Option<Slow>) -> Result<Answers> {
        self.runtime.block_on(async {
            let _clients = slow.map(|slow| slow.start(self.server.address));
            tokio::time::sleep(SETTLED).await;
            load::ask(self.server.address, self.time).await
        })
    }
}

/// What ordinary clients get beside slow ones, as parts of what they get without.
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

/// The one in the middle; no number, which keeps no bound, where there are no answers.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
