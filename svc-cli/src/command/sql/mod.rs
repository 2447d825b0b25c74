//! `svc sql`.

mod explain;
mod pattern;
mod setup;
mod validate;
mod view;

use std::fs;
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use postgres_protocol::escape::{escape_identifier, escape_literal};

use crate::failure::{Failure, Result};
use crate::program::Choice;
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  svc sql generate-view User
  svc sql generate-pattern filtering v_user --where role=admin
  svc sql generate-setup User --with-table --with-indexes --output db/schema/001_users.sql
  svc sql validate db/schema/001_users.sql
  svc sql explain db/schema/001_users.sql";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Generate the view of a type.
    GenerateView(GenerateView),
    /// Generate the view of a type, and optionally its table, indexes and some rows.
    GenerateSetup(GenerateSetup),
    /// Generate a query with a common pattern.
    GeneratePattern(GeneratePattern),
    /// Run a file in a transaction, inspect the views that it creates, and roll back.
    Validate(Validate),
    /// Explain the statements of a file, with common mistakes and hints; needs no database.
    Explain(Explain),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  svc sql generate-view User\n  svc sql generate-view User --exclude email --output db/schema/001_users.sql"
)]
pub(crate) struct GenerateView {
    /// The type, such as User.
    type_name: String,
    /// The module of the type, if several types have this name, such as app::types.
    #[arg(short, long)]
    module: Option<String>,
    /// The table of the rows; by default, the one named after the type's view: tb_user for v_user.
    #[arg(short, long)]
    table: Option<String>,
    /// The view; by default, the type's view, or with --table the one named after the table: v_user
    /// for tb_user.
    #[arg(short, long)]
    view: Option<String>,
    /// A field to omit; can be repeated.
    #[arg(short, long)]
    exclude: Vec<String>,
    /// Write comments (the default).
    #[arg(long, overrides_with = "no_comments")]
    with_comments: bool,
    /// Do not write comments.
    #[arg(long)]
    no_comments: bool,
    /// The output file; by default, standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  svc sql generate-setup User\n  svc sql generate-setup User --with-table --with-indexes --with-data"
)]
pub(crate) struct GenerateSetup {
    /// The type, such as User.
    type_name: String,
    /// The module of the type, if several types have this name, such as app::types.
    #[arg(short, long)]
    module: Option<String>,
    /// Generate the table too.
    #[arg(long)]
    with_table: bool,
    /// Generate indexes for the keys of relations and for ordering by time.
    #[arg(long)]
    with_indexes: bool,
    /// Generate some rows for development.
    #[arg(long)]
    with_data: bool,
    /// The output file; by default, standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
}

/// A usual form of query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pattern {
    /// A page of rows.
    Pagination,
    /// Rows with given values.
    Filtering,
    /// Rows in a given order.
    Sorting,
    /// Rows with their child rows.
    Relationship,
    /// Row counts for each value of a column.
    Aggregation,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  svc sql generate-pattern pagination v_user --limit 20 --offset 40\n  svc sql generate-pattern filtering v_user --where role=admin"
)]
pub(crate) struct GeneratePattern {
    #[arg(value_enum)]
    pattern_type: Pattern,
    /// The table or view, optionally with its schema, such as v_user or app.v_user.
    table_name: String,
    /// The maximum number of rows.
    #[arg(long, default_value_t = 20)]
    limit: u64,
    /// The number of rows to skip.
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// A condition such as role=admin, for the filtering pattern; can be repeated.
    #[arg(short = 'w', long = "where", value_name = "FIELD=VALUE")]
    conditions: Vec<String>,
    /// A field and a direction (asc or desc), for the sorting pattern; can be repeated.
    #[arg(short, long, value_name = "FIELD:DIRECTION")]
    order: Vec<String>,
    /// The child table, for the relationship pattern.
    #[arg(long, value_name = "TABLE")]
    child_table: Option<String>,
    /// The column of the child table that references the parent, for the relationship pattern.
    #[arg(long, value_name = "COLUMN")]
    foreign_key: Option<String>,
    /// The column to group by, for the aggregation pattern.
    #[arg(long, value_name = "COLUMN")]
    group_by: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc sql validate db/schema/001_users.sql")]
pub(crate) struct Validate {
    /// The file with the views.
    sql_file: PathBuf,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc sql explain db/schema/001_users.sql")]
pub(crate) struct Explain {
    /// The file with the statements.
    sql_file: PathBuf,
}

pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::GenerateView(arguments) => view::run(&arguments),
        Command::GenerateSetup(arguments) => setup::run(&arguments),
        Command::GeneratePattern(arguments) => {
            terminal::print(&pattern::write(&arguments).map_err(Failure::into_usage)?)
        }
        Command::Validate(arguments) => validate::run(&arguments.sql_file),
        Command::Explain(arguments) => explain::run(&arguments.sql_file),
    }
}

/// Writes SQL to a file, or to standard output.
fn put(sql: &str, output: Option<&PathBuf>) -> Result<()> {
    let Some(file) = output else {
        return terminal::print(sql);
    };
    fs::write(file, sql).map_err(Failure::io(format!("write {}", file.display())))?;
    terminal::done(format_args!("wrote {}", file.display()));
    Ok(())
}

/// A name as a quoted SQL identifier, since it may be a keyword.
fn identifier(name: &str) -> Result<String> {
    if name.is_empty() || name.len() > 63 || name.contains('\0') {
        let failure = Failure::new(format!(
            "`{}` is not a valid name in PostgreSQL",
            name.escape_default()
        ));
        return Err(failure.hint("a name has 1 to 63 bytes"));
    }
    Ok(escape_identifier(name))
}

/// `schema.name` in SQL.
fn path(name: &str) -> Result<String> {
    let parts: Result<Vec<_>> = name.splitn(2, '.').map(identifier).collect();
    Ok(parts?.join("."))
}

/// A text as an SQL literal, regardless of the session's handling of backslashes.
fn literal(text: &str) -> Result<String> {
    if text.contains('\0') {
        return Err(Failure::new("PostgreSQL text cannot contain a zero byte"));
    }
    // `E'…'` has a leading space.
    Ok(escape_literal(text).trim_start().to_owned())
}
