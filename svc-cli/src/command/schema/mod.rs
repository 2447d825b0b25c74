//! `svc schema`: compares schemas.

mod change;
mod diff;
mod introspection;
mod operations;
mod report;
mod source;
mod usage;

use std::path::PathBuf;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use clap::{Subcommand, ValueEnum};

use crate::failure::{Failure, Result};
use change::Severity;
use operations::Affected;

const EXAMPLES: &str = "\
Examples:
  svc schema diff main schema.graphql
  svc schema diff v1.2.0:schema.graphql https://api.example.org/graphql
  svc schema diff old.graphql new.graphql --operations operations --json";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// List the breaking, dangerous and safe changes between two schemas.
    Diff(Diff),
}

/// The changes that make the command fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Breaking changes; with --operations, only if they break a registered operation.
    Breaking,
    /// Dangerous changes too.
    Dangerous,
    /// No changes.
    Never,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diff {
    /// The schema that clients use: a file, a URL, a git REVISION:PATH or REVISION, or `-` for
    /// standard input.
    old: String,
    /// The schema that replaces it.
    new: String,
    /// Registered operations: a folder of .graphql files, or a JSON manifest of persisted
    /// operations.
    #[arg(long, value_name = "PATH")]
    operations: Option<PathBuf>,
    /// The changes that make the command fail.
    #[arg(long, value_enum, default_value_t = FailOn::Breaking)]
    fail_on: FailOn,
    /// A header for requests to URLs, such as 'Authorization: Bearer …'; can be repeated.
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: Command) -> Result<()> {
    let Command::Diff(arguments) = command;
    diff(&arguments)
}

fn diff(arguments: &Diff) -> Result<()> {
    let old = read(&arguments.old, &arguments.new, &arguments.headers)?;
    let new = read(&arguments.new, &arguments.old, &arguments.headers)?;
    let changes = diff::changes(&old, &new);
    let operations = arguments
        .operations
        .as_deref()
        .map(operations::read)
        .transpose()?;

    let affected =
        operations.map(|operations| operations::affected(&operations, &old, &new, &changes));
    report::print(&changes, affected.as_deref(), arguments.json)?;

    // With registered operations, changes of elements that none of them uses do not count.
    let worst = match &affected {
        Some(affected) => affected.iter().filter_map(Affected::severity).min(),
        None => changes.iter().map(|change| change.severity).min(),
    };

    let fails = match arguments.fail_on {
        FailOn::Breaking => worst == Some(Severity::Breaking),
        FailOn::Dangerous => worst.is_some_and(|worst| worst <= Severity::Dangerous),
        FailOn::Never => false,
    };

    if !fails {
        return Ok(());
    }

    let what = if affected.is_some() {
        "registered operations"
    } else {
        "clients"
    };

    Err(Failure::new(format!("the new schema can break {what}"))
        .hint("deprecate the old parts and add new ones beside them, or accept the changes: --fail-on never"))
}

/// A valid schema.
fn read(place: &str, other: &str, headers: &[String]) -> Result<Valid<Schema>> {
    let text = source::read(place, other, headers)?;
    Schema::parse_and_validate(text, place).map_err(|invalid| {
        let first = invalid
            .errors
            .iter()
            .next()
            .map(|error| error.to_string())
            .unwrap_or_default();

        Failure::new(format!(
            "the schema of {place} is not valid:\n{}",
            first.trim_end()
        ))
        .hint("write a schema file: svc generate schema")
    })
}
