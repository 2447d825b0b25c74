//! Opens idle sockets and subscriptions on one server, raises events, and prints a table: memory
//! for each connection, the time until all subscribers have an event, and CPU time.

mod client;
mod served;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, Subcommand};
use client::Clients;
use svc_embedded::{Database, Options};
use testbed::Process;

#[derive(Parser)]
#[command(about = "The cost of open sockets, and the time until all of them have an event")]
struct Arguments {
    /// Sockets that are acknowledged and have no operation.
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
    /// Sockets with a subscription of the same events.
    #[arg(long, default_value_t = 2_000)]
    subscriptions: usize,
    /// Events that are raised one after the other.
    #[arg(long, default_value_t = 20)]
    events: usize,
    /// Connections that are opened, used and closed in the end.
    #[arg(long, default_value_t = 0)]
    reopened: usize,
    /// The kind of events.
    #[arg(long, value_enum, default_value_t = Events::Values)]
    of: Events,
    #[command(subcommand)]
    mode: Option<Mode>,
}

#[derive(Subcommand)]
enum Mode {
    /// Serves, and prints the address.
    Serve { events: Events },
}

/// The events of the subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Events {
    /// The values of a function's stream.
    Values,
    /// Changes of a row, which all subscribers read alike.
    Rows,
    /// Changes of a row, which each subscriber reads under a row policy of its own.
    Tenants,
}

impl Events {
    fn document(self) -> &'static str {
        match self {
            Self::Values => "subscription { news }",
            Self::Rows | Self::Tenants => "subscription { changed { id title } }",
        }
    }

    fn argument(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Rows => "rows",
            Self::Tenants => "tenants",
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match arguments.mode {
        Some(Mode::Serve { events }) => served::serve(events).await,
        None if arguments.of == Events::Values => measure(&arguments, None).await,
        None => {
            let folder = std::env::temp_dir().join(format!("svc-sockets-{}", std::process::id()));
            let database = Database::start(Options::new(&folder)).await?;
            let measured = measure(&arguments, Some(database.url())).await;
            database.stop().await;
            std::fs::remove_dir_all(&folder)?;
            measured
        }
    }
}

/// The server in a process of its own, which ends with this.
struct Server {
    child: Child,
    address: std::net::SocketAddr,
}

impl Server {
    fn start(events: Events, database: Option<String>) -> Result<Self> {
        use std::io::BufRead as _;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["serve", events.argument()])
            .envs(database.map(|url| ("DATABASE_URL", url)));
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Self {
            address: line.trim().parse().context("no address")?,
            child,
        })
    }

    fn process(&self) -> Result<Process> {
        Ok(Process::new(i32::try_from(self.child.id())?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn measure(arguments: &Arguments, database: Option<String>) -> Result<()> {
    let server = Server::start(arguments.of, database)?;
    let process = server.process()?;
    let document = Some(arguments.of.document());
    // What every server has: threads, a plan, buffers of the first connections.
    let mut warm = Clients::open(server.address, 50, document).await?;
    client::publish(server.address).await?;
    warm.all_have_it(Instant::now()).await?;
    drop(warm);
    settle().await;
    println!("<!-- begin sockets -->\n| what | count | figure |\n|---|---:|---:|");
    let before = process.resident()?;
    let idle = Clients::open(server.address, arguments.idle, None).await?;
    settle().await;
    let with_idle = process.resident()?;
    row(
        "memory of an idle socket",
        arguments.idle,
        &per(with_idle - before, arguments.idle),
    );
    let mut subscribed = Clients::open(server.address, arguments.subscriptions, document).await?;
    settle().await;
    let with_all = process.resident()?;
    row(
        "memory of a socket with a subscription",
        arguments.subscriptions,
        &per(with_all - with_idle, arguments.subscriptions),
    );
    let cpu = process.cpu()?;
    let mut delays = Vec::new();
    for _ in 0..arguments.events {
        let began = Instant::now();
        client::publish(server.address).await?;
        delays.extend(subscribed.all_have_it(began).await?);
    }
    let spent = process.cpu()?.saturating_sub(cpu);
    delays.sort_unstable();
    ensure!(
        delays.len() == arguments.events * arguments.subscriptions,
        "an event was lost"
    );
    let at = |part: f64| milliseconds(delays[((delays.len() - 1) as f64 * part) as usize]);
    row(
        "time until a subscriber has an event, median",
        delays.len(),
        &at(0.5),
    );
    row("the same, 99th percentile", delays.len(), &at(0.99));
    row("the same, the last", delays.len(), &at(1.0));
    let messages = u32::try_from(delays.len().max(1))?;
    row(
        "CPU time of the server for a message",
        delays.len(),
        &format!("{:.1} µs", (spent / messages).as_nanos() as f64 / 1e3),
    );
    quiet(&process, arguments.idle + arguments.subscriptions).await?;
    drop((idle, subscribed));
    settle().await;
    row(
        "memory that is left when all are closed",
        0,
        &per(process.resident()?.saturating_sub(before), 1),
    );
    if arguments.reopened > 0 {
        reopen(&server, arguments.reopened, document).await?;
    }
    println!("<!-- end sockets -->");
    Ok(())
}

/// Shows what open sockets cost while nothing happens.
async fn quiet(process: &Process, sockets: usize) -> Result<()> {
    let (cpu, began) = (process.cpu()?, Instant::now());
    tokio::time::sleep(Duration::from_secs(10)).await;
    let idle = process.cpu()?.saturating_sub(cpu).as_secs_f64() / began.elapsed().as_secs_f64();
    row(
        "CPU of one processor while nothing happens",
        sockets,
        &format!("{:.2} %", idle * 100.0),
    );
    Ok(())
}

/// Opens and closes connections, and shows that nothing of them stays.
async fn reopen(server: &Server, count: usize, document: Option<&str>) -> Result<()> {
    let process = server.process()?;
    let (mut resident, mut descriptors, mut tasks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..4 {
        for _ in 0..count.div_ceil(4 * 200) {
            drop(Clients::open(server.address, 200, document).await?);
        }
        settle().await;
        resident.push(per(process.resident()?, 1));
        descriptors.push(process.descriptors()?.to_string());
        tasks.push(client::tasks(server.address).await?);
    }
    row(
        "memory after each quarter of opens and closes",
        count,
        &resident.join(", "),
    );
    row("open descriptors then", count, &descriptors.join(", "));
    row("tasks then", count, &tasks.join(", "));
    Ok(())
}

async fn settle() {
    tokio::time::sleep(Duration::from_secs(3)).await;
}

fn row(what: &str, count: usize, figure: &str) {
    println!("| {what} | {count} | {figure} |");
}

fn per(bytes: u64, count: usize) -> String {
    format!("{:.2} KiB", bytes as f64 / 1024.0 / count.max(1) as f64)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
