//! The commands of contributors and CI: `cargo xtask setup | test | ci | tidy | bench`.

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a command-line tool"
)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]

mod bench;
mod ci;
mod command_line;
mod deny;
mod features;
mod passed;
// The tests need it too, and xtask does not build them.
#[path = "../../tests/src/pgbouncer.rs"]
mod pgbouncer;
mod reference;
mod run;
mod setup;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "What contributors and CI run")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Installs what the tests need: PostgreSQL, Redis, Chromium, the npm packages of tests/js.
    Setup,
    /// Runs `setup` and all tests; `test long` runs the tests that have fewer cases in every run,
    /// with all of them, and writes their times to tests/long.md.
    Test {
        /// Runs the black-box tests of reads and writes, or those whose names are given, behind
        /// PgBouncer in transaction mode.
        #[arg(long)]
        pooled: bool,
        /// `long`, or arguments for `cargo test`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Runs all checks, the cheap ones first: format, tidy, clippy, licenses, tests, each feature,
    /// docs.
    Ci {
        /// Runs all black-box tests on the newest PostgreSQL too, not only those that depend on the
        /// server; runs the long suite; checks each feature alone and the licenses, also where
        /// nothing has changed since they passed.
        #[arg(long)]
        whole: bool,
    },
    /// Runs the cheap checks: format, tidy, and `cargo check` of the default features.
    Quick,
    /// Checks each feature alone, and records that they pass.
    Features,
    /// Checks licences, sources and banned crates with `cargo deny`, which is installed for it, and
    /// records that they pass.
    Deny,
    /// Checks the repository's own rules: circles among modules, lengths, English, commits,
    /// vendored assets.
    Tidy(tidy::Options),
    /// Builds the reference, and compares the public API of svc with `svc/public-api.txt`.
    Reference {
        /// Writes the list.
        #[arg(long)]
        bless: bool,
    },
    /// Measures: `side-by-side` (the default) or another claim of benches/README.md.
    Bench {
        /// The claim to measure.
        #[arg(default_value = "side-by-side")]
        what: bench::What,
        /// Passed on to the program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// Prints an error as the last line, without a backtrace: readers of a log look for it there.
fn main() -> ExitCode {
    match run_task(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_task(task: Task) -> Result<()> {
    std::env::set_current_dir(run::root())?;

    match task {
        Task::Setup => setup::setup(),
        Task::Test {
            pooled: true,
            arguments,
        } => test::test_behind_pooler(&arguments).map(drop),
        Task::Test { arguments, .. } if arguments == ["long"] => test::test_long(),
        Task::Test { arguments, .. } => test::test(&arguments).map(drop),
        Task::Ci { whole } => ci::ci(whole),
        Task::Quick => ci::quick(),
        Task::Features => features::each_feature(),
        Task::Deny => deny::deny(),
        Task::Tidy(options) => tidy::tidy(options),
        Task::Reference { bless } => reference::reference(bless),
        Task::Bench { what, arguments } => bench::bench(what, &arguments),
    }
}
