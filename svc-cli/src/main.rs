//! The command-line tool of svc.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

mod arguments;
mod check;
mod completions;
mod database;
mod db;
mod dev;
mod doctor;
mod failure;
mod generate;
mod init;
mod manual;
mod migrate;
mod program;
mod project;
mod schema;
mod sql;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match arguments::Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
