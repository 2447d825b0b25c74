//! Sends documents that could hold a server. Each must be answered or refused with little CPU time
//! of server and PostgreSQL together, every time, and the server must answer after it. Prints a
//! table; ends with 1 when a document costs too much.

mod app;
mod client;
mod documents;
mod repeated;

use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use testbed::{Database, Process, Request, Server};
use tokio::runtime::Runtime;

use client::{Reply, send};
use documents::{Attack, post};
use hostile_requests::End;

const TRIES: usize = 10;
const LIMIT: Duration = Duration::from_millis(100);
/// A server that is held for longer is given up.
const GIVE_UP: Duration = Duration::from_secs(20);
/// The database that the server reads.
const NAME: &str = "hostile";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [serve, url, port] if serve == "serve" => self::serve(url, port).map(|()| Vec::new()),
        names => attack(names),
    };
    match outcome {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!(
                "over {} ms of CPU, or no answer:\n  {}",
                LIMIT.as_millis(),
                failed.join("\n  ")
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The server, as a process of its own.
fn serve(url: &str, port: &str) -> Result<()> {
    let port = port.parse().context("the port")?;
    let served = runtime()?.block_on(app::serve(url, port));
    served.map_err(|error| anyhow::anyhow!("the server does not start: {error:?}"))
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?)
}

/// Prints the table of the documents whose names contain one of `names`, or of all documents.
/// Returns the documents that cost too much.
fn attack(names: &[String]) -> Result<Vec<String>> {
    let database = Database::from_env()?;
    database.run(
        "postgres",
        &format!("DROP DATABASE IF EXISTS {NAME} WITH (FORCE)"),
    )?;
    database.run("postgres", &format!("CREATE DATABASE {NAME}"))?;
    database.run(NAME, app::SQL)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["serve", &database.url(NAME)]);
    let probe = Request::new("{ users(limit: 1) { id } }", &serde_json::json!({}));
    let target = Target {
        server: Server::start(command, &probe)?,
        database: database.process()?,
        runtime: runtime()?,
    };
    println!("<!-- begin hostile -->\n{}\n", database.hardware()?);
    println!("| document | bytes | answer | median ms | CPU ms | slowest of {TRIES}, CPU ms |");
    println!("|---|---:|---|---:|---:|---:|");
    let is_asked = |attack: &Attack| {
        names.is_empty() || names.iter().any(|name| attack.name.contains(name.as_str()))
    };
    let mut failed = Vec::new();
    for attack in documents::all().iter().filter(|attack| is_asked(attack)) {
        let (name, bytes) = (attack.name.replace('|', "\\|"), (attack.bytes)(0).len());
        match target.measure(attack) {
            Ok(Measured {
                reply,
                time,
                cpu,
                slowest,
            }) => {
                let [time, cpu, most] = [time, cpu, slowest].map(milliseconds);
                println!("| {name} | {bytes} | {reply} | {time:.2} | {cpu:.2} | {most:.2} |");
                if slowest > LIMIT {
                    failed.push(format!("{name} took {most:.0} ms"));
                }
                if reply.is_failure() {
                    failed.push(format!("{name} is answered with {reply}"));
                }
            }
            Err(why) => {
                println!("| {name} | {bytes} | {why} | – | – | – |");
                failed.push(format!("{name}: {why}"));
            }
        }
    }
    println!("<!-- end hostile -->");
    Ok(failed)
}

/// A server and its PostgreSQL.
struct Target {
    server: Server,
    database: Process,
    runtime: Runtime,
}

/// The cost of a document: medians, and the most CPU time.
struct Measured {
    reply: Reply,
    time: Duration,
    cpu: Duration,
    slowest: Duration,
}

impl Target {
    fn measure(&self, attack: &Attack) -> Result<Measured> {
        let (mut times, mut cpus, mut last) = (Vec::new(), Vec::new(), None);
        for number in 0..TRIES {
            // Each try is a document of its own, so that no cache answers it.
            let bytes = (attack.bytes)(number);
            let before = self.cpu()?;
            let (reply, time) = self.send(&bytes, attack.end)?;
            cpus.push(self.cpu()?.saturating_sub(before));
            times.push(time);
            last = Some(reply);
            let (probe, _) = self.send(&post(r#"{"query":"{ start { id } }"}"#), End::Waits)?;
            if !probe.body.contains(r#"{"data":{"start":{"id":0}}}"#) {
                bail!("the server does not answer any more");
            }
        }
        times.sort();
        cpus.sort();
        let reply = last.context("no tries")?;
        Ok(Measured {
            reply,
            time: times[TRIES / 2],
            cpu: cpus[TRIES / 2],
            slowest: cpus[TRIES - 1],
        })
    }

    fn cpu(&self) -> Result<Duration> {
        Ok(self.server.process().cpu()? + self.database.cpu()?)
    }

    fn send(&self, bytes: &[u8], end: End) -> Result<(Reply, Duration)> {
        let answer =
            async { tokio::time::timeout(GIVE_UP, send(self.server.address, bytes, end)).await };
        self.runtime
            .block_on(answer)
            .context("no answer")?
            .context("no answer")
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
