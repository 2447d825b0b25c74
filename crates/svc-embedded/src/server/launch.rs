//! Starting the server and waiting until it accepts connections.

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use super::{
    Server,
    log::Log,
    port::free_port,
    wire::{self, Answer},
};
use crate::{
    Binaries, Error, Result,
    blocking::blocking,
    cluster::{
        self,
        layout::{self, Layout},
    },
    identity::{Death, Identity},
    options::{Options, Tcp},
    spawn,
};

/// Maximum time of a start, including recovery after a crash.
const LIMIT: Duration = Duration::from_secs(60);

/// Maximum duration of the transient causes in [`PASSING`].
const PASSING_LIMIT: Duration = Duration::from_secs(10);

/// Transient causes of a failed start: backends of a killed server that have not exited yet, and a
/// port that another program took after we had found it free.
const PASSING: [&str; 2] = [
    "pre-existing shared memory block",
    "could not create any TCP/IP sockets",
];

/// Settings that trade durability for speed. Committed data survives the crash of a process,
/// because the operating system has it, but not a crash of the machine. The caller's settings come
/// after these.
const FORGETFUL_AND_FAST: [(&str, &str); 2] = [("fsync", "off"), ("full_page_writes", "off")];

/// The inputs of a start.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) options: Options,
    pub(crate) binaries: Binaries,
    pub(crate) identity: Identity,
    pub(crate) layout: Layout,
}

/// Starts the server and returns it with its port, ready for connections.
pub(crate) async fn launch(plan: Plan) -> Result<(Server, u16)> {
    let begun = Instant::now();
    let socket_folder = plan.layout.sockets.clone();
    let mut plan = plan;

    loop {
        // An attempt blocks: it opens files, and waits for the thread that spawns the server.
        let (back, attempt) = blocking(move || {
            let attempt = plan.attempt();
            (plan, attempt)
        })
        .await;

        plan = back;
        let (server, port, log) = attempt?;
        let socket = layout::socket(&socket_folder, port);

        match ready(&server, &socket, &log, &plan.layout.log).await {
            Ok(()) => return Ok((server, port)),
            Err(error) if begun.elapsed() < PASSING_LIMIT && plan.passes(&error) => {
                tracing::debug!(%error, "trying once more");
                sleep(Duration::from_millis(50)).await;
            }
            Err(error) => return Err(error),
        }
    }
}

impl Plan {
    fn attempt(&self) -> Result<(Server, u16, Log)> {
        let port = match self.options.tcp {
            // Without TCP the port is only a part of the socket's name, so clusters do not compete
            // for it.
            Tcp::Off => 5432,
            Tcp::FreePort => free_port().ok_or(Error::NoFreePort)?,
            Tcp::Port(port) => port,
        };

        let (log, output) = Log::open(&self.layout.log)?;
        let program = self.binaries.program("postgres");
        let server = self
            .command(port, output)
            .and_then(|command| Server::launch(command, self.options.root.is_none()))
            .map_err(Error::io("run", program))?;

        Ok((server, port, log))
    }

    fn command(&self, port: u16, output: File) -> std::io::Result<Command> {
        let throw_away = self.options.root.is_none();
        let mut command = spawn::command(self.binaries.program("postgres"));
        command.arg("-D").arg(&self.layout.data);
        for (name, value) in self.settings(port) {
            command.arg("-c").arg(format!("{name}={value}"));
        }

        command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        cluster::neutral(&mut command);
        let death = if throw_away {
            Death::ImmediateShutdown
        } else {
            Death::FastShutdown
        };

        self.identity.adopt(&mut command, death);

        Ok(command)
    }

    fn settings(&self, port: u16) -> Vec<(String, String)> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let addresses = if self.options.tcp == Tcp::Off {
            ""
        } else {
            "127.0.0.1"
        };

        // The layout has checked that this path is UTF-8. The quotes protect commas in it.
        let sockets = self.layout.sockets.to_string_lossy().replace('"', "\"\"");
        let listen = [
            ("listen_addresses", addresses),
            ("port", &port.to_string()),
            ("unix_socket_directories", &format!("\"{sockets}\"")),
            ("unix_socket_permissions", "0700"),
        ]
        .map(owned);

        // Of several `-c` options with one name, PostgreSQL takes the last: the caller can override
        // the first group, but not the addresses.
        let mut settings: Vec<_> = FORGETFUL_AND_FAST.into_iter().map(owned).collect();
        settings.extend(self.options.settings.iter().cloned());
        settings.extend(listen);

        settings
    }

    fn passes(&self, error: &Error) -> bool {
        let Error::Exited { tail, .. } = error else {
            return false;
        };

        // The server runs with `LC_ALL=C`, so these texts are English.
        let [memory, address] = PASSING;

        // A further attempt chooses another free port, but a port that the caller has named stays
        // taken.
        tail.contains(memory) || (self.options.tcp == Tcp::FreePort && tail.contains(address))
    }
}

/// Polls until the server accepts a connection or has exited.
async fn ready(server: &Server, socket: &Path, log: &Log, path: &Path) -> Result<()> {
    let begun = Instant::now();
    while wire::ask(socket).await != Answer::Ready {
        if let Some(status) = server.exit() {
            return Err(Error::Exited {
                status,
                log: path.to_path_buf(),
                tail: log.tail(),
            });
        }

        if begun.elapsed() > LIMIT {
            return Err(Error::NotReady {
                limit: LIMIT,
                log: path.to_path_buf(),
                tail: log.tail(),
            });
        }

        sleep(Duration::from_millis(2)).await;
    }

    Ok(())
}
