//! `svc migrate`: the files of `db/`, and which of them a database has.

mod apply;
mod baseline;
mod check;
mod files;
mod hazards;
mod history;
mod lost;
mod new;
mod plan;
mod repair;
mod run;
mod shadow;
mod sqlx;
mod status;

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::database;
use crate::failure::{Failure, Result};
use crate::project::Project;

pub(crate) use apply::{Scope, run_all, up};
pub(crate) use files::{Kind, read as read_files};
pub(crate) use history::is_empty;
pub(crate) use new::create;

const EXAMPLES: &str = "\
Examples:
  svc migrate new add_stock
  svc migrate check --strict
  svc migrate up
  svc migrate up --project /app        in an image that contains only db/
  svc migrate baseline --from-sqlx --confirm shop";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder that contains `db`, or `db` itself; by default, the current folder. It needs no
    /// Cargo.toml.
    #[arg(long, global = true, value_name = "FOLDER")]
    project: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bring the database up to date: run new migrations, then new and changed files of db/schema.
    Up(Up),
    /// Show the state of each file: applied, pending, changed, interrupted or missing.
    Status(Status),
    /// Create a migration file.
    New(New),
    /// Check the files: find mistakes, dangerous locks and dropped views, run the pending files and
    /// roll back, and compare the database with an empty one on which all files ran.
    Check(Check),
    /// Record all files as applied without running them, for a database that already has their
    /// objects.
    Baseline(Baseline),
    /// Update the records of changed, missing and interrupted files, without running the files.
    #[command(after_help = "Examples:\n  svc migrate repair")]
    Repair,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc migrate up\n  svc migrate up --lock-timeout 60")]
struct Up {
    /// The maximum time to wait for a lock, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    lock_timeout: u32,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc migrate status\n  svc migrate status --json")]
struct Status {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc migrate new add_stock")]
struct New {
    /// A short name for the change, such as add_stock.
    name: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc migrate check\n  svc migrate check --strict")]
struct Check {
    /// Fail if there are warnings.
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  svc migrate baseline --confirm shop\n  svc migrate baseline --from-sqlx --confirm shop"
)]
struct Baseline {
    /// The database's name, to confirm without a prompt.
    #[arg(long, value_name = "DATABASE")]
    confirm: Option<String>,
    /// Record only the migrations that sqlx has run, according to its table _sqlx_migrations.
    #[arg(long)]
    from_sqlx: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let project = Project::of_database(arguments.project.as_deref())?;
    match arguments.command {
        Command::Up(arguments) => {
            let timeout = Duration::from_secs(arguments.lock_timeout.into());
            database::block_on(async {
                up(&project, &connect(&project).await?, timeout, Scope::All)
                    .await?
                    .tell()
            })
        }
        Command::Status(arguments) => database::block_on(async {
            status::run(&project, &connect(&project).await?, arguments.json).await
        }),
        Command::New(arguments) => new::run(&project, &arguments.name),
        Command::Check(arguments) => check::run(&project, arguments.strict),
        Command::Baseline(arguments) => {
            baseline::run(&project, arguments.confirm.as_deref(), arguments.from_sqlx)
        }
        Command::Repair => database::block_on(repair::run(&project)),
    }
}

async fn connect(project: &Project) -> Result<Client> {
    database::connect(&project.database_url()?).await
}

/// An error of the database that no file is to blame for.
fn failed(error: &tokio_postgres::Error) -> Failure {
    let failure = Failure::new(format!(
        "the database reported an error: {}",
        database::reason(error)
    ));
    if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return failure.hint(
            "give the user in SVC_DATABASE_URL the privilege, or run the command as the owner of the database",
        );
    }
    failure
}
