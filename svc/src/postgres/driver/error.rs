//! Errors of statements.

use tokio_postgres::error::{ErrorPosition, Severity, SqlState};

use super::variable::Unwritten;
use crate::postgres::Running;

/// A reason why a statement gave no rows.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriverError {
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
    /// `told` when the server has said so, and not only the network.
    #[error("the database had closed the connection before the statement came")]
    ClosedIdle { told: bool },
    #[error("the connection to the database was lost; what was asked may have been done, or not")]
    OutcomeUnknown,
    #[error("a statement of the transaction failed, so nothing of it is kept")]
    TransactionFailed,
    #[error("no server is what target_session_attrs asks for")]
    WrongServer,
    #[error(
        "the pooler gives each transaction another connection and does not keep prepared statements; set its \
         `max_prepared_statements` to 200 (PgBouncer from 1.21), or its `pool_mode` to `session`"
    )]
    StatementsLost,
    #[error("the columns of the statement are not what they were when it was written")]
    Changed,
    #[cfg_attr(not(any(feature = "sqlx", feature = "tls")), expect(dead_code, reason = "nothing sets it up"))]
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

/// Tells of a statement that was answered whether it failed.
pub(super) fn answered<T>(running: Running, result: &Result<T, DriverError>) {
    if let Err(error) = result {
        running.failed(error.code().map(SqlState::code));
    }
}

