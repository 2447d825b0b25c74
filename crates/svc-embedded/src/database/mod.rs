//! A running database, which stops when the value is dropped.

mod quote;
mod role;
mod start;

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use self::quote::quoted;
use crate::{
    Error, Options, Result,
    blocking::blocking,
    cluster::{
        Temporary,
        layout::{self, Layout},
        pidfile,
    },
    server::{
        Server,
        wire::{Failure, Session},
    },
};

/// Characters to escape in a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The same for a query string, which may contain slashes.
const ENCODED_PATH: &AsciiSet = &ENCODED.remove(b'/');

/// SQLSTATEs for an object that exists: `duplicate_database`, `duplicate_object`, and
/// `unique_violation` if two programs create it at the same moment.
const EXISTS: [&str; 3] = ["42P04", "42710", "23505"];

/// A running PostgreSQL cluster.
///
/// ```no_run
/// # async fn run() -> Result<(), svc_embedded::Error> {
/// use svc_embedded::{Database, Options};
///
/// let database = Database::start(Options::temporary()).await?;
/// database.ensure_database("shop").await?;
/// let url = database.url_for("shop");
/// # let _ = url;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Database {
    place: Place,
    layout: Layout,
    // Declared before the folder: fields are dropped in this order.
    server: Option<Server>,
    _temporary: Option<Temporary>,
    role: Option<String>,
}

/// The addresses that the server listens on, and its process.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) sockets: PathBuf,
    pub(crate) port: u16,
    pub(crate) tcp: bool,
    pub(crate) pid: i32,
}

impl Database {
    /// Starts the cluster and waits until it accepts connections. Creates the cluster first if it
    /// does not exist.
    ///
    /// If another program already runs the same data root, both share its server. A shared server
    /// keeps the settings of the program that started it, and stops with that program.
    ///
    /// # Errors
    ///
    /// The message of the [`Error`] describes the remedy, most often to install PostgreSQL.
    pub async fn start(options: Options) -> Result<Self> {
        start::start(options).await
    }

    pub(crate) fn owned(
        place: Place,
        layout: Layout,
        server: Server,
        temporary: Option<Temporary>,
    ) -> Self {
        Self {
            place,
            layout,
            server: Some(server),
            _temporary: temporary,
            role: None,
        }
    }

    pub(crate) fn shared(place: Place, layout: Layout) -> Self {
        Self {
            place,
            layout,
            server: None,
            _temporary: None,
            role: None,
        }
    }

    pub(crate) async fn with_role(mut self, role: Option<String>) -> Result<Self> {
        if let Some(role) = &role {
            role::create(&self, role).await?;
        }
        self.role = role;
        Ok(self)
    }

    /// Returns the URL of the database `postgres` for the role of [`Options::role`], through the
    /// unix socket.
    pub fn role_url(&self) -> Option<String> {
        let role = utf8_percent_encode(self.role.as_deref()?, ENCODED);

        // The first `postgres@` is the user, because the URL begins with it.
        Some(self.url().replacen("postgres@", &format!("{role}@"), 1))
    }

    /// Returns SQL that grants the role of [`Options::role`] the use of all schemas, the rows of
    /// tables and views, sequences and functions, including the ones that the same superuser
    /// creates later. Run it as a superuser; you can run it again.
    pub fn role_grants(&self) -> Option<String> {
        Some(role::grants(self.role.as_deref()?))
    }

    /// Returns the URL of the database `postgres` for the superuser `postgres`, through the unix
    /// socket.
    pub fn url(&self) -> String {
        self.url_for("postgres")
    }

    /// Returns the URL of a database of the cluster for the superuser, through the unix socket.
    pub fn url_for(&self, database: &str) -> String {
        let database = utf8_percent_encode(database, ENCODED);
        let sockets = self.place.sockets.to_string_lossy();
        let sockets = utf8_percent_encode(&sockets, ENCODED_PATH);
        let port = self.place.port;
        format!(
            "postgres://postgres@localhost/{database}?host={sockets}&port={port}&sslmode=disable"
        )
    }

