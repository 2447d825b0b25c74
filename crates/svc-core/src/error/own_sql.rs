//! The errors of a program's own SQL, which sqlx reports.

#[cfg(feature = "sqlx")]
use super::sqlstate::{MISSING, sqlx_condition};
use super::{Error, ErrorCode, ErrorLocation};

/// A problem with the connection or the database as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionProblem {
    #[error("the database is not reachable")]
    Unreachable,
    #[error("all database connections are busy")]
    PoolTimedOut,
    #[error("the database has no connection left for the service")]
    TooManyConnections,
    #[error("the statement was cancelled because it took too long")]
    Timeout,
    #[error("the database did not answer in time")]
    Unanswered,
    #[error("the connection to the database was lost; what was asked may have been done, or not")]
    OutcomeUnknown,
}

impl ConnectionProblem {
    /// Returns the problem if sqlx reports one with the connection or the database as a whole;
    /// `None` for errors of the statement.
    #[cfg(feature = "sqlx")]
    pub fn of(error: &sqlx::Error) -> Option<Self> {
        use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};

        Some(match error {
            sqlx::Error::PoolTimedOut => Self::PoolTimedOut,
            sqlx::Error::Io(error) => match error.kind() {
                TimedOut => Self::Unanswered,
                // `NotFound` means that the Unix socket does not exist.
                ConnectionRefused | NotFound => Self::Unreachable,
                // The connection broke, possibly after the statement was sent.
                _ => Self::OutcomeUnknown,
            },
            sqlx::Error::WorkerCrashed => Self::OutcomeUnknown,
            sqlx::Error::Tls(_) => Self::Unreachable,
            sqlx::Error::Database(error) => match error.code().as_deref()? {
                "53300" => Self::TooManyConnections,
                // PostgreSQL reports `statement_timeout` with the code of a cancelled statement.
                "57014" => Self::Timeout,
                // 57P03: the server is starting up or shutting down. 08001: the proxy has not
                // reached it.
                code if code == "57P03" || code.starts_with("08") => Self::Unreachable,
                // An administrator, a crash or a timeout has ended the session, possibly during a
                // statement.
                code if code.starts_with("57P") => Self::OutcomeUnknown,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns the error that a client may see.
    #[cold]
    pub fn into_error(self) -> Error {
        let code = match self {
            Self::Timeout => ErrorCode::Timeout,
            _ => ErrorCode::ServiceUnavailable,
        };
        Error::new(code, self.to_string())
    }
}

/// Returns the error for a resolver's own SQL that failed because of the connection. Whether the
/// SQL took effect is unknown here.
#[cfg(feature = "sqlx")]
fn of_own_sql(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<sqlx::Error>() {
            return ConnectionProblem::of(error)
                .map(ConnectionProblem::into_error)
                .or_else(|| of_whole(error));
        }
        next = error.source();
    }

    None
}

/// The client error if the program's SQL fails because of the database as a whole. Wrong names are
/// the program's own mistake, and missing privileges or conflicts are reported as the mutation's
/// failure.
#[cfg(feature = "sqlx")]
fn of_whole(error: &sqlx::Error) -> Option<Error> {
    const OTHERS: [ErrorCode; 2] = [ErrorCode::Conflict, ErrorCode::Forbidden];
    let condition = sqlx_condition(error)
        .filter(|condition| !OTHERS.contains(&condition.code) && *condition != &MISSING)?;
    Some(condition.to_error())
}

// `Error` itself does not implement `std::error::Error`, so this covers all other errors without a
// conflict.
impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    #[track_caller]
    fn from(source: E) -> Self {
        #[cfg(feature = "sqlx")]
        let known: Option<Self> = of_own_sql(&source);
        #[cfg(not(feature = "sqlx"))]
        let known: Option<Self> = None;
        match known {
            Some(known) => known
                .raised_at(ErrorLocation::here(std::any::type_name::<E>()))
                .with_source(source),
            None => Self::of_cause(source),
        }
    }
}
