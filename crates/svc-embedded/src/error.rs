//! The errors of starting and using a database.

use std::{io, path::PathBuf, process::ExitStatus, time::Duration};

use crate::Version;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a database is not available. Each message contains the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This machine has no PostgreSQL, and none could be downloaded.
    #[error(
        "no PostgreSQL server found{}; install one (for example `apt-get install postgresql`), \
         set SVC_PG_BIN to the folder that holds `postgres` and `initdb`, \
         or set SVC_DATABASE_URL to a server that runs already",
        download.as_ref().map(|why| format!(", and the download failed ({why})")).unwrap_or_default()
    )]
    NoServer {
        /// The error of the download, if one was attempted.
        download: Option<String>,
    },

    /// The configured folder contains no usable PostgreSQL.
    #[error(
        "{origin} is `{}`, but {problem}; \
         set it to the folder that holds `postgres` and `initdb`, or unset it to search the usual places",
        path.display()
    )]
    WrongBinaries {
        /// The setting that contains the folder.
        origin: &'static str,
        /// The folder.
        path: PathBuf,
        /// The problem with the folder.
        problem: String,
    },

    /// The cluster was created by another major version of PostgreSQL.
    #[error(
        "`{}` was made by PostgreSQL {cluster}, but the server in `{}` is {server}; \
         delete the folder to start afresh, or set SVC_PG_BIN to the folder with the programs of PostgreSQL {cluster}",
        data.display(), binaries.display()
    )]
    VersionMismatch {
        /// The data directory.
        data: PathBuf,
        /// The major version that created it, as in its `PG_VERSION` file.
        cluster: String,
        /// The folder of the server that should run it.
        binaries: PathBuf,
        /// The version of that server.
        server: Version,
    },

    /// The data directory is not empty and not a cluster.
    #[error("`{}` isn't empty and isn't a PostgreSQL cluster; delete it or name another data root", data.display())]
    NotACluster {
        /// The data directory.
        data: PathBuf,
    },

    /// PostgreSQL refuses to run as root, and no other identity works on this machine.
    #[error(
        "PostgreSQL refuses to run as root, and neither a user namespace nor another user works here ({tried}); \
         run the program as an ordinary user, or set SVC_PG_BIN to programs that every user can read and run"
    )]
    RootRefused {
        /// The attempts and their errors.
        tried: String,
    },

    /// `initdb` failed to create a cluster.
    #[error("initdb couldn't make a cluster ({status}):\n{output}")]
    Initdb {
        /// The exit status.
        status: ExitStatus,
        /// The output of `initdb`.
        output: String,
    },

    /// The server exited before it accepted a connection.
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
        /// The time limit.
        limit: Duration,
        /// The server's log.
        log: PathBuf,
        /// The last lines of the log.
        tail: String,
    },

    /// The server of another program owns the cluster and doesn't respond.
    #[error(
        "process {pid} runs the cluster in `{}` but accepts no connection; stop it (`kill -INT {pid}`) and try again",
        data.display()
    )]
    Unresponsive {
        /// The process that owns the cluster.
        pid: i32,
        /// The data directory.
        data: PathBuf,
    },

    /// Another program has been starting this cluster for too long.
    #[error("another program has held `{}` for {waited:?}; stop that program and try again", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The time spent waiting for the lock.
        waited: Duration,
    },

    /// The running server can't be shared, because it doesn't listen on the TCP port that this
    /// program needs.
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

    /// A folder in the shared temporary directory belongs to another user.
    #[error("`{}` exists and isn't a private folder of user {uid}; delete it", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// The expected owner.
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
        /// The minimum that a server needs to start.
        needed: u64,
    },

    /// A start as root would change the owner of another user's cluster.
    #[error(
        "`{}` belongs to user {uid}, and a start as root would take it away; \
         run the program as that user, or name another data root",
        path.display()
    )]
    AnotherUsers {
        /// The data directory.
        path: PathBuf,
        /// The owner.
        uid: u32,
    },

    /// The server rejected a statement.
    #[error("postgres refused `{statement}`: {message} ({code})")]
    Statement {
        /// The statement.
        statement: String,
        /// The SQLSTATE.
        code: String,
        /// The server's message.
        message: String,
    },

    /// The operating system rejected an action on a file or folder.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// The rejected action.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Error {
    /// Returns a closure for `map_err` that creates the error `cannot <action> <path>`.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
