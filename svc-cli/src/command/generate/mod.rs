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
    /// Generate the schema in the schema definition language.
    Schema(Schema),
    /// Generate a migration with a table of documents and its view.
    Migration(Migration),
    /// Generate mutations that create, update and delete the rows of a type.
    Crud(Crud),
    /// Generate types, relations and queries for existing tables and views.
    Types(Types),
    /// Generate a migration with the tables and functions of native accounts.
    #[command(after_help = "Examples:\n  svc generate accounts --role shop_service")]
    Accounts(Bundled),
    /// Generate a migration with the table and functions of API keys.
    #[command(after_help = "Examples:\n  svc generate api-keys")]
    ApiKeys,
    /// Generate a migration with the trigger function that notifies subscribers of changed rows,
    /// and its triggers.
    Notify(Notify),
    /// Generate a migration with the tables and functions of the error tracker.
    #[command(after_help = "Examples:\n  svc generate error-tracker --role shop_service")]
    ErrorTracker(Bundled),
    /// Generate a migration with the view of statement statistics.
    #[command(after_help = "Examples:\n  svc generate query-stats")]
    QueryStats,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bundled {
    /// The role of the service, if it does not own the tables. It must exist when the migration
    /// runs.
    #[arg(long)]
    role: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate notify --table tb_post --table tb_comment")]
pub(crate) struct Notify {
    /// A table whose changes notify subscribers, optionally with its schema; can be repeated.
    #[arg(long)]
    table: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate schema\n  svc generate schema --output -")]
pub(crate) struct Schema {
    /// The output file; `-` means standard output.
    #[arg(short, long, value_name = "FILE", default_value = "schema.graphql")]
    output: String,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate migration product")]
pub(crate) struct Migration {
    /// The entity's name in the singular, such as product.
    entity_name: String,
    /// The table; by default, tb_product for product.
    #[arg(long)]
    table: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  svc generate crud User\n  svc generate crud User --table tb_user --role editor"
)]
pub(crate) struct Crud {
    /// The type, such as User.
    type_name: String,
    /// The table of the rows, optionally with its schema; by default, the one named after the view:
    /// tb_user for v_user.
    #[arg(long)]
    table: Option<String>,
    /// A role that may call the mutations; can be repeated. By default, any logged-in user may call
    /// them.
    #[arg(long, value_name = "ROLE", conflicts_with = "open")]
    role: Vec<String>,
    /// Generate mutations without guards, which anyone may call.
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
    /// A view or table, optionally with its schema, such as v_post or app.v_post; can be repeated.
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    from_view: Vec<String>,
    /// Generate types for all views, and for all tables without a view `v_…` or `tv_…`.
    #[arg(long)]
    all: bool,
    /// The database schema that --all covers.
    #[arg(long, value_name = "SCHEMA", default_value = "public")]
    schema: String,
    /// The output file; `-` means standard output.
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
