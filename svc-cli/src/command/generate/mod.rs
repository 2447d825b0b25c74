//! `svc generate`.

mod bundled;
mod crud;
mod migration;
mod schema;
mod types;

use std::io::Write as _;
use std::process::{Command as Process, Stdio};

use clap::Subcommand;
use minijinja::{Environment, UndefinedBehavior, Value};

use crate::failure::{Failure, Result};
use crate::program::Choice;
use crate::project::Project;
use bundled::Part;

const EXAMPLES: &str = "\
Examples:
  svc generate schema --output schema.graphql
  svc generate migration product
  svc generate crud User
  svc generate types --all
  svc generate types --from-view v_post --output -
  svc generate accounts
  svc generate notify --table tb_post";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Writes the schema in the schema definition language.
    Schema(Schema),
    /// Writes a migration with a table of documents and its view.
    Migration(Migration),
    /// Writes mutations that create, update and delete the rows of a type.
    Crud(Crud),
    /// Writes types, relations and queries for tables and views that the database has.
    Types(Types),
    /// Writes a migration with the tables and functions of native accounts.
    #[command(after_help = "Examples:\n  svc generate accounts --role shop_service")]
    Accounts(Bundled),
    /// Writes a migration with the table and the functions of API keys.
    #[command(after_help = "Examples:\n  svc generate api-keys")]
    ApiKeys,
    /// Writes a migration with the trigger function that tells subscribers of changed rows, and its
    /// triggers.
    Notify(Notify),
    /// Writes a migration with the tables and functions of the error tracker.
    #[command(after_help = "Examples:\n  svc generate error-tracker --role shop_service")]
    ErrorTracker(Bundled),
    /// Writes a migration with the view of statistics of statements.
    #[command(after_help = "Examples:\n  svc generate query-stats")]
    QueryStats,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bundled {
    /// The role as which the service connects, where that is not the owner of the tables. It has to
    /// exist when the migration runs.
    #[arg(long)]
    role: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate notify --table tb_post --table tb_comment")]
pub(crate) struct Notify {
    /// A table whose changes are told, also with its schema; it can be given several times.
    #[arg(long)]
    table: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate schema\n  svc generate schema --output -")]
pub(crate) struct Schema {
    /// The file; `-` for standard output.
    #[arg(short, long, value_name = "FILE", default_value = "schema.graphql")]
    output: String,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate migration product")]
pub(crate) struct Migration {
    /// The thing that a row is, in the singular: product.
    entity_name: String,
    /// The table; by default tb_product for product.
    #[arg(long)]
    table: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  svc generate crud User\n  svc generate crud User --table tb_user --role editor"
)]
pub(crate) struct Crud {
    /// The type: User.
    type_name: String,
    /// The table with its rows, also with its schema; by default that of the view's name: tb_user
    /// for v_user.
    #[arg(long)]
    table: Option<String>,
    /// A role that a user needs to call the mutations; with several, one of them is enough. By
    /// default every user may.
    #[arg(long, value_name = "ROLE", conflicts_with = "open")]
    role: Vec<String>,
    /// Writes mutations without a guard, which everyone may call.
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  svc generate types --all\n  svc generate types --from-view v_post --output -"
)]
pub(crate) struct Types {
    /// A view or a table, also with its schema: v_post, app.v_post; it can be given several times.
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    from_view: Vec<String>,
    /// All views, and all tables without a view `v_…` or `tv_…` of their own.
    #[arg(long)]
    all: bool,
    /// The schema of the database whose tables and views --all takes.
    #[arg(long, value_name = "SCHEMA", default_value = "public")]
    schema: String,
    /// The file; `-` for standard output.
    #[arg(short, long, value_name = "FILE", default_value = "src/tables.rs")]
    output: String,
}

pub(crate) fn run(command: Command) -> Result<()> {
    let project = Project::open()?;
    match command {
        Command::Schema(arguments) => schema::run(&project, &arguments),
        Command::Migration(arguments) => migration::run(&project, &arguments),
        Command::Crud(arguments) => crud::run(&project, &arguments),
        Command::Types(arguments) => types::run(&project, &arguments),
        Command::Accounts(Bundled { role }) => {
            bundled::part(&project, Part::Accounts, role.as_deref())
        }
        Command::ApiKeys => bundled::part(&project, Part::ApiKeys, None),
        Command::Notify(arguments) => bundled::notify(&project, &arguments.table),
        Command::ErrorTracker(Bundled { role }) => {
            bundled::part(&project, Part::ErrorTracker, role.as_deref())
        }
        Command::QueryStats => bundled::part(&project, Part::QueryStats, None),
    }
}

fn render(template: &str, values: Value) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_keep_trailing_newline(true);

    // By default, a misspelled variable would render as an empty text.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("rust_string", |text: &str| format!("{text:?}"));
    environment
        .render_str(template, values)
        .map_err(|error| Failure::new(format!("a template is wrong: {error}")))
}

/// The text formatted by rustfmt, or unchanged if rustfmt is not available.
fn formatted(text: &str) -> String {
    let format = || {
        let mut rustfmt = Process::new("rustfmt");
        rustfmt
            .args(["--edition", "2024"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());

        let mut child = rustfmt.spawn().ok()?;
        let mut input = child.stdin.take()?;
        let owned = text.to_owned();

        // In a thread: rustfmt may fill the pipe of its output before it has read all of the input,
        // and both sides would wait forever.
        let writer = std::thread::spawn(move || input.write_all(owned.as_bytes()));
        let output = child.wait_with_output().ok()?;

        writer.join().ok()?.ok()?;

        String::from_utf8(output.stdout)
            .ok()
            .filter(|text| output.status.success() && !text.is_empty())
    };

    format().unwrap_or_else(|| text.to_owned())
}

/// Whether a name can be written into SQL and Rust without quotes.
fn is_plain(name: &str) -> bool {
    let mut characters = name.bytes();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
        && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn names_need_no_quotes() {
        assert!(is_plain("tb_user2"));
        for name in ["", "2a", "a b", "a\"b", "a;b", "Ä", "a.b"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
