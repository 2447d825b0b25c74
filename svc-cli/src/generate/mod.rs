//! `svc generate`.

mod crud;
mod migration;
mod schema;
mod types;

use clap::Subcommand;
use minijinja::{Environment, UndefinedBehavior, Value};

use crate::failure::{Failure, Result};
use crate::program::Choice;
use crate::project::Project;

const EXAMPLES: &str = "\
Examples:
  svc generate schema --output schema.graphql
  svc generate migration product
  svc generate crud User
  svc generate types --all
  svc generate types --from-view v_post --output -";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Writes the schema in the schema definition language.
    Schema(Schema),
    /// Writes a migration with a table of documents and its view.
    Migration(Migration),
    /// Writes mutations that create, update and delete the rows of a type, and their functions of the database.
    Crud(Crud),
    /// Writes types, relations and queries for tables and views that the database has.
    Types(Types),
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
    /// The table; by default the entity's name with an `s`.
    #[arg(long)]
    table: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate crud User\n  svc generate crud User --table tb_user")]
pub(crate) struct Crud {
    /// The type: User.
    type_name: String,
    /// The table with its rows; by default that of its view's name: tb_user for v_user.
    #[arg(long)]
    table: Option<String>,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc generate types --all\n  svc generate types --from-view v_post --output -")]
pub(crate) struct Types {
    /// A view or a table, also with its schema: v_post, app.v_post; it can be given several times.
    #[arg(long, value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
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
    }
}

fn render(template: &str, values: Value) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_keep_trailing_newline(true);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(template, values).map_err(|error| Failure::new(format!("a template is wrong: {error}")))
}

/// Whether a name can stand in SQL and Rust as it is.
fn is_plain(name: &str) -> bool {
    let mut characters = name.bytes();
    characters.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_')
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
