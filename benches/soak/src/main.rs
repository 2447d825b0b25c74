//! Sends a million requests whose documents rotate, and watches the server's resident memory.
//! Prints a table; ends with 1 when memory grows in the second half, or by more than the cache of
//! documents may hold.

mod documents;
mod rotation;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Parser;
use documents::Documents;
use rotation::Sample;
use testbed::{Database, Server, mebibytes};

/// The most that memory may gain in the second half, as a part of what is resident half-way.
const BOUND: f64 = 0.03;

#[derive(Parser)]
#[command(about = "Whether memory stays flat over a million requests")]
struct Arguments {
    /// Requests in all; each set of documents gets an equal part. With fewer than 200,000 the
    /// caches still fill.
    #[arg(long, default_value_t = 1_000_000)]
    requests: usize,
    /// The number of requests that are sent at a time.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// The layout that svc-target serves.
    #[arg(long, default_value = "columns")]
    layout: String,
}

fn main() -> ExitCode {
    match soak(&Arguments::parse()) {
        Ok(grown) if grown.is_empty() => ExitCode::SUCCESS,
        Ok(grown) => {
            eprintln!("memory grows in the second half:\n  {}", grown.join("\n  "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table; returns the figures that grow.
fn soak(arguments: &Arguments) -> Result<Vec<String>> {
    let database = Database::from_env()?;
    println!("<!-- begin soak -->\n{}\n", database.hardware()?);
    let sets = [
        Documents::whole(1_000),
        Documents::short(60_000),
        Documents::combined(10_000),
    ];
    let requests = arguments.requests / 2;
    let percents =
        (0..=rotation::SAMPLES).map(|part| format!("{} %", part * 100 / rotation::SAMPLES));
    println!(
        "| resident MiB after a part of {requests} requests | {} |",
        percents.collect::<Vec<_>>().join(" | ")
    );
    println!("|---|{}", "---:|".repeat(rotation::SAMPLES + 1));
    let mut grown = Vec::new();
    for set in sets {
        let server = start(&database, &arguments.layout)?;
        let total = if set.room.is_some() {
            set.requests.len()
        } else {
            requests
        };
        let samples = rotation::run(&server, &set.requests, total, arguments.connections)?;
        let cells: Vec<String> = samples
            .iter()
            .map(|sample| format!("{:.1}", mebibytes(sample.resident)))
            .collect();
        println!("| {} | {} |", set.name, cells.join(" | "));
        if let Some(room) = set.room {
            let gained = added(&samples);
            if gained > room {
                grown.push(format!(
                    "{}: by {:.1} MiB (at most {:.0})",
                    set.name,
                    mebibytes(gained),
                    mebibytes(room)
                ));
            }
        } else if let Some(gain) = gain(&samples).filter(|gain| *gain > BOUND) {
            grown.push(format!(
                "{}: by {:.1} % (at most {:.0} %)",
                set.name,
                gain * 100.0,
                BOUND * 100.0
            ));
        }
    }
    println!("<!-- end soak -->");
    Ok(grown)
}

/// Returns the memory that the end has above the middle, as a part of the middle.
fn gain(samples: &[Sample]) -> Option<f64> {
    let (middle, end) = (
        samples.get(samples.len() / 2)?.resident as f64,
        samples.last()?.resident as f64,
    );
    Some(end / middle - 1.0)
}

/// Returns the memory that the end has above the start.
fn added(samples: &[Sample]) -> u64 {
    let resident = |sample: Option<&Sample>| sample.map_or(0, |sample| sample.resident);
    resident(samples.last()).saturating_sub(resident(samples.first()))
}

fn start(database: &Database, layout: &str) -> Result<Server> {
    let folder: PathBuf = std::env::var_os("BENCH_TARGET").unwrap_or_default().into();
    let mut command = Command::new(folder.join("release/svc-target"));
    command
        .arg(layout)
        .env("DATABASE_URL", database.url("bench"));
    Server::start(command, &documents::probe())
}
