//! Errors of statements.

use tokio_postgres::error::{ErrorPosition, Severity, SqlState};

use super::variable::Unwritten;
use crate::Running;

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    #[error("the database closed the connection")]
    Closed,
    #[error("all database connections are busy")]
    PoolTimedOut,
    #[error("the database is not reachable: {0}")]
    Unreachable(#[source] Box<Self>),
    #[error("the database did not answer in time")]
    Unanswered,
    #[error("the connection to the database was lost before the statement began; nothing was done")]
    Unsent,
    /// `told` is set if the server has reported it, rather than only the network.
    #[error("the database had closed the connection before the statement came")]
    ClosedIdle { told: bool },
    #[error("the connection to the database was lost; what was asked may have been done, or not")]
    OutcomeUnknown,
    #[error("a statement of the transaction failed, so nothing of it is kept")]
    TransactionFailed,
    /// A statement of a session came after the end of its enclosing transaction.
    #[error("the transaction of the operation has ended, so the statement was not sent")]
    TransactionEnded,
    /// A statement of a session came while a part of its enclosing transaction was open.
    #[error("a transaction of this mutation is open; use its own `call`, `row` or `execute`")]
    PartOpen,
    #[error("no server is what target_session_attrs asks for")]
    WrongServer,
    #[error(
        "the pooler gives each transaction another connection and does not keep prepared statements; set its \
         `max_prepared_statements` to 200 (PgBouncer from 1.21), or its `pool_mode` to `session`"
    )]
    StatementsLost,
    #[error("the columns of the statement are not what they were when it was written")]
    Changed,
    #[cfg_attr(
        not(any(feature = "sqlx", feature = "tls")),
        allow(dead_code, reason = "nothing sets it up")
    )]
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// A statement of a script, at a place such as "line 7".
    #[error("{place} of the set-up fails: {}", .source.explained())]
    Script { place: String, source: Box<Self> },
    #[error("the connection to the database failed")]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
}

/// Records whether a completed statement failed.
pub(super) fn answered<T>(running: Running, result: &Result<T, DriverError>) {
    if let Err(error) = result {
        running.failed(error.code().map(SqlState::code));
    }
}

/// The reason why PostgreSQL has rolled back a transaction that may be run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryCause {
    /// A concurrent transaction: a deadlock or a serialization failure.
    Concurrency,
    /// A statement that was written or prepared before a view changed.
    StalePlan,
}

