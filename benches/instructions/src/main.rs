//! Counts the instructions that a request costs the server, with valgrind's callgrind, and compares
//! with what `recorded.toml` holds. Prints a table; ends with 1 when a count is above the record by
//! more than the bound. What others do on the machine hardly changes the counts, unlike times.

mod record;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use instructions::{Counted, DUMPS, LAYOUTS, REQUESTS, count, start};
use record::Record;
use testbed::Database;

/// The part by which a count may lie above the record.
const BOUND: f64 = 0.03;

#[derive(Parser)]
#[command(about = "How many instructions a request costs the server, against a record")]
struct Arguments {
    /// Writes the counts into the record.
    #[arg(long)]
    record: bool,
    /// Requests of each workload in one count.
    #[arg(long, default_value_t = REQUESTS)]
    requests: usize,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(over) if over.is_empty() => ExitCode::SUCCESS,
        Ok(over) => {
            eprintln!("more instructions than recorded:\n  {}", over.join("\n  "));
            eprintln!("if they are worth it, record them: cargo xtask bench instructions --record");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table; returns the figures above the record.
fn measure(arguments: &Arguments) -> Result<Vec<String>> {
    let database = Database::from_env()?;
    let counted = count_all(&database, arguments.requests)?;
    let over = print(&database, &counted)?;
    if arguments.record {
        Record::write(
            counted
                .iter()
                .map(|workload| (workload.name.clone(), workload.median() as u64))
                .collect(),
        )?;
        return Ok(Vec::new());
    }
    Ok(over)
}

/// The counts of all workloads.
fn count_all(database: &Database, requests: usize) -> Result<Vec<Counted>> {
    let place = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .with_context(|| format!("{name} is not set"))
    };
    let folder = place("BENCH_WORK")?.join("instructions");
    let program = place("BENCH_TARGET")?.join("release/svc-target");
    std::fs::create_dir_all(&folder)?;

    let mut counted = Vec::new();
    for layout in &LAYOUTS {
        let mut profile = start(layout, &program, database, &folder)?;
        for workload in layout.workloads {
            counted.push(count(&mut profile, layout, workload, requests)?);
        }
    }
    eprintln!("the functions that cost most are in {}", folder.display());
    Ok(counted)
}

/// Prints the table; returns the figures above the record.
fn print(database: &Database, counted: &[Counted]) -> Result<Vec<String>> {
    let record = Record::read()?;
    println!("<!-- begin instructions -->\n{}\n", database.hardware()?);
    println!(
        "| request | instructions | spread of {DUMPS} counts | recorded | |\n|---|---:|---:|---:|---:|"
    );
    let mut over = Vec::new();
    for workload in counted {
        let (now, spread) = (workload.median(), workload.spread() * 100.0);
        let (before, change) = match record.get(&workload.name) {
            Some(before) => (before.to_string(), now / before as f64 - 1.0),
            None => ("–".to_owned(), 0.0),
        };
        println!(
            "| {} | {now:.0} | {spread:.2} % | {before} | {:+.1} % |",
            workload.name,
            change * 100.0
        );
        if change > BOUND {
            over.push(format!(
                "{}: {now:.0}, recorded {before} ({:+.1} %)",
                workload.name,
                change * 100.0
            ));
        }
    }
    println!("<!-- end instructions -->");
    Ok(over)
}
