//! Measures the cost of authentication, authorization, protection, rate limits, a cached response
//! or observability per request: servers with and without it are loaded in turns, and their CPU
//! time, with PostgreSQL's, is compared within each of many short rounds. Counts the instructions
//! of the server besides. Prints a table; ends with 1 when a variant costs more than it may.

mod authentication;
mod authorization;
mod collector;
mod observability;
mod protection;
mod rate_limits;
mod response_cache;
mod token;
mod variant;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use clap::Parser;
use testbed::{Amount, Cost, Database, Load, Profile, Request, STEADY, Server, interval, median};
use variant::{Most, Variant};

/// The times that the instructions are counted; the median is taken.
const DUMPS: usize = 5;
/// The requests of one count.
const COUNTED: usize = 100;

#[derive(Parser)]
#[command(about = "What authentication, protection, observability and the like add to a request")]
struct Arguments {
    /// The thing that is added.
    #[arg(value_enum, default_value_t = Subject::Auth)]
    subject: Subject,
    /// Rounds, each of all variants.
    #[arg(long, default_value_t = 201)]
    rounds: usize,
    /// Requests of a variant in a round.
    #[arg(long, default_value_t = 640)]
    requests: usize,
    /// Connections at once.
    #[arg(long, default_value_t = 16)]
    connections: usize,
}

/// The feature whose cost is measured; its name is that of the section of benches/results.md.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Subject {
    /// Tokens, and values of users.
    Auth,
    /// Authorizers.
    Authz,
    /// Checks for forged requests, identifiers, load shedding, origins that may read.
    Protection,
    /// Limits that nothing reaches.
    RateLimits,
    /// Answers that are kept.
    ResponseCache,
    /// Metrics, traces, the request log.
    Observability,
}

impl Subject {
    fn variants(self) -> Vec<Variant> {
        match self {
            Self::Auth => authentication::all(),
            Self::Authz => authorization::all(),
            Self::Protection => protection::all(),
            Self::RateLimits => rate_limits::all(),
            Self::ResponseCache => response_cache::all(),
            Self::Observability => observability::all(),
        }
    }

    fn section(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Authz => "authz",
            Self::Protection => "protection",
            Self::RateLimits => "rate-limits",
            Self::ResponseCache => "response-cache",
            Self::Observability => "observability",
        }
    }
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

/// Prints the table; returns the costs above their limits.
fn measure(arguments: &Arguments) -> Result<Vec<String>> {
    let (database, variants) = (Database::from_env()?, arguments.subject.variants());
    let section = arguments.subject.section();
    let place = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .with_context(|| format!("{name} is not set"))
    };
    let (folder, target) = (place("BENCH_WORK")?.join(section), place("BENCH_TARGET")?);
    std::fs::create_dir_all(&folder)?;
    let program = target.join("release/svc-target");
    collector::start()?;
    let costs = costs(arguments, &folder, &program, &database, &variants)?;
    let counts = variants
        .iter()
        .map(|variant| instructions(&program, &database, &folder, variant));
    let counts = counts.collect::<Result<Vec<_>>>()?;
    println!("<!-- begin {section} -->\n{}\n", database.hardware()?);
    println!(
        "| request | CPU ms: **total** (server + PostgreSQL) | beside | 95 % | limit | instructions of the server | |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut over = Vec::new();
    for (index, variant) in variants.iter().enumerate() {
        let beside = variant.limit.map_or(0, |limit| limit.beside);
        let is_of_server = matches!(variant.limit.map(|limit| limit.most), Some(Most::Server(_)));
        let times = || {
            costs
                .iter()
                .map(|round| added(round[index], round[beside], is_of_server))
        };
        let (time, (low, high)) = (median(times()), interval(times()));
        let of =
            |part: fn(Cost) -> f64| median(costs.iter().map(|round| part(round[index]) * 1_000.0));
        let (server, rest) = (
            of(|cost| cost.server.as_secs_f64()),
            of(|cost| cost.database.as_secs_f64()),
        );
        let limit = variant
            .limit
            .map_or_else(|| "–".to_owned(), |limit| limit.most.shown());
        let more = counts[index] / counts[beside] - 1.0;
        let (scale, unit) = if is_of_server {
            (1.0, "µs")
        } else {
            (100.0, "%")
        };
        println!(
            "| {} | **{:.4}** ({server:.4} + {rest:.4}) | {:+.1} {unit} | {:+.1} to {:+.1} | {limit} | {:.0} | {:+.1} % |",
            variant.name,
            of(Cost::total),
            time * scale,
            low * scale,
            high * scale,
            counts[index],
            more * 100.0,
        );
        if variant
            .limit
            .is_some_and(|limit| limit.most.is_passed(time))
        {
            over.push(format!(
                "{}: {:+.1} {unit} above {}",
                variant.name,
                time * scale,
                variants[beside].name
            ));
        }
    }
    println!("<!-- end {section} -->");
    Ok(over)
}

