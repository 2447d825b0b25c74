//! The CPU time of two servers, which are loaded in turns.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;
use serde_json::json;
use testbed::{Amount, Cost, Database, Load, Request, STEADY, Server};

use crate::arguments::Arguments;
use crate::places::Places;
use crate::revision::Program;
use crate::row::Row;
use crate::table::{list, print};
use crate::workload::{Answers, Workload, read};

/// Prints the table, and returns the reasons to fail: answers that differ, and costs above the
/// bound.
///
/// # Errors
/// A server does not start or fails, or there is no workload that both answer.
pub(crate) fn compare(
    arguments: &Arguments,
    places: &Places,
    database: &Database,
    programs: &[Program; 2],
) -> Result<Vec<String>> {
    let workloads = read(places, &arguments.workloads)?;
    let servers = [
        start(&programs[0], database)?,
        start(&programs[1], database)?,
    ];
    let names = [&*programs[0].name, &*programs[1].name];
    let Checked {
        alike,
        skipped,
        mut failures,
    } = check(&workloads, names, &servers, database)?;

    let connections = usize::from(arguments.concurrency);
    let [first, second] = servers;
    let mut loads = [
        Load::new(first, connections)?,
        Load::new(second, connections)?,
    ];
    let mut random = Rng::with_seed(1);
    let mut rows = Vec::new();
    for workload in alike {
        let rounds = measure(arguments, &mut loads, workload, database, &mut random)?;
        rows.push(Row::of(&workload.name, &rounds));
    }

    print(arguments, database, names, &rows)?;
    print!("{}", list("Skipped", &skipped));
    failures.extend(rows.iter().flat_map(|row| row.above(arguments.bound)));
    Ok(failures)
}

/// The workloads by the answers of both servers.
#[derive(Debug, Default)]
struct Checked<'a> {
    alike: Vec<&'a Workload>,
    /// The workloads that a server does not answer, with its reason.
    skipped: Vec<String>,
    /// The workloads whose answers differ.
    failures: Vec<String>,
}

/// Compares the answers to every workload.
fn check<'a>(
    workloads: &'a [Workload],
    names: [&str; 2],
    servers: &[Server; 2],
    database: &Database,
) -> Result<Checked<'a>> {
    let mut clients = [servers[0].client()?, servers[1].client()?];
    let mut checked = Checked::default();
    for workload in workloads {
        let name = &workload.name;
        match workload.check(names, &mut clients, database)? {
            Answers::Alike => checked.alike.push(workload),
            Answers::Missing(reason) => checked.skipped.push(format!("{name}: {reason}")),
            Answers::Different(reason) => {
                checked
                    .failures
                    .push(format!("{name}: the answers differ: {reason}"));
            }
        }
    }

    eprint!("{}", list("skipped", &checked.skipped));
    ensure!(
        !checked.alike.is_empty(),
        "there is no workload that both answer alike\n{}",
        list("different", &checked.failures)
    );
    Ok(checked)
}

/// Starts a server over columns.
fn start(program: &Program, database: &Database) -> Result<Server> {
    let mut command = Command::new(&program.path);
    command
        .arg("columns")
        .envs(STEADY)
        .env("DATABASE_URL", database.url("bench"));
    let probe = Request::new("{ users(limit: 1) { id } }", &json!({}));
    Server::start(command, &probe).with_context(|| format!("svc-target of {}", program.name))
}

/// The costs of both servers in each round. Their order is random, because the previous server
/// determines the contents of the processor's caches.
fn measure(
    arguments: &Arguments,
    loads: &mut [Load; 2],
    workload: &Workload,
    database: &Database,
    random: &mut Rng,
) -> Result<Vec<[Cost; 2]>> {
    let process = database.process()?;
    let amount = Amount::Time(Duration::from_secs(arguments.seconds.into()));
    let mut rounds = Vec::new();
    for round in 0..=arguments.rounds {
        let (mut costs, mut order) = ([Cost::default(); 2], [0, 1]);
        random.shuffle(&mut order);
        for index in order {
            costs[index] = loads[index].measure(&workload.requests, amount, process)?;
            workload.clean(database)?;
        }

        let [first, second] = costs.map(|cost| cost.total() * 1e6);
        eprintln!(
            "{} round {round}: {first:.1}, {second:.1} µs",
            workload.name
        );
        // The first one warms up.
        if round > 0 {
            rounds.push(costs);
        }
    }
    Ok(rounds)
}
