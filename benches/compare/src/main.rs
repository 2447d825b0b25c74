//! Compares the cost of a request of two revisions of svc, or of one and the work tree: builds
//! svc-target of both, loads them in turns beside the same database, and compares their CPU time,
//! with PostgreSQL's, within each round; or counts the instructions of both. Prints a table; ends
//! with 1 when the answers differ, or a cost grows by more than the bound.

mod arguments;
mod change;
mod counts;
mod loads;
mod places;
mod revision;
mod row;
mod table;
mod workload;
mod worktree;

use std::process::ExitCode;

use anyhow::Result;
use arguments::Arguments;
use clap::Parser as _;
use places::Places;
use revision::{Revision, build};
use testbed::Database;

fn main() -> ExitCode {
    match compare(&Arguments::parse()) {
        Ok(failures) if failures.is_empty() => ExitCode::SUCCESS,
        Ok(failures) => {
            eprint!(
                "{}",
                table::list("different, or above the bound", &failures)
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a table; returns the reasons to fail.
fn compare(arguments: &Arguments) -> Result<Vec<String>> {
    let (database, places) = (Database::from_env()?, Places::from_env()?);
    let revisions = [
        Revision::named(&places, &arguments.first)?,
        match &arguments.second {
            Some(name) => Revision::named(&places, name)?,
            None => Revision::work_tree(),
        },
    ];
    let programs = build(&revisions, &places, arguments.keep)?;

    if arguments.instructions {
        counts::compare(arguments, &places, &database, &programs)
    } else {
        loads::compare(arguments, &places, &database, &programs)
    }
}