    /// Returns the URL of a database through loopback, for clients without support for unix
    /// sockets; `None` without [`Options::tcp`] or [`Options::port`].
    pub fn tcp_url_for(&self, database: &str) -> Option<String> {
        let port = self.tcp_port()?;
        let database = utf8_percent_encode(database, ENCODED);
        Some(format!(
            "postgres://postgres@127.0.0.1:{port}/{database}?sslmode=disable"
        ))
    }

    /// Returns the loopback port, if the server listens on one.
    pub fn tcp_port(&self) -> Option<u16> {
        self.place.tcp.then_some(self.place.port)
    }

    /// Returns the folder of the server's socket. Other PostgreSQL clients accept it as `host`.
    pub fn socket_folder(&self) -> &Path {
        &self.place.sockets
    }

    /// Returns the data directory.
    pub fn data(&self) -> &Path {
        &self.layout.data
    }

    /// Returns the path of the server's log.
    pub fn log(&self) -> &Path {
        &self.layout.log
    }

    /// Returns `true` if the data directory of the running server still exists. PostgreSQL notices
    /// a deleted directory within a minute; until then it serves data from memory.
    pub fn is_intact(&self) -> bool {
        pidfile::path(&self.layout.data).exists()
    }

    /// Returns the process id of the postmaster.
    pub fn pid(&self) -> i32 {
        self.place.pid
    }

    /// Returns `true` if another program started the server.
    pub fn is_shared(&self) -> bool {
        self.server.is_none()
    }

    /// Creates a database unless it exists.
    ///
    /// # Errors
    ///
    /// [`Error::Statement`] if the server rejects the statement.
    pub async fn ensure_database(&self, name: &str) -> Result<()> {
        self.make(format!("CREATE DATABASE {}", quoted(name))).await
    }

    /// Creates a database as a copy of another, which must have no connections.
    ///
    /// # Errors
    ///
    /// [`Error::Statement`] if the server rejects the statement, for example because the name
    /// exists.
    pub async fn create_from_template(&self, name: &str, template: &str) -> Result<()> {
        self.execute(format!(
            "CREATE DATABASE {} TEMPLATE {}",
            quoted(name),
            quoted(template)
        ))
        .await
    }

    /// Drops a database if it exists, and closes the connections to it. Requires PostgreSQL 13.
    ///
    /// # Errors
    ///
    /// [`Error::Statement`] if the server rejects the statement.
    pub async fn drop_database(&self, name: &str) -> Result<()> {
        self.execute(format!(
            "DROP DATABASE IF EXISTS {} WITH (FORCE)",
            quoted(name)
        ))
        .await
    }

    /// Stops the server and waits for its exit. A shared server keeps running.
    pub async fn stop(self) {
        // The drop blocks until the server has exited.
        blocking(move || drop(self)).await;
    }

    /// Runs a `CREATE` statement, and succeeds if the object already exists.
    pub(crate) async fn make(&self, statement: String) -> Result<()> {
        // PostgreSQL has no `IF NOT EXISTS` for databases and roles.
        match self.execute(statement).await {
            Err(Error::Statement { code, .. }) if EXISTS.contains(&code.as_str()) => Ok(()),
            result => result,
        }
    }

    async fn execute(&self, statement: String) -> Result<()> {
        let socket = layout::socket(&self.place.sockets, self.place.port);
        let run = async {
            let mut session = Session::open(&socket).await?;
            session.execute(&statement).await?;
            session.close().await;
            Ok(())
        };

        run.await.map_err(|failure| match failure {
            Failure::Io(error) => Error::io("talk to the server at", &socket)(error),
            Failure::Server { code, message } => Error::Statement {
                statement,
                code,
                message,
            },
        })
    }
}
