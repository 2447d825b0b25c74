//! A database that runs, for as long as the value lives.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    Error, Options, Result,
    layout::{self, Layout},
    quote::quoted,
    role,
    server::Server,
    start::{self, blocking},
    temporary::Temporary,
    wire::{Failure, Session},
};

/// The characters that are escaped in a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Slashes are allowed in a query.
const ENCODED_PATH: &AsciiSet = &ENCODED.remove(b'/');

/// SQLSTATE `duplicate_database` and `duplicate_object`, and `unique_violation` for two programs at the same moment.
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
    // Before the folder, since fields are dropped in this order.
    server: Option<Server>,
    _temporary: Option<Temporary>,
    role: Option<String>,
}

/// The sockets and the port on which the server listens.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) sockets: PathBuf,
    pub(crate) port: u16,
    pub(crate) tcp: bool,
    pub(crate) pid: i32,
}

impl Database {
    /// Starts the cluster, which is made first if need be, and waits until it accepts connections.
    ///
    /// When another program runs the same data root, its server is shared: it keeps that
    /// program's settings and ends with it.
    ///
    /// # Errors
    ///
    /// [`Error`] says what to do: most often a server has to be installed.
    pub async fn start(options: Options) -> Result<Self> {
        start::start(options).await
    }

    pub(crate) fn owned(place: Place, layout: Layout, server: Server, temporary: Option<Temporary>) -> Self {
        Self { place, layout, server: Some(server), _temporary: temporary, role: None }
    }

    pub(crate) fn shared(place: Place, layout: Layout) -> Self {
        Self { place, layout, server: None, _temporary: None, role: None }
    }

    pub(crate) async fn with_role(mut self, role: Option<String>) -> Result<Self> {
        if let Some(role) = &role {
            role::create(&self, role).await?;
        }
        self.role = role;
        Ok(self)
    }

    /// Returns the URL of the database `postgres` as the role of [`Options::role`], through the unix socket.
    pub fn role_url(&self) -> Option<String> {
        let role = utf8_percent_encode(self.role.as_deref()?, ENCODED);
        Some(self.url().replacen("postgres@", &format!("{role}@"), 1))
    }

    /// Returns SQL for a superuser of the database that lets the role of [`Options::role`] use what there is, and what
    /// the same superuser makes later: schemas, the rows of tables and views, sequences and functions. It may be run
    /// again.
    pub fn role_grants(&self) -> Option<String> {
        Some(role::grants(self.role.as_deref()?))
    }

    /// Returns the URL of the database `postgres`, as the superuser `postgres`, through the unix socket.
    pub fn url(&self) -> String {
        self.url_for("postgres")
    }

    /// Returns the URL of any database of the cluster, through the unix socket.
    pub fn url_for(&self, database: &str) -> String {
        let database = utf8_percent_encode(database, ENCODED);
        let sockets = self.place.sockets.to_string_lossy();
        let sockets = utf8_percent_encode(&sockets, ENCODED_PATH);
        let port = self.place.port;
        format!("postgres://postgres@localhost/{database}?host={sockets}&port={port}&sslmode=disable")
    }

    /// Returns the URL of a database through loopback, for programs that know no unix sockets. `None` without
    /// [`Options::tcp`] or [`Options::port`].
    pub fn tcp_url_for(&self, database: &str) -> Option<String> {
        let port = self.tcp_port()?;
        let database = utf8_percent_encode(database, ENCODED);
        Some(format!("postgres://postgres@127.0.0.1:{port}/{database}?sslmode=disable"))
    }

    /// Returns the loopback port, if the server listens on one.
    pub fn tcp_port(&self) -> Option<u16> {
        self.place.tcp.then_some(self.place.port)
    }

    /// Returns the folder of the server's socket, the `host` of other PostgreSQL clients.
    pub fn socket_folder(&self) -> &Path {
        &self.place.sockets
    }

    /// Returns the data directory.
    pub fn data(&self) -> &Path {
        &self.layout.data
    }

    /// Returns the server's log.
    pub fn log(&self) -> &Path {
        &self.layout.log
    }

    /// Whether the data directory is still that of the running server. One that was deleted is noticed by PostgreSQL
    /// within a minute; until then it answers what it remembers.
    pub fn is_intact(&self) -> bool {
        crate::pidfile::path(&self.layout.data).exists()
    }

    /// Returns the process number of the postmaster.
    pub fn pid(&self) -> i32 {
        self.place.pid
    }

    /// Whether the server belongs to another program, which started it before.
    pub fn is_shared(&self) -> bool {
        self.server.is_none()
    }

    /// Creates a database unless it exists.
    ///
    /// # Errors
    ///
    /// [`Error::Statement`] when the server refuses.
    pub async fn ensure_database(&self, name: &str) -> Result<()> {
        self.make(format!("CREATE DATABASE {}", quoted(name))).await
    }

    /// Creates a database as a copy of another, to which nobody may be connected.
    ///
    /// # Errors
    ///
    /// [`Error::Statement`] when the server refuses, for example since the name is taken.
    pub async fn create_from_template(&self, name: &str, template: &str) -> Result<()> {
        self.execute(format!("CREATE DATABASE {} TEMPLATE {}", quoted(name), quoted(template))).await
    }

    /// Drops a database, if it exists, and cuts the connections to it. Needs PostgreSQL 13.
    ///
    /// # Errors
    ///
    /// [`Error::Statement`] when the server refuses.
    pub async fn drop_database(&self, name: &str) -> Result<()> {
        self.execute(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quoted(name))).await
    }

    /// Stops the server and waits for its end. A shared server is left running.
    pub async fn stop(self) {
        blocking(move || drop(self)).await;
    }

    /// Runs a statement that makes something, which may exist.
    pub(crate) async fn make(&self, statement: String) -> Result<()> {
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
            Failure::Server { code, message } => Error::Statement { statement, code, message },
        })
    }
}
