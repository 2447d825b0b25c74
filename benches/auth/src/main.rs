//! Measures what authentication adds to a request: servers with and without it are loaded in turns, and their CPU time,
//! with PostgreSQL's, is compared within each round. Counts the instructions of the server besides. Prints a table; ends
//! with 1 when a variant costs more than it may.

mod load;
mod token;
mod variant;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use clap::Parser;
use load::{Cost, Loaded};
use testbed::{Database, Profile, Request, Server};
use variant::{NONE, Variant};

/// The times that the instructions are counted; the median is taken.
const DUMPS: usize = 5;
/// The requests of one count.
const COUNTED: usize = 100;

#[derive(Parser)]
#[command(about = "What authentication adds to a request, beside one without")]
struct Arguments {
    /// Rounds, each of all variants.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Requests of a variant in a round.
    #[arg(long, default_value_t = 4_000)]
    requests: usize,
    /// Connections at once.
    #[arg(long, default_value_t = 16)]
    connections: usize,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(over) if over.is_empty() => ExitCode::SUCCESS,
        Ok(over) => {
            eprintln!("above the limit:\n  {}", over.join("\n  "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table; gives back what is above its limit.
fn measure(arguments: &Arguments) -> Result<Vec<String>> {
    let (database, variants) = (Database::from_env()?, variant::all());
    let place = |name: &str| std::env::var_os(name).map(PathBuf::from).with_context(|| format!("{name} is not set"));
    let (folder, target) = (place("BENCH_WORK")?.join("auth"), place("BENCH_TARGET")?);
    std::fs::create_dir_all(&folder)?;
    let program = target.join("release/svc-target");
    let costs = costs(arguments, &program, &database, &variants)?;
    let counts = variants.iter().map(|variant| instructions(&program, &database, &folder, variant));
    let counts = counts.collect::<Result<Vec<_>>>()?;
    println!("<!-- begin auth -->\n{}\n", database.hardware()?);
    println!("| request | CPU ms: **total** (server + PostgreSQL) | beside | limit | instructions of the server | |");
    println!("|---|---:|---:|---:|---:|---:|");
    let mut over = Vec::new();
    for (index, variant) in variants.iter().enumerate() {
        let beside = variant.limit.map_or(NONE, |limit| limit.beside);
        let above = median(costs.iter().map(|round| round[index].total() / round[beside].total() - 1.0));
        let of = |part: fn(Cost) -> f64| median(costs.iter().map(|round| part(round[index]) * 1_000.0));
        let (server, rest) = (of(|cost| cost.server.as_secs_f64()), of(|cost| cost.database.as_secs_f64()));
        let limit = variant.limit.map_or_else(|| "–".to_owned(), |limit| format!("{:+.0} %", limit.most * 100.0));
        let more = (counts[index] / counts[beside] - 1.0) * 100.0;
        println!(
            "| {} | **{:.4}** ({server:.4} + {rest:.4}) | {:+.1} % | {limit} | {:.0} | {more:+.1} % |",
            variant.name,
            of(Cost::total),
            above * 100.0,
            counts[index],
        );
        if variant.limit.is_some_and(|limit| above > limit.most) {
            over.push(format!("{}: {:+.1} % above {}", variant.name, above * 100.0, variants[beside].name));
        }
    }
    println!("<!-- end auth -->");
    Ok(over)
}

/// The costs of each variant in each round, all of which run in turns, each time beginning with another.
fn costs(arguments: &Arguments, program: &Path, database: &Database, variants: &[Variant]) -> Result<Vec<Vec<Cost>>> {
    let start = |variant: &Variant| {
        let mut command = Command::new(program);
        command.arg("columns").envs(settings(variant)).env("DATABASE_URL", database.url("bench"));
        Loaded::new(Server::start(command, &variant.requests[0])?, arguments.connections)
    };
    let mut servers = variants.iter().map(start).collect::<Result<Vec<_>>>()?;
    let process = database.process()?;
    let mut rounds = Vec::new();
    for round in 0..=arguments.rounds {
        let mut costs = vec![None; variants.len()];
        for step in 0..variants.len() {
            let index = (round + step) % variants.len();
            costs[index] = Some(servers[index].measure(&variants[index].requests, arguments.requests, process)?);
        }
        eprintln!(
            "round {round}: {:.1?} µs",
            costs.iter().flatten().map(|cost| cost.total() * 1e6).collect::<Vec<_>>()
        );
        // The first one warms up.
        if round > 0 {
            rounds.push(costs.into_iter().flatten().collect());
        }
    }
    Ok(rounds)
}

/// The variables of a server. Nothing but requests takes PostgreSQL's time.
fn settings(variant: &Variant) -> impl Iterator<Item = (&'static str, &'static str)> {
    variant.settings.iter().copied().chain([("SVC_CATALOGUE_POLL", "0"), ("RUST_LOG", "error")])
}

/// The instructions of a request.
fn instructions(program: &Path, database: &Database, folder: &Path, variant: &Variant) -> Result<f64> {
    let variables: Vec<_> = settings(variant).collect();
    let url = database.url("bench");
    let mut profile = Profile::start(program, "columns", &variables, &url, folder, &variant.requests[0])?;
    let mut rotation = variant.requests.iter().cycle();
    let mut send = |profile: &mut Profile, count| -> Result<()> {
        rotation.by_ref().take(count).try_for_each(|request: &Request| profile.send(request))
    };
    send(&mut profile, variant.requests.len().max(COUNTED))?;
    let mut counts = Vec::new();
    for _ in 0..DUMPS {
        profile.zero()?;
        send(&mut profile, COUNTED)?;
        counts.push(profile.dump()? as f64 / COUNTED as f64);
    }
    profile.annotate(&format!("{}.txt", variant.name))?;
    eprintln!("{}: {counts:.0?}", variant.name);
    Ok(median(counts.into_iter()))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
