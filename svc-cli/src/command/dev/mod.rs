//! `svc dev`.

mod changes;
mod database;
mod keys;
mod placeholder;
mod process_record;
mod server;
mod socket;

use std::net::TcpListener;
use std::time::Duration;

use rustix::process::{Signal, kill_process_group};
use tokio::signal::unix::{SignalKind, signal};

use crate::command::migrate::Scope;
use crate::failure::{Failure, Result};
use crate::program::{Build, Built, Choice, Group};
use crate::project::Project;
use crate::terminal;
use changes::{Changes, Watch};
use database::Database;
use keys::Keys;
use process_record::ProcessRecord;
use server::Server;

const EXAMPLES: &str = "\
Examples:
  svc dev
  svc dev --port 3000
  svc dev --app shop:server --no-reload";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The address to bind; by default, SVC_HOST or 127.0.0.1.
    #[arg(long)]
    host: Option<String>,
    /// The port to bind; by default, SVC_PORT or 8000.
    #[arg(long)]
    port: Option<u16>,
    /// Rebuild and restart when a file changes (the default).
    #[arg(long, overrides_with = "no_reload")]
    reload: bool,
    /// Do not rebuild and restart when a file changes.
    #[arg(long)]
    no_reload: bool,
    #[command(flatten)]
    choice: Choice,
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let project = Project::open()?;

    // Before the build, so that a port in use is reported at once.
    let listener = socket::bind(arguments.host.as_deref(), arguments.port, &project)?;
    let record = ProcessRecord::begin(&project)?;

    crate::database::block_on(async {
        let mut session = Session {
            watch: (!arguments.no_reload).then(|| watch(&project)),
            choice: arguments.choice,
            listener,
            project,
            record,
            database: Database::default(),
            keys: Keys::listen(),
            server: None,
            program: None,
        };

        let expect = |kind| signal(kind).map_err(Failure::io("wait for signals"));
        let (mut interrupt, mut terminate) = (
            expect(SignalKind::interrupt())?,
            expect(SignalKind::terminate())?,
        );
        let result = tokio::select! {
            result = session.serve() => result,
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        };

        session.end().await;
        if result.is_ok() {
            terminal::done("ended");
        }

        result
    })
}

/// The files that the program is built from, and the ones that it reads.
fn watch(project: &Project) -> Watch {
    let operations = project
        .setting("SVC_OPERATIONS_DIR")
        .unwrap_or_else(|| "operations".to_owned());
    Watch::begin(project.root(), operations.as_ref())
}

/// A project being served.
struct Session {
    project: Project,
    choice: Choice,
    listener: TcpListener,
    watch: Option<Watch>,
    record: ProcessRecord,
    database: Database,
    keys: Keys,
    server: Option<Server>,
    program: Option<Built>,
}

/// The steps to repeat.
#[derive(Debug, Clone, Copy)]
struct Work {
    /// The files of `db` to run.
    database: Option<Scope>,
    build: bool,
    /// Whether to restart the program without a build.
    restart: bool,
}

/// Runs pending migrations, on request.
const MIGRATE: Work = Work {
    database: Some(Scope::All),
    build: false,
    restart: false,
};

impl Session {
    /// Serves until a failure that no change to a file can fix.
    async fn serve(&mut self) -> Result<()> {
        let mut work = Work {
            database: Some(Scope::All),
            build: true,
            restart: false,
        };

        let mut first = true;
        loop {
            let trouble = match self.bring_up(work).await {
                Ok(()) => None,
                Err(failure) if self.watch.is_none() || failure.is_final() => return Err(failure),
                Err(failure) => {
                    let _ = failure.report();
                    Some(failure.in_full())
                }
            };

            if trouble.is_none() && first {
                self.welcome();
                first = false;
            }

            work = self
                .wait(trouble.unwrap_or_else(|| "the program has exited".to_owned()))
                .await?;
        }
    }