/// The CPU time that one request takes beyond another: as a part of it, or the server's in
/// microseconds.
fn added(cost: Cost, other: Cost, is_of_server: bool) -> f64 {
    match is_of_server {
        true => (cost.server.as_secs_f64() - other.server.as_secs_f64()) * 1e6,
        false => cost.total() / other.total() - 1.0,
    }
}

/// The costs of each variant in each round. The variants run in turns, in a different order each
/// round, because the previous variant determines the contents of the processor's caches.
fn costs(
    arguments: &Arguments,
    folder: &Path,
    program: &Path,
    database: &Database,
    variants: &[Variant],
) -> Result<Vec<Vec<Cost>>> {
    let log = File::create(folder.join("server.log"))?;
    let start = |variant: &Variant| {
        let mut command = Command::new(program);
        command
            .arg("columns")
            .envs(settings(variant))
            .env("DATABASE_URL", database.url("bench"));
        if variant
            .settings
            .iter()
            .any(|(name, _)| *name == "SVC_LOG_REQUESTS")
        {
            command.stderr(log.try_clone()?);
        }
        Load::new(
            Server::start(command, &variant.requests[0])?,
            arguments.connections,
        )
    };
    let mut servers = variants.iter().map(start).collect::<Result<Vec<_>>>()?;
    let process = database.process()?;
    let (mut rounds, mut random) = (Vec::new(), fastrand::Rng::with_seed(1));
    for round in 0..=arguments.rounds {
        let mut costs = vec![None; variants.len()];
        let mut order: Vec<_> = (0..variants.len()).collect();
        random.shuffle(&mut order);
        for index in order {
            costs[index] = Some(servers[index].measure(
                &variants[index].requests,
                Amount::Requests(arguments.requests),
                process,
            )?);
        }
        eprintln!(
            "round {round}: {:.1?} µs",
            costs
                .iter()
                .flatten()
                .map(|cost| cost.total() * 1e6)
                .collect::<Vec<_>>()
        );
        // The first one warms up.
        if round > 0 {
            rounds.push(costs.into_iter().flatten().collect());
        }
    }
    Ok(rounds)
}

/// The variables of a server.
fn settings(variant: &Variant) -> impl Iterator<Item = (&'static str, &'static str)> {
    STEADY.into_iter().chain(variant.settings.iter().copied())
}

/// The instructions of a request.
fn instructions(
    program: &Path,
    database: &Database,
    folder: &Path,
    variant: &Variant,
) -> Result<f64> {
    let variables: Vec<_> = settings(variant).collect();
    let url = database.url("bench");
    let mut profile = Profile::start(
        program,
        "columns",
        &variables,
        &url,
        folder,
        &variant.requests[0],
    )?;
    let mut rotation = variant.requests.iter().cycle();
    let mut send = |profile: &mut Profile, count| -> Result<()> {
        rotation
            .by_ref()
            .take(count)
            .try_for_each(|request: &Request| profile.send(request))
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