impl DriverError {
    /// The SQLSTATE from PostgreSQL.
    #[cold]
    pub fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Postgres(error) => error.code(),
            Self::Script { source, .. } => source.code(),
            _ => None,
        }
    }

    /// The same error, for a script that failed after `done` statements.
    pub(crate) fn of_script(self, script: &str, done: usize) -> Self {
        let Some(error) = self.of_database().filter(|_| self.is_mistake()) else {
            return self;
        };

        let place = match error.position() {
            Some(ErrorPosition::Original(at)) => {
                // PostgreSQL counts the position in characters, and not in bytes.
                let before = usize::try_from(*at).unwrap_or(usize::MAX).saturating_sub(1);
                format!(
                    "line {}",
                    1 + script
                        .chars()
                        .take(before)
                        .filter(|letter| *letter == '\n')
                        .count()
                )
            }
            _ => format!("statement {}", done + 1),
        };

        Self::Script {
            place,
            source: Box::new(self),
        }
    }

    /// Returns the message of PostgreSQL with its detail and hint.
    fn explained(&self) -> String {
        let Some(error) = self.of_database() else {
            return self.with_sources();
        };
        let parts = [Some(error.message()), error.detail(), error.hint()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Whether this is a permanent error, which retrying cannot fix: the database responds, but a
    /// setting, the set-up SQL or a privilege must be fixed first.
    pub(crate) fn is_mistake(&self) -> bool {
        /// Connections, transaction conflicts, resources, locks, operator intervention, and system
        /// errors.
        const PASSING: [&str; 6] = ["08", "40", "53", "55", "57", "58"];

        let inner = if let Self::Unreachable(inner) = self {
            inner
        } else {
            self
        };

        matches!(inner, Self::StatementsLost)
            || inner
                .code()
                .is_some_and(|code| !PASSING.iter().any(|class| code.code().starts_with(class)))
    }

    /// The text with the texts of its causes.
    pub fn with_sources(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            let cause = error.to_string();
            if !text.ends_with(&cause) {
                text = format!("{text}: {cause}");
            }
            source = error.source();
        }

        text
    }

    /// Returns the message from PostgreSQL, or the error's own.
    pub fn message(&self) -> String {
        match self {
            Self::Postgres(error) => error
                .as_db_error()
                .map_or_else(|| error.to_string(), |db| db.message().to_owned()),
            _ => self.to_string(),
        }
    }

    /// The PostgreSQL source file that reports it.
    pub fn file(&self) -> Option<&str> {
        self.of_database()?.file()
    }

    /// Returns the error of the database itself, if the statement reached it.
    pub fn of_database(&self) -> Option<&tokio_postgres::error::DbError> {
        match self {
            Self::Postgres(error) => error.as_db_error(),
            _ => None,
        }
    }

    /// Whether the connection itself failed, so that another one may work.
    #[cold]
    pub(crate) fn is_connection(&self) -> bool {
        match self {
            Self::Closed | Self::ClosedIdle { .. } | Self::WrongServer | Self::Io(_) => true,
            Self::PoolTimedOut
            | Self::Unreachable(_)
            | Self::Unanswered
            | Self::Unsent
            | Self::OutcomeUnknown
            | Self::StatementsLost
            | Self::Changed
            | Self::TransactionFailed
            | Self::TransactionEnded
            | Self::PartOpen
            | Self::Script { .. }
            | Self::Tls(_) => false,
            Self::Postgres(error) => match error.code() {
                // Class 57P: the server is shutting down or starting up. A pooler that has lost the
                // server ends with class 08.
                Some(code) => {
                    code.code().starts_with("57P")
                        || (code.code().starts_with("08") && is_fatal(error))
                }
                None => error.is_closed() || io_source(error).is_some(),
            },
        }
    }

    /// Whether a connection was lost while open or being opened, so that another one may work at
    /// once.
    pub(crate) fn is_lost_connection(&self) -> bool {
        match self {
            Self::Unreachable(error) => error.is_lost_connection(),
            Self::Io(error) => is_reset(error),
            Self::Postgres(error) => match error.code() {
                Some(code) if code.code().starts_with("08") => is_fatal(error),
                // 57P03: the server is starting up or shutting down, so another attempt at once
                // would fail too.
                Some(code) => {
                    code.code().starts_with("57P") && *code != SqlState::CANNOT_CONNECT_NOW
                }
                None => error.is_closed() || io_source(error).is_some_and(is_reset),
            },
            error => error.is_connection() && !matches!(error, Self::WrongServer),
        }
    }

    /// Whether the database has no connections left.
    pub(crate) fn is_too_many_connections(&self) -> bool {
        let inner = if let Self::Unreachable(inner) = self {
            inner
        } else {
            self
        };
        inner.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
    }

    /// Whether the server rejects the user, as every other server would.
    pub(super) fn is_refused_user(&self) -> bool {
        // Class 28: invalid authorization.
        self.code()
            .is_some_and(|code| code.code().starts_with("28"))
    }

    /// The same error, for a connection that was being opened.
    pub(super) fn while_opening(self) -> Self {
        if self.is_connection() || matches!(self, Self::Unanswered) {
            return Self::Unreachable(Box::new(self));
        }
        self
    }

    /// Whether a statement was sent whose effect is unknown.
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self, Self::OutcomeUnknown | Self::Unanswered) || self.is_connection()
    }

    /// Whether the connection can continue. It cannot be trusted after anything but an ordinary
    /// error of a statement.
    #[cold]
    pub(crate) fn leaves_connection_usable(&self) -> bool {
        let Self::Postgres(error) = self else {
            return matches!(self, Self::Changed | Self::TransactionFailed);
        };

        // The value could not be encoded, so nothing was sent.
        if std::error::Error::source(error).is_some_and(|source| source.is::<Unwritten>()) {
            return true;
        }
        error.as_db_error().is_some() && !is_fatal(error)
    }

    /// Whether the transaction was rolled back because of a concurrent one.
    pub fn is_of_concurrency(&self) -> bool {
        self.code()
            .is_some_and(|state| matches!(state.code(), "40001" | "40P01"))
    }

    /// The reason why a transaction with this error may be run again, if there is one. A stale plan
    /// inside a function is none: it has a context, and functions may raise any code.
    pub fn retry_cause(&self) -> Option<RetryCause> {
        if self.is_of_concurrency() {
            return Some(RetryCause::Concurrency);
        }

        let has_context = self
            .of_database()
            .is_some_and(|error| error.where_().is_some());
        let is_stale = (self.is_stale_plan() && !has_context) || matches!(self, Self::Changed);

        is_stale.then_some(RetryCause::StalePlan)
    }

    /// Whether the cause may be a view or function that has changed since the statement was
    /// written.
    #[cold]
    pub fn shows_change(&self) -> bool {
        matches!(self, Self::Changed)
            || self.is_stale_plan()
            || self.code().is_some_and(|code| shows_change(code.code()))
    }

    /// Whether the connection has a prepared statement that PostgreSQL no longer accepts: a view
    /// has changed, or a pooler has discarded the statements.
    #[cold]
    pub(super) fn is_stale_plan(&self) -> bool {
        let Self::Postgres(error) = self else {
            return false;
        };

        let Some(error) = error.as_db_error() else {
            return false;
        };

        // The code has many causes, and messages are in the server's language, so the C function
        // decides. An error with a context comes from a statement inside a function, which has
        // started by then.
        let changed = *error.code() == SqlState::FEATURE_NOT_SUPPORTED
            && error.routine() == Some("RevalidateCachedQuery")
            && error.where_().is_none();

        changed || *error.code() == SqlState::INVALID_SQL_STATEMENT_NAME
    }
}

/// Whether the cause of a code may be a changed view or function: a table, column, function,
/// operator, type or schema that does not exist, mismatched types, or a plan whose result types
/// have changed.
pub(crate) fn shows_change(code: &str) -> bool {
    matches!(
        code,
        "42P01"
            | "42703"
            | "42883"
            | "42704"
            | "3F000"
            | "42804"
            | "42725"
            | "42803"
            | "42846"
            | "42809"
            | "0A000"
    )
}

/// Whether an error closed the connection.
fn is_fatal(error: &tokio_postgres::Error) -> bool {
    let fatal = [Some(Severity::Fatal), Some(Severity::Panic)];
    error
        .as_db_error()
        .is_some_and(|error| fatal.contains(&error.parsed_severity()))
}

fn io_source(error: &tokio_postgres::Error) -> Option<&std::io::Error> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Whether a connection was closed, rather than refused or timed out.
fn is_reset(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};
    !matches!(error.kind(), ConnectionRefused | NotFound | TimedOut)
}