    /// Brings the database and the program up to date, in parallel.
    async fn bring_up(&mut self, work: Work) -> Result<()> {
        if let Some(scope) = work.database {
            self.database.begin(&self.project, scope);
        }

        if work.build {
            self.program = Some(self.build().await?);
            self.watch.iter_mut().for_each(Watch::accept_lock_file);
        }

        self.database.settle().await?;
        if work.build || work.restart || self.server.is_none() {
            self.replace().await?;
        }

        Ok(())
    }

    async fn build(&self) -> Result<Built> {
        let build = Build::start(&self.project, &self.choice, Group::Own)?;
        build
            .pid()
            .into_iter()
            .for_each(|group| self.record.add(group));

        // A blocking task continues when its future is dropped, for example by Ctrl-C; it ends with
        // its process.
        let mut cancel = Cancel(build.pid());
        let built = tokio::task::spawn_blocking(|| build.finish()).await;
        // The process is gone, and its ID may soon belong to another one.
        cancel.0 = None;

        built.map_err(|error| Failure::new(format!("the build failed: {error}")))?
    }

    /// Starts the new program, and stops the old one once the new one serves.
    async fn replace(&mut self) -> Result<()> {
        let Some(program) = &self.program else {
            return Ok(());
        };

        // Both programs accept connections from the same socket, so no request fails during the
        // change.
        let new = Server::start(&self.project, program, &self.listener, &self.record).await?;
        if let Some(old) = self.server.replace(new) {
            old.stop().await;
            terminal::done("the new program is serving");
        }

        Ok(())
    }

    fn welcome(&self) {
        let Ok(address) = self.listener.local_addr() else {
            return;
        };
        terminal::say(format_args!(
            "\n  GraphQL   http://{address}/graphql\n  GraphiQL  http://{address}/graphql in a browser\n  Ctrl-C stops it.\n"
        ));
    }

    /// Waits for the next change. Without a program, clients get a response with the problem.
    async fn wait(&mut self, trouble: String) -> Result<Work> {
        loop {
            let ended = match &mut self.server {
                Some(server) => tokio::select! {
                    status = server.ended() => Some(status),
                    () = self.database.ready() => None,
                    () = self.keys.migrate() => return Ok(MIGRATE),
                    changes = next(&mut self.watch) => return self.work(&changes),
                },
                None => tokio::select! {
                    never = placeholder::serve(&self.listener, &trouble) => match never? {},
                    () = self.database.ready() => None,
                    () = self.keys.migrate() => return Ok(MIGRATE),
                    changes = next(&mut self.watch) => return self.work(&changes),
                },
            };

            if let Some(status) = ended {
                self.server = None;
                let failure = Failure::new(format!("the program has exited: {status}"));
                if self.watch.is_none() {
                    return Err(failure);
                }
                let _ = failure.hint("it restarts when a file changes").report();
            }
        }
    }

    fn work(&mut self, changes: &Changes) -> Result<Work> {
        if changes.settings {
            self.project = Project::at(self.project.root().to_owned())?;
        }

        terminal::say(format_args!("{} has changed", changes.first.display()));

        // New settings may name another database, so all its files run; otherwise, a migration
        // still being written waits for a request.
        let scope = if changes.settings {
            Scope::All
        } else {
            Scope::Repeatable
        };

        let database = (changes.sql || changes.settings).then_some(scope);

        Ok(Work {
            database,
            build: changes.rust || changes.settings,
            restart: changes.operations,
        })
    }

    async fn end(self) {
        if let Some(server) = self.server {
            server.stop().await;
        }
        self.database.end().await;
    }
}

async fn next(watch: &mut Option<Watch>) -> Changes {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

/// Stops a build whose result is no longer needed.
struct Cancel(Option<rustix::process::Pid>);

impl Drop for Cancel {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // It may have exited already.
            let _ = kill_process_group(pid, Signal::TERM);
        }
    }
}

/// The maximum time for a program to stop.
const GRACE: Duration = Duration::from_secs(12);
