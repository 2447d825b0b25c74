//! Classifies errors of sqlx.

use sqlx::postgres::{PgDatabaseError, PgSeverity};

use crate::error::of_postgres;
use crate::postgres::error::{is_of_reference, of_client, without_null};
use crate::postgres::sqlstate::{MISSING, sqlx_condition};
use crate::postgres::{DbError, Fault};
use crate::{Error, ErrorCode};

impl DbError {
    /// Returns the error if sqlx reports a problem with the connection or the database as a whole;
    /// `None` for errors of the statement.
    fn of_connection(error: &sqlx::Error) -> Option<Self> {
        use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};

        Some(match error {
            sqlx::Error::PoolTimedOut => Self::PoolTimedOut,
            sqlx::Error::Io(error) => match error.kind() {
                TimedOut => Self::Unanswered,
                ConnectionRefused | NotFound => Self::Unreachable,
                _ => Self::OutcomeUnknown,
            },
            sqlx::Error::WorkerCrashed => Self::OutcomeUnknown,
            sqlx::Error::Tls(_) => Self::Unreachable,
            sqlx::Error::Database(error) => match error.code().as_deref()? {
                "53300" => Self::TooManyConnections,
                "57014" => Self::Timeout,
                // 57P03: the server is starting up or shutting down. 08001: the proxy has not
                // reached it.
                code if code == "57P03" || code.starts_with("08") => Self::Unreachable,
                code if code.starts_with("57P") => Self::OutcomeUnknown,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Whether an open connection was closed, so that another may work.
    pub(in crate::postgres) fn is_closed(error: &sqlx::Error) -> bool {
        matches!(Self::of_connection(error), Some(Self::OutcomeUnknown))
    }

    /// Returns the error for a resolver's own SQL that failed because of the connection. Whether
    /// the SQL took effect is unknown here.
    pub(crate) fn of_own_sql(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref::<sqlx::Error>() {
                return Self::of_connection(error)
                    .map(Self::into_error)
                    .or_else(|| of_whole(error));
            }
            next = error.source();
        }

        None
    }
}

/// The client error if the program's SQL fails because of the database as a whole. Wrong names are
/// the program's own mistake, and missing privileges or conflicts are reported as the mutation's
/// failure.
fn of_whole(error: &sqlx::Error) -> Option<Error> {
    const OTHERS: [ErrorCode; 2] = [ErrorCode::Conflict, ErrorCode::Forbidden];
    let condition = sqlx_condition(error)
        .filter(|condition| !OTHERS.contains(&condition.code) && *condition != &MISSING)?;
    Some(condition.to_error())
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        if let Some(error) = Self::of_connection(&error) {
            return error;
        }

        match &error {
            sqlx::Error::Database(database) => {
                let file = database
                    .try_downcast_ref::<PgDatabaseError>()
                    .and_then(PgDatabaseError::file);
                let code = database.code().unwrap_or_default();
                of_client(&code, database.message(), file).unwrap_or(Self::Sqlx(error))
            }
            _ => Self::Sqlx(error),
        }
    }
}

/// Whether PostgreSQL responded with an error that leaves the connection intact.
pub(super) fn is_refused(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else {
        return false;
    };
    let severity = error
        .try_downcast_ref::<PgDatabaseError>()
        .map(PgDatabaseError::severity);
    severity == Some(PgSeverity::Error)
}

impl Fault {
    /// Returns PostgreSQL's report behind an error of a resolver's own SQL.
    pub(crate) fn of_own_sql(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        let error = of_postgres(error)?;
        Some(Self {
            code: error.code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
            constraint: error
                .constraint()
                .map(str::to_owned)
                .or_else(|| without_null(error.code(), error.table()?, error.column()?)),
            is_inside: error.r#where().is_some(),
            is_of_reference: is_of_reference(error.code(), error.r#where()),
            file: error.file().map(str::to_owned),
        })
    }
}

/// The code, message and source file of a PostgreSQL error.
pub(in crate::postgres) fn reported(
    error: &sqlx::Error,
) -> Option<(String, String, Option<String>)> {
    let sqlx::Error::Database(error) = error else {
        return None;
    };

    let file = error
        .try_downcast_ref::<PgDatabaseError>()
        .and_then(PgDatabaseError::file);

    Some((
        error.code()?.into_owned(),
        error.message().to_owned(),
        file.map(str::to_owned),
    ))
}
