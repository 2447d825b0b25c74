//! `svc dev`.

mod changes;
mod placeholder;
mod server;

use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use svc_embedded::Database;
use tokio::signal::unix::{SignalKind, signal};

use crate::database::{self, Target};
use crate::db;
use crate::failure::{Failure, Result};
use crate::program::{Build, Built, Choice};
use crate::project::Project;
use crate::terminal;
use changes::{Changes, Watch};
use server::Server;

const EXAMPLES: &str = "\
Examples:
  svc dev
  svc dev --port 3000
  svc dev --app shop:server --no-reload";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The address to serve; by default SVC_HOST, or 127.0.0.1.
    #[arg(long)]
    host: Option<String>,
    /// The port to serve; by default SVC_PORT, or 8000.
    #[arg(long)]
    port: Option<u16>,
    /// Builds and starts again when a file changes; this is the default.
    #[arg(long, overrides_with = "no_reload")]
    reload: bool,
    /// Does not.
    #[arg(long)]
    no_reload: bool,
    #[command(flatten)]
    choice: Choice,
}

pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let project = Project::open()?;
    let listener = bind(&arguments, &project)?;
    database::block_on(async {
        let mut session = Session {
            watch: (!arguments.no_reload).then(|| Watch::begin(project.root())),
            choice: arguments.choice,
            listener,
            project,
            database: None,
            server: None,
            program: None,
        };
        let watch = |kind| signal(kind).map_err(Failure::io("wait for signals"));
        let (mut interrupt, mut terminate) = (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?);
        let result = tokio::select! {
            result = session.serve() => result,
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        };
        session.end().await;
        result
    })
}

/// The socket, which stays while one program takes the place of another.
fn bind(arguments: &Arguments, project: &Project) -> Result<TcpListener> {
    let host = arguments.host.clone().or_else(|| project.setting("SVC_HOST")).unwrap_or_else(|| "127.0.0.1".to_owned());
    let port = match (arguments.port, project.setting("SVC_PORT")) {
        (Some(port), _) => port,
        (None, Some(port)) => port.parse().map_err(|_| Failure::new(format!("SVC_PORT is not a port: {port}")))?,
        (None, None) => 8000,
    };
    let addresses: Vec<SocketAddr> =
        (host.as_str(), port).to_socket_addrs().map_err(Failure::io(format!("find the address of {host}")))?.collect();
    TcpListener::bind(addresses.as_slice()).map_err(|error| {
        let failure = Failure::new(format!("cannot listen on {host}:{port}: {error}"));
        failure.hint(format!("choose another port: svc dev --port {}", port.saturating_add(1)))
    })
}

/// A project that is served.
struct Session {
    project: Project,
    choice: Choice,
    listener: TcpListener,
    watch: Option<Watch>,
    /// The project's own database, where this command has started it.
    database: Option<Database>,
    server: Option<Server>,
    program: Option<Built>,
}

/// The steps that are to be done again.
#[derive(Debug, Clone, Copy)]
struct Work {
    database: bool,
    build: bool,
}

impl Session {
    /// Serves until something goes wrong that no change of a file mends.
    async fn serve(&mut self) -> Result<()> {
        let mut work = Work { database: true, build: true };
        let mut first = true;
        loop {
            let trouble = match self.bring_up(work).await {
                Ok(()) => None,
                Err(failure) if self.watch.is_none() => return Err(failure),
                Err(failure) => {
                    let _ = failure.report();
                    Some(failure.message().to_owned())
                }
            };
            if trouble.is_none() && first {
                self.welcome();
                first = false;
            }
            work = self.wait(trouble.unwrap_or_else(|| "the program has ended".to_owned())).await?;
        }
    }

    async fn bring_up(&mut self, work: Work) -> Result<()> {
        if work.database {
            self.database().await?;
        }
        if work.build {
            self.program = Some(self.build().await?);
        }
        if work.build || self.server.is_none() {
            self.replace().await?;
        }
        Ok(())
    }

    /// Starts the database if none answers, and brings it up to date.
    async fn database(&mut self) -> Result<()> {
        let Ok(url) = self.project.database_url() else {
            terminal::warning("no database is set, so queries find none; set SVC_DATABASE_URL in .env");
            return Ok(());
        };
        let target = Target::parse(&url)?;
        if self.database.is_none() {
            self.database = db::ensure(&self.project, &target).await?;
        }
        let mut client = match database::open(&target).await {
            Ok(client) => client,
            Err(failure) => {
                terminal::warning(format_args!("{}; the service runs without it", failure.message()));
                return Ok(());
            }
        };
        if !target.is_local() {
            terminal::warning("the database is not on this machine, so nothing is changed in it; svc migrate up does");
            return Ok(());
        }
        db::bring_up(&self.project, &mut client).await
    }

    async fn build(&self) -> Result<Built> {
        let build = Build::start(&self.project, &self.choice)?;
        let mut cancel = Cancel(build.pid());
        let built = tokio::task::spawn_blocking(|| build.finish()).await;
        cancel.0 = None;
        built.map_err(|error| Failure::new(format!("the build has failed: {error}")))?
    }

    /// Starts the new program, and ends the old one once the new one serves.
    async fn replace(&mut self) -> Result<()> {
        let Some(program) = &self.program else { return Ok(()) };
        let new = Server::start(&self.project, program, &self.listener).await?;
        if let Some(old) = self.server.replace(new) {
            old.stop().await;
            terminal::done("the new program serves");
        }
        Ok(())
    }

    fn welcome(&self) {
        let Ok(address) = self.listener.local_addr() else { return };
        terminal::say(format_args!(
            "\n  GraphQL   http://{address}/graphql\n  GraphiQL  http://{address}/graphql in a browser\n  Ctrl-C ends it.\n"
        ));
    }

    /// Waits for the next change. Without a program, clients are told what is wrong.
    async fn wait(&mut self, trouble: String) -> Result<Work> {
        loop {
            let ended = match &mut self.server {
                Some(server) => tokio::select! {
                    status = server.ended() => Some(status),
                    changes = next(&mut self.watch) => return self.work(&changes),
                },
                None => tokio::select! {
                    never = placeholder::serve(&self.listener, &trouble) => match never? {},
                    changes = next(&mut self.watch) => return self.work(&changes),
                },
            };
            if let Some(status) = ended {
                self.server = None;
                let failure = Failure::new(format!("the program has ended: {status}"));
                if self.watch.is_none() {
                    return Err(failure);
                }
                let _ = failure.hint("it starts again when a file changes").report();
            }
        }
    }

    fn work(&mut self, changes: &Changes) -> Result<Work> {
        if changes.settings {
            self.project = Project::at(self.project.root().to_owned())?;
        }
        terminal::say(format_args!("{} has changed", changes.first.display()));
        Ok(Work { database: changes.sql || changes.settings, build: changes.rust || changes.settings })
    }

    async fn end(self) {
        if let Some(server) = self.server {
            server.stop().await;
        }
        if let Some(database) = self.database {
            database.stop().await;
        }
    }
}

async fn next(watch: &mut Option<Watch>) -> Changes {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

/// Ends a build that nobody waits for any more.
struct Cancel(Option<rustix::process::Pid>);

impl Drop for Cancel {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

/// The longest time that a program may take to end.
const GRACE: Duration = Duration::from_secs(12);
