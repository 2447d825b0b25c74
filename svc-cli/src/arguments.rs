//! The commands and their options.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::command::{
    check, completions, db, dev, doctor, generate, init, manual, migrate, schema, sql,
};
use crate::failure::Result;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  svc init shop               create a project in the folder `shop`
  svc dev                     build and serve it, and restart it when a file changes
  svc check                   check the schema, and its types against the database
  svc migrate new add_stock   create a file for the next change of the database
  svc doctor                  find what would fail in production

Exit codes: 0 success, 1 failure, 2 wrong usage.";

/// Create, run and check GraphQL services over PostgreSQL views.
#[derive(Debug, Parser)]
#[command(name = "svc", version, arg_required_else_help = true, styles = STYLES, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a project.
    Init(init::Arguments),
    /// Build and serve the project, and restart it when a file changes.
    Dev(dev::Arguments),
    /// Check the project's folders, its schema, and its types against the database.
    Check(check::Arguments),
    /// Generate files: the schema, migrations, mutations, types.
    #[command(subcommand)]
    Generate(generate::Command),
    /// Compare schemas.
    #[command(subcommand)]
    Schema(schema::Command),
    /// Generate, validate and explain SQL.
    #[command(subcommand)]
    Sql(sql::Command),
    /// Bring the database up to date with the files in `db/`.
    Migrate(migrate::Arguments),
    /// Run the project's development database.
    #[command(subcommand)]
    Db(db::Command),
    /// Check whether tools, settings and database are ready for production.
    Doctor(doctor::Arguments),
    /// Generate a completion script for a shell.
    Completions(completions::Arguments),
    /// Generate the manual pages.
    Man(manual::Arguments),
}

impl Arguments {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<()> {
        match self.command {
            Command::Init(arguments) => init::run(&arguments),
            Command::Dev(arguments) => dev::run(arguments),
            Command::Check(arguments) => check::run(&arguments),
            Command::Generate(command) => generate::run(command),
            Command::Schema(command) => schema::run(command),
            Command::Sql(command) => sql::run(command),
            Command::Migrate(arguments) => migrate::run(arguments),
            Command::Db(command) => db::run(command),
            Command::Doctor(arguments) => doctor::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, Self::command()),
            Command::Man(arguments) => manual::run(&arguments, Self::command()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_consistent() {
        Arguments::command().debug_assert();
    }
}
