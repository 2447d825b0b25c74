//! `svc db`: the project's database.

mod daemon;
mod local;
mod owner;
mod psql;
mod reset;
mod server;
mod status;

use std::time::Duration;

use clap::Subcommand;
use tokio_postgres::Client;

use crate::command::migrate::{self, Kind, Scope};
use crate::database::{self, Target};
use crate::failure::Result;
use crate::project::Project;
use crate::terminal;

pub(crate) use local::is_reachable;
pub(crate) use server::ensure;

const EXAMPLES: &str = "\
Examples:
  svc db start
  svc db psql -c 'SELECT * FROM v_user'
  svc db reset --confirm shop";

/// The maximum time for a statement to wait for a lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Start the project's database if it is not running, and bring it up to date.
    #[command(after_help = "Examples:\n  svc db start")]
    Start,
    /// Stop the database that `svc db start` has started.
    #[command(after_help = "Examples:\n  svc db stop")]
    Stop,
    /// Show the database's URL, and whether the database responds.
    Status(Status),
    /// Open psql on the database; further arguments are passed to psql.
    Psql(Psql),
    /// Run the files of db/seeds.
    #[command(after_help = "Examples:\n  svc db seed")]
    Seed,
    /// Drop the database and create it again, with its schema and seeds.
    Reset(Reset),
    /// Run the server until a signal stops it.
    #[command(hide = true)]
    Serve,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc db status\n  svc db status --json")]
pub(crate) struct Status {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc db psql\n  svc db psql -c 'SELECT * FROM v_user'")]
pub(crate) struct Psql {
    /// Arguments for psql.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  svc db reset\n  svc db reset --confirm shop")]
pub(crate) struct Reset {
    /// The database's name, to confirm without a prompt.
    #[arg(long, value_name = "DATABASE")]
    confirm: Option<String>,
}

pub(crate) fn run(command: Command) -> Result<()> {
    let project = Project::open()?;
    match command {
        Command::Start => start(&project),
        Command::Stop => daemon::stop(&project),
        Command::Status(arguments) => status::run(&project, arguments.json),
        Command::Psql(arguments) => psql::run(&project, &arguments.arguments),
        Command::Seed => database::block_on(async {
            seed(
                &project,
                &database::connect(&project.database_url()?).await?,
            )
            .await
        }),
        Command::Reset(arguments) => reset::run(&project, arguments.confirm.as_deref()),
        Command::Serve => daemon::serve(&project),
    }
}

fn start(project: &Project) -> Result<()> {
    let target = Target::parse(&project.database_url()?)?;
    let shown = database::shown(target.config());
    database::block_on(owner::refuse_others(project, &target))?;

    if database::block_on(is_reachable(&target))? {
        terminal::say(format_args!("{shown} responds"));
    } else if !database::block_on(local::create_missing(&target))? {
        local::refuse_others(project, &target)?;
        daemon::start(project, &target)?;
        terminal::done(format_args!("started {shown}"));
    }

    database::block_on(async {
        bring_up(project, &database::open(&target).await?, Scope::All).await
    })
}

/// Brings a database up to date, and runs the seeds if it was empty.
pub(crate) async fn bring_up(project: &Project, client: &Client, scope: Scope) -> Result<()> {
    // Before `up`, which fills the record. Seeds of a database in use would bring back rows that
    // its users have deleted.
    let is_new = migrate::is_empty(client).await?;
    let outcome = migrate::up(project, client, LOCK_TIMEOUT, scope).await?;
    for path in &outcome.waiting {
        terminal::warning(format_args!(
            "{path} is pending; type `m` and Enter to run it, or: svc migrate up"
        ));
    }

    let has_rows_to_come = is_new && outcome.applied() > 0;
    outcome.tell()?;
    if has_rows_to_come && migrate::run_all(project, client, Kind::Seed).await? > 0 {
        terminal::say("ran the seeds");
    }

    Ok(())
}

async fn seed(project: &Project, client: &Client) -> Result<()> {
    match migrate::run_all(project, client, Kind::Seed).await? {
        0 => terminal::say("db/seeds has no files"),
        1 => terminal::say("ran 1 file"),
        count => terminal::say(format_args!("ran {count} files")),
    }
    Ok(())
}
