//! Counts the instructions that a request costs the server, with valgrind's callgrind, and compares
//! with what `recorded.toml` holds. Prints a table; ends with 1 when a count is above the record by
//! more than the bound. What others do on the machine hardly changes the counts, unlike times.

mod record;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use record::Record;
use testbed::{Database, Profile, Request};
use workload::{LAYOUTS, Layout, Workload};

/// The part by which a count may lie above the record.
const BOUND: f64 = 0.03;
/// The number of times that the requests are counted; the median is taken.
const DUMPS: usize = 5;
/// Requests before the first count: plans are made, buffers have grown.
const WARM_UP: usize = 50;

#[derive(Parser)]
#[command(about = "How many instructions a request costs the server, against a record")]
struct Arguments {
    /// Writes the counts into the record.
    #[arg(long)]
    record: bool,
    /// Requests of each workload in one count.
    #[arg(long, default_value_t = 100)]
    requests: usize,
}

/// The counts of a workload.
struct Counted {
    name: String,
    /// Instructions of a request: one count after the other, sorted.
    counts: Vec<f64>,
}

impl Counted {
    fn median(&self) -> f64 {
        self.counts[self.counts.len() / 2]
    }

    /// The highest count above the lowest, as a part of the median.
    fn spread(&self) -> f64 {
        (self.counts[self.counts.len() - 1] - self.counts[0]) / self.median()
    }
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
    let place = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .with_context(|| format!("{name} is not set"))
    };
    let (folder, target) = (
        place("BENCH_WORK")?.join("instructions"),
        place("BENCH_TARGET")?,
    );
    std::fs::create_dir_all(&folder)?;
    let probe = Request::new("{ users(limit: 1) { id } }", &serde_json::json!({}));
    let mut counted = Vec::new();
    for layout in LAYOUTS {
        let program = target.join("release/svc-target");
        let mut profile = Profile::start(
            &program,
            layout.name,
            layout.variables,
            &database.url("bench"),
            &folder,
            &probe,
        )?;
        for workload in layout.workloads {
            counted.push(count(&mut profile, &layout, workload, arguments.requests)?);
        }
    }
    eprintln!("the functions that cost most are in {}", folder.display());
    let record = Record::read()?;
    println!("<!-- begin instructions -->\n{}\n", database.hardware()?);
    println!(
        "| request | instructions | spread of {DUMPS} counts | recorded | |\n|---|---:|---:|---:|---:|"
    );
    let mut over = Vec::new();
    for workload in &counted {
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

fn count(
    profile: &mut Profile,
    layout: &Layout,
    workload: &Workload,
    requests: usize,
) -> Result<Counted> {
    let (name, request) = (
        format!("{} {}", workload.name, layout.title),
        workload.request(layout)?,
    );
    for _ in 0..WARM_UP {
        profile.send(&request)?;
    }
    let mut counts = Vec::new();
    for _ in 0..DUMPS {
        profile.zero()?;
        for _ in 0..requests {
            profile.send(&request)?;
        }
        counts.push(profile.dump()? as f64 / requests as f64);
    }
    profile.annotate(&format!("{name}.txt"))?;
    eprintln!("{name}: {counts:.0?}");
    counts.sort_by(f64::total_cmp);
    Ok(Counted { name, counts })
}
