//! The command-line tool of svc.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

mod arguments;
mod command;
mod database;
mod failure;
mod process;
mod program;
mod project;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match arguments::Arguments::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