impl DriverError {
    /// The code of PostgreSQL.
    pub(crate) fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Postgres(error) => error.code(),
            Self::Script { source, .. } => source.code(),
            _ => None,
        }
    }

    /// The same error, of a script of which so many statements were done before it.
    pub(in crate::postgres) fn of_script(self, script: &str, done: usize) -> Self {
        let Some(error) = self.of_database().filter(|_| self.is_mistake()) else { return self };
        let place = match error.position() {
            Some(ErrorPosition::Original(at)) => {
                let before = usize::try_from(*at).unwrap_or(usize::MAX).saturating_sub(1);
                format!("line {}", 1 + script.chars().take(before).filter(|letter| *letter == '\n').count())
            }
            _ => format!("statement {}", done + 1),
        };
        Self::Script { place, source: Box::new(self) }
    }

    /// Returns the message of PostgreSQL with its detail and hint.
    fn explained(&self) -> String {
        let Some(error) = self.of_database() else { return self.with_sources() };
        let parts = [Some(error.message()), error.detail(), error.hint()];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Whether the database answers, and does not do what the service needs: it stays so until somebody mends a setting,
    /// the set-up or a privilege.
    pub(in crate::postgres) fn is_mistake(&self) -> bool {
        /// Connections, conflicts with others, resources, locks, operators, and the system itself.
        const PASSING: [&str; 6] = ["08", "40", "53", "55", "57", "58"];
        let inner = if let Self::Unreachable(inner) = self { inner } else { self };
        matches!(inner, Self::StatementsLost)
            || inner.code().is_some_and(|code| !PASSING.iter().any(|class| code.code().starts_with(class)))
    }

    /// The text with those of what has caused it.
    pub(crate) fn with_sources(&self) -> String {
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

    /// Returns the message of PostgreSQL, or the error's own.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Postgres(error) => {
                error.as_db_error().map_or_else(|| error.to_string(), |db| db.message().to_owned())
            }
            _ => self.to_string(),
        }
    }

    /// The source file of PostgreSQL that reports it.
    pub(crate) fn file(&self) -> Option<&str> {
        self.of_database()?.file()
    }

    /// Returns the error of the database itself, if the statement reached it.
    pub(crate) fn of_database(&self) -> Option<&tokio_postgres::error::DbError> {
        match self {
            Self::Postgres(error) => error.as_db_error(),
            _ => None,
        }
    }

    /// Whether the connection itself failed, so that another may work.
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
            | Self::Script { .. }
            | Self::Tls(_) => false,
            Self::Postgres(error) => match error.code() {
                // Class 57P: the server is shutting down or starting up; a pooler that has lost it ends with class 08.
                Some(code) => code.code().starts_with("57P") || (code.code().starts_with("08") && is_fatal(error)),
                None => error.is_closed() || io_source(error).is_some(),
            },
        }
    }

    /// Whether a connection that was open, or was being opened, has ended, so that another may work at once.
    pub(in crate::postgres) fn is_lost_connection(&self) -> bool {
        match self {
            Self::Unreachable(error) => error.is_lost_connection(),
            Self::Io(error) => is_reset(error),
            Self::Postgres(error) => match error.code() {
                // 57P03: the server is starting up or shutting down.
                Some(code) if code.code().starts_with("08") => is_fatal(error),
                Some(code) => code.code().starts_with("57P") && *code != SqlState::CANNOT_CONNECT_NOW,
                None => error.is_closed() || io_source(error).is_some_and(is_reset),
            },
            error => error.is_connection() && !matches!(error, Self::WrongServer),
        }
    }

    /// Whether the database has no connection left.
    pub(in crate::postgres) fn is_too_many_connections(&self) -> bool {
        let inner = if let Self::Unreachable(inner) = self { inner } else { self };
        inner.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
    }

    /// Whether the server does not let the user in, so that no other server would.
    pub(super) fn is_refused_user(&self) -> bool {
        // Class 28: invalid authorization.
        self.code().is_some_and(|code| code.code().starts_with("28"))
    }

    /// The same error, of a connection that was being opened.
    pub(super) fn while_opening(self) -> Self {
        if self.is_connection() || matches!(self, Self::Unanswered) {
            return Self::Unreachable(Box::new(self));
        }
        self
    }

    /// Whether a statement was sent whose effect is not known.
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self, Self::OutcomeUnknown | Self::Unanswered) || self.is_connection()
    }

    /// Whether the connection can go on. After anything but an ordinary error of a statement it cannot be trusted.
    pub(in crate::postgres) fn leaves_connection_usable(&self) -> bool {
        let Self::Postgres(error) = self else { return matches!(self, Self::Changed | Self::TransactionFailed) };
        if std::error::Error::source(error).is_some_and(|source| source.is::<Unwritten>()) {
            return true;
        }
        error.as_db_error().is_some() && !is_fatal(error)
    }

    /// Whether the transaction was undone because of another that ran at the same time.
    pub(crate) fn is_of_concurrency(&self) -> bool {
        self.code().is_some_and(|state| matches!(state.code(), "40001" | "40P01"))
    }

    /// Whether it may come of a view or function that is not what it was when the statement was written.
    pub(crate) fn shows_change(&self) -> bool {
        matches!(self, Self::Changed)
            || self.is_stale_plan()
            || self.code().is_some_and(|code| shows_change(code.code()))
    }

    /// Whether the connection holds a prepared statement that PostgreSQL no longer accepts: a view has changed, or
    /// something between us has discarded the statements.
    pub(super) fn is_stale_plan(&self) -> bool {
        let Self::Postgres(error) = self else { return false };
        let Some(error) = error.as_db_error() else { return false };
        // One with a context comes of a statement inside a function, which has begun by then.
        let changed = *error.code() == SqlState::FEATURE_NOT_SUPPORTED
            && error.routine() == Some("RevalidateCachedQuery")
            && error.where_().is_none();
        changed || *error.code() == SqlState::INVALID_SQL_STATEMENT_NAME
    }
}

/// Whether a code may come of a view or function that has changed: a table, column, function, operator, type or schema
/// that does not exist, types that do not fit, and a plan whose result has got other types.
pub(crate) fn shows_change(code: &str) -> bool {
    matches!(
        code,
        "42P01" | "42703" | "42883" | "42704" | "3F000" | "42804" | "42725" | "42803" | "42846" | "42809" | "0A000"
    )
}

/// Whether an error has ended the connection.
fn is_fatal(error: &tokio_postgres::Error) -> bool {
    let fatal = [Some(Severity::Fatal), Some(Severity::Panic)];
    error.as_db_error().is_some_and(|error| fatal.contains(&error.parsed_severity()))
}

fn io_source(error: &tokio_postgres::Error) -> Option<&std::io::Error> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Whether a connection was ended, and not refused or without an answer.
fn is_reset(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};
    !matches!(error.kind(), ConnectionRefused | NotFound | TimedOut)
}
