//! The errors between "start a database" and a database that answers.

use std::{io, path::PathBuf, process::ExitStatus, time::Duration};

use crate::Version;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A reason why there is no database. Each message says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This machine has no PostgreSQL, and none could be fetched.
    #[error(
        "no PostgreSQL server found{}; install one (for example `apt-get install postgresql`), \
         set SVC_PG_BIN to the folder that holds `postgres` and `initdb`, \
         or set SVC_DATABASE_URL to a server that runs already",
        download.as_ref().map(|why| format!(", and the download failed ({why})")).unwrap_or_default()
    )]
    NoServer {
        /// The error of the download, where one was tried.
        download: Option<String>,
    },

    /// The folder that was named explicitly holds no usable PostgreSQL.
    #[error(
        "{origin} is `{}`, but {problem}; \
         set it to the folder that holds `postgres` and `initdb`, or unset it to search the usual places",
        path.display()
    )]
    WrongBinaries {
        /// The setting that named the folder.
        origin: &'static str,
        /// The folder.
        path: PathBuf,
        /// The fault of the folder.
        problem: String,
    },

    /// The cluster was made by another major version of PostgreSQL.
    #[error(
        "`{}` was made by PostgreSQL {cluster}, but the server in `{}` is {server}; \
         delete the folder to start afresh, or set SVC_PG_BIN to the folder with the programs of PostgreSQL {cluster}",
        data.display(), binaries.display()
    )]
    VersionMismatch {
        /// The data directory.
        data: PathBuf,
        /// The major version that made it, as in its `PG_VERSION` file.
        cluster: String,
        /// The folder of the server that was to run it.
        binaries: PathBuf,
        /// That server's version.
        server: Version,
    },

    /// The data directory holds something else.
    #[error("`{}` isn't empty and isn't a PostgreSQL cluster; delete it or name another data root", data.display())]
    NotACluster {
        /// The data directory.
        data: PathBuf,
    },

    /// PostgreSQL refuses to run as root, and no other identity works here.
    #[error(
        "PostgreSQL refuses to run as root, and neither a user namespace nor another user works here ({tried}); \
         run the program as an ordinary user, or set SVC_PG_BIN to programs that every user can read and run"
    )]
    RootRefused {
        /// The attempts, and how each failed.
        tried: String,
    },

    /// `initdb` couldn't make a cluster.
    #[error("initdb couldn't make a cluster ({status}):\n{output}")]
    Initdb {
        /// The exit status.
        status: ExitStatus,
        /// The output of `initdb`.
        output: String,
    },

    /// The server ended before it accepted a connection.
    #[error("postgres ended while it started ({status}); the end of `{}`:\n{tail}", log.display())]
    Exited {
        /// The exit status.
        status: ExitStatus,
        /// The server's log.
        log: PathBuf,
        /// The last lines of the log.
        tail: String,
    },

    /// The server runs but accepts no connections.
    #[error("postgres accepted no connection within {limit:?}; the end of `{}`:\n{tail}", log.display())]
    NotReady {
        /// The time that it was given.
        limit: Duration,
        /// The server's log.
        log: PathBuf,
        /// The last lines of the log.
        tail: String,
    },

    /// Another program's server holds the cluster and doesn't answer.
    #[error(
        "process {pid} runs the cluster in `{}` but accepts no connection; stop it (`kill -INT {pid}`) and try again",
        data.display()
    )]
    Unresponsive {
        /// The process that holds the cluster.
        pid: i32,
        /// The data directory.
        data: PathBuf,
    },

    /// Another program has been starting this cluster for too long.
    #[error("another program has held `{}` for {waited:?}; stop that program and try again", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The time for which it was waited for.
        waited: Duration,
    },

    /// The running server that would be shared doesn't listen where this program wants it.
    #[error(
        "another program already runs the cluster in `{}` without the TCP port asked for; \
         stop that program, or ask for the same port there",
        data.display()
    )]
    TcpUnavailable {
        /// The data directory.
        data: PathBuf,
    },

    /// No free loopback port was found.
    #[error("no free loopback port between 20000 and 32767; name one with `Options::port`")]
    NoFreePort,

    /// A folder in the shared temporary directory belongs to somebody else.
    #[error("`{}` exists and isn't a private folder of user {uid}; delete it", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// The user it should belong to.
        uid: u32,
    },

    /// The limit on open files is too low for a server.
    #[error(
        "PostgreSQL needs at least {needed} open files, and the limit is {limit}; \
         raise it (`ulimit -n 1024`) and start again"
    )]
    FewFiles {
        /// The limit of this process, which the server inherits.
        limit: u64,
        /// The least with which a server starts.
        needed: u64,
    },

    /// Root would take a cluster from the user who has made it.
    #[error(
        "`{}` belongs to user {uid}, and a start as root would take it away; \
         run the program as that user, or name another data root",
        path.display()
    )]
    AnotherUsers {
        /// The data directory.
        path: PathBuf,
        /// The user it belongs to.
        uid: u32,
    },

    /// The server refused a statement.
    #[error("postgres refused `{statement}`: {message} ({code})")]
    Statement {
        /// The statement.
        statement: String,
        /// The SQLSTATE.
        code: String,
        /// The server's message.
        message: String,
    },

    /// The operating system refused something.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// The action that was refused.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: `cannot <action> <path>`.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
