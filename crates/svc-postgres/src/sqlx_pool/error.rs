//! Classifies errors of sqlx.

use sqlx::postgres::{PgDatabaseError, PgSeverity};

use crate::error::{is_of_reference, of_client, without_null};
use crate::{DbError, Fault};
use svc_core::error::{ConnectionProblem, of_postgres};

impl DbError {
    /// Whether an open connection was closed, so that another may work.
    pub(crate) fn is_closed(error: &sqlx::Error) -> bool {
        ConnectionProblem::of(error) == Some(ConnectionProblem::OutcomeUnknown)
    }
}

impl From<ConnectionProblem> for DbError {
    fn from(problem: ConnectionProblem) -> Self {
        match problem {
            ConnectionProblem::Unreachable => Self::Unreachable,
            ConnectionProblem::PoolTimedOut => Self::PoolTimedOut,
            ConnectionProblem::TooManyConnections => Self::TooManyConnections,
            ConnectionProblem::Timeout => Self::Timeout,
            ConnectionProblem::Unanswered => Self::Unanswered,
            ConnectionProblem::OutcomeUnknown => Self::OutcomeUnknown,
        }
    }
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        if let Some(problem) = ConnectionProblem::of(&error) {
            return problem.into();
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
    pub fn of_own_sql(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
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
pub(crate) fn reported(error: &sqlx::Error) -> Option<(String, String, Option<String>)> {
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
