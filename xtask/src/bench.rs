//! Measurements; each program prints the tables of docs/benchmarks.md.

use std::process::Command;

use anyhow::Result;

use crate::run::{cargo, run};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    /// CPU time per request beside the reference programs.
    SideBySide,
    /// What a user's crate costs to compile, beside async-graphql's derives.
    Compile,
    /// How fast hostile documents are refused.
    Hostile,
}

/// Builds and runs a measurement.
pub(crate) fn bench(what: What, arguments: &[String]) -> Result<()> {
    match what {
        What::SideBySide => run(Command::new("benches/side_by_side/run.sh").args(arguments)),
        What::Compile => run(program("compile_cost").args(arguments)),
        What::Hostile => run(program("hostile").args(arguments)),
    }
}

fn program(name: &str) -> Command {
    let mut command = cargo();
    command.args(["run", "--release", "--manifest-path", &format!("benches/{name}/Cargo.toml"), "--"]);
    command
}
