//! Measurements; each program prints its tables of benches/results.md.

use std::process::Command;

use anyhow::Result;

use crate::command_line;
use crate::run::{cargo, run};

/// A claim that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    /// CPU time per request beside the reference programs.
    SideBySide,
    /// The cost of compiling a user's crate, beside async-graphql's derives.
    Compile,
    /// The answers that clients get while PostgreSQL or the network fails.
    Faults,
    /// The time until hostile documents are refused.
    Hostile,
    /// Whether cost grows in a straight line with rows and fields.
    Growth,
    /// Whether memory stays flat over a million requests.
    Soak,
    /// The 99th percentile beside a reference program, the start, and memory.
    Latency,
    /// CPU time per request with pools of other sizes.
    Pools,
    /// CPU time per mutation with and without resetting the session behind it.
    Resets,
    /// Instructions of a request, against the record.
    Instructions,
    /// CPU time or instructions of a request, of two revisions.
    Compare,
    /// The cost that authentication adds to a request.
    Auth,
    /// The memory of open sockets, and the time until all of them have an event.
    Sockets,
    /// The cost that protection adds to a request.
    Protection,
    /// The cost that rate limits add to a request.
    RateLimits,
    /// The cost that authorization adds to a request.
    Authz,
    /// The cost that metrics, traces and logs add to a request.
    Observability,
    /// The cost of an answer that is kept.
    ResponseCache,
    /// The answers to more requests than the machine can take.
    Overload,
    /// The answers to ordinary clients beside slow ones.
    SlowClients,
    /// The size of the command-line tool, and the time that its help takes.
    CommandLine,
}

/// Builds and runs a measurement.
pub(crate) fn bench(what: What, arguments: &[String]) -> Result<()> {
    match what {
        What::SideBySide => run(Command::new(SIDE_BY_SIDE).args(arguments)),
        What::Latency => run(Command::new(SIDE_BY_SIDE).arg("--latency").args(arguments)),
        What::Pools => run(Command::new(SIDE_BY_SIDE).args(POOLS).args(arguments)),
        What::Resets => run(Command::new(SIDE_BY_SIDE).args(RESETS).args(arguments)),
        What::Compile => run(cargo().args(program("compile_cost")).args(arguments)),
        What::Faults => run(cargo().args(program("faults")).args(arguments)),
        What::Hostile => run(with_postgres("").args(program("hostile")).args(arguments)),
        What::Growth => run(with_postgres("").args(program("growth")).args(arguments)),
        What::Soak => run(with_postgres("svc-target")
            .args(program("soak"))
            .args(arguments)),
        What::Auth => run(with_postgres("svc-target")
            .args(program("auth"))
            .args(arguments)),
        What::Sockets => run(cargo().args(program("sockets")).args(arguments)),
        What::Protection => run(with_postgres("svc-target")
            .args(program("auth"))
            .arg("protection")
            .args(arguments)),
        What::RateLimits => run(with_postgres("svc-target")
            .args(program("auth"))
            .arg("rate-limits")
            .args(arguments)),
        What::Authz => run(with_postgres("svc-target")
            .args(program("auth"))
            .arg("authz")
            .args(arguments)),
        What::ResponseCache => run(with_postgres("svc-target")
            .args(program("auth"))
            .arg("response-cache")
            .args(arguments)),
        What::Observability => run(with_postgres("svc-target")
            .args(program("auth"))
            .arg("observability")
            .args(arguments)),
        What::Overload => run(with_postgres("").args(program("overload")).args(arguments)),
        What::SlowClients => run(with_postgres("")
            .args(program("slow_clients"))
            .args(arguments)),
        What::CommandLine => command_line::measure(),
        What::Instructions => run(with_postgres("svc-target")
            .args(program("instructions"))
            .args(arguments)),
        What::Compare => run(with_postgres("").args(program("compare")).args(arguments)),
    }
}

const SIDE_BY_SIDE: &str = "benches/side_by_side/run.sh";

/// Files are looked for where the script is.
const POOLS: [&str; 10] = [
    "--section",
    "pools",
    "--extra-targets",
    "pools.toml",
    "--targets",
    "ceiling-rows,ceiling-rows-8,svc-columns,svc-columns-16,svc-tv,svc-tv-16",
    "--workloads",
    "Q1,Q3",
    "--concurrency",
    "16",
];

const RESETS: [&str; 10] = [
    "--section",
    "resets",
    "--extra-targets",
    "resets.toml",
    "--targets",
    "svc-columns,svc-columns-reset",
    "--workloads",
    "Q7",
    "--concurrency",
    "16",
];

/// The arguments with which cargo runs a program of `benches/`.
fn program(name: &str) -> [String; 5] {
    let manifest = format!("benches/{name}/Cargo.toml");
    ["run", "--release", "--manifest-path", &manifest, "--"].map(str::to_owned)
}

/// Cargo beside the bench database, with some of the servers built.
fn with_postgres(servers: &str) -> Command {
    let mut command = Command::new("benches/side_by_side/with_postgres.sh");
    command.arg(servers).arg(cargo().get_program());
    command
}
