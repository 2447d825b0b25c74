//! Breaks PostgreSQL, or the connection to it, under load, and counts the responses. Prints a
//! table; exits with 1 if a response is wrong, a write is repeated or lost, a client waits too
//! long, or a slot of the pool is not returned.

mod app;
mod fault;
mod load;
mod postgres;
mod tally;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;
use fault::Fault;
use postgres::Postgres;
use svc::Environment;
use tally::Tally;

/// The longest that a request may take: waiting for a connection, its statement's deadline, and the
/// load of the machine.
const MAX_PAUSE: Duration = Duration::from_secs(6);

#[derive(Parser)]
#[command(about = "What clients get while PostgreSQL or the network fails")]
struct Arguments {
    /// The seconds that a fault lasts.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// The number of clients that ask at a time.
    #[arg(long, default_value_t = 16)]
    clients: usize,
    /// Only faults whose name holds this.
    #[arg(long, default_value = "")]
    only: String,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("this must not be:\n  {}", failed.join("\n  "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table; returns the broken claims.
async fn run(arguments: &Arguments) -> Result<Vec<String>> {
    println!("<!-- begin faults -->\n{}\n", report::hardware());
    println!("{}", tally::HEAD);
    let mut failed = Vec::new();
    for fault in Fault::ALL
        .iter()
        .filter(|fault| fault.name().contains(&arguments.only))
    {
        for environment in [Environment::Production, Environment::Development] {
            let tally = measure(arguments, *fault, environment)
                .await
                .with_context(|| fault.name().to_owned())?;
            println!("{}", tally.row(fault.name(), environment));
            failed.extend(
                tally
                    .complaints(MAX_PAUSE)
                    .map(|why| format!("{} ({environment:?}): {why}", fault.name())),
            );
        }
    }
    println!("<!-- end faults -->");
    Ok(failed)
}

/// A second without a fault, the fault, and what follows.
async fn measure(arguments: &Arguments, fault: Fault, environment: Environment) -> Result<Tally> {
    let mut postgres = Postgres::start().await?;
    let proxy = network::Proxy::start(postgres.socket()).await?;
    let url = if fault.is_of_network() {
        proxy.url("postgres")
    } else {
        postgres.url()
    };
    let service = app::Service::start(&url, environment).await?;
    let address = service.address;
    let load = load::Load::start(address, arguments.clients, environment)?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    load.mark();
    fault
        .run(
            &mut postgres,
            &proxy,
            Duration::from_secs(arguments.seconds),
        )
        .await?;
    let healed = Instant::now();
    let recovered = load::recovered(address).await.map(|()| healed.elapsed());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut tally = load.stop()?;
    tally.recovered = recovered.ok();
    service.stop().await?;
    tally.settle(&postgres.written().await?);
    postgres.stop().await;
    Ok(tally)
}
