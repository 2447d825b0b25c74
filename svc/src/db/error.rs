use sqlx::postgres::PgDatabaseError;
use tokio_postgres::error::SqlState;

use super::driver::DriverError;
use crate::{Error, ErrorCode};

/// What can go wrong between a plan and its rows.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DbError {
    #[error("the database is not reachable")]
    Away,
    #[error("all database connections are busy")]
    Busy,
    #[error("the database has no connection left for the service")]
    Full,
    #[error("the view or table `{0}` does not exist, or the service may not read it")]
    UnknownSource(String),
    #[error("`{source_name}` has neither a column `{column}` nor a `data` column with a field of that name")]
    UnknownColumn { source_name: String, column: String },
    #[error("`{source_name}` has no column that fits the field `{field}`, and no `data` column")]
    NoSource { source_name: String, field: String },
    #[error(
        "a relation needs the key `{key}` of `{source_name}`, which has neither such a column nor a `data` column; \
         add it to the view, or name another with `#[relation({end} = \"…\")]`"
    )]
    NoKey { source_name: String, key: String, end: &'static str },
    #[error("`{0}` is a relation; name a column of the rows that it leads to, such as `{0}.id`")]
    Relation(String),
    #[error("`{0}` leads to many rows, which have no one value to order by or to compute with")]
    RelationToMany(String),
    #[error("the statement was cancelled because it took too long")]
    Timeout,
    #[error("strings cannot contain the character U+0000")]
    Nul,
    #[error("limit and offset cannot be negative")]
    NegativePage,
    #[error("give `first` or `last`, not both")]
    FirstAndLast,
    #[error("the rows have no `id` to tell them apart, so a page of them needs an order; give `orderBy`")]
    NoOrder,
    #[error("limit is {0}, and at most {1} rows can be read at once")]
    PageTooLarge(i64, u32),
    #[error("the cursor is not one of this list; take it from `pageInfo` or an edge of the same list and order")]
    BadCursor,
    #[error("{0}")]
    BadPattern(String),
    /// An argument or a resolver's query was refused.
    #[error("{0}")]
    Refused(Box<Error>),
    #[error("{0}")]
    BadValue(String),
    #[error(
        "the database has no extension `{0}`, or not in its search path; `CREATE EXTENSION {0}` lets this filter work"
    )]
    NoExtension(&'static str),
    #[error("{0}")]
    UnknownFunction(String),
    #[error("the connection to the database was lost; what was asked may have been done, or not")]
    Lost,
    #[error(transparent)]
    Driver(sqlx::Error),
    #[error(transparent)]
    Read(DriverError),
    #[error("the request's session variables are not known, so it can read nothing")]
    NoSession,
}

impl DbError {
    pub(crate) fn refused(error: Error) -> Self {
        Self::Refused(Box::new(error))
    }

    /// The error of a page: keys that the columns cannot hold come from a cursor that was made by hand.
    pub(crate) fn of_cursor(self) -> Self {
        match &self {
            // Class 22: data exceptions.
            Self::Read(error) if error.code().is_some_and(|state| state.code().starts_with("22")) => Self::BadCursor,
            _ => self,
        }
    }

    /// Whether the connection itself failed, so that another may work.
    pub(crate) fn is_connection(error: &sqlx::Error) -> bool {
        match error {
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => true,
            // Class 57P: the server is shutting down or starting up. Class 08: the proxy has not reached it.
            sqlx::Error::Database(error) => {
                error.code().is_some_and(|code| code.starts_with("57P") || code.starts_with("08"))
            }
            _ => false,
        }
    }
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Database(database) if database.code().as_deref() == Some("57014") => Self::Timeout,
            error if Self::is_connection(error) => Self::Away,
            sqlx::Error::Database(database) => {
                let file = database.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::file);
                let code = database.code().unwrap_or_default();
                of_client(&code, database.message(), file).unwrap_or(Self::Driver(error))
            }
            _ => Self::Driver(error),
        }
    }
}

impl From<DriverError> for DbError {
    fn from(error: DriverError) -> Self {
        match &error {
            DriverError::Busy => return Self::Busy,
            DriverError::Unanswered => return Self::Away,
            DriverError::Lost => return Self::Lost,
            error if error.is_connection() => return Self::Away,
            _ => {}
        }
        match error.code() {
            Some(&SqlState::QUERY_CANCELED) => Self::Timeout,
            Some(&SqlState::TOO_MANY_CONNECTIONS) => Self::Full,
            Some(code) => of_client(code.code(), &error.message(), error.file()).unwrap_or(Self::Read(error)),
            None => Self::Read(error),
        }
    }
}

/// An error that is about what a client sent, or about an extension that such a filter needs.
fn of_client(code: &str, message: &str, file: Option<&str>) -> Option<DbError> {
    Some(match code {
        "22003" if file == Some("numutils.c") => DbError::BadPattern("a number is too large".to_owned()),
        "22P05" => DbError::Nul,
        "42704" if message.contains("ltree") || message.contains("lquery") => DbError::NoExtension("ltree"),
        // Program limits, such as the depth of a query. The message may name an index.
        code if code.starts_with("54") => {
            tracing::debug!(code, message, "a limit of PostgreSQL is exceeded");
            DbError::BadPattern("a value is too long or too complex for the database".to_owned())
        }
        _ => return None,
    })
}

impl DbError {
    /// What a client may see of it.
    pub(crate) fn into_error(self) -> Error {
        let text = self.to_string();
        match self {
            Self::Away | Self::Busy | Self::Full | Self::Lost | Self::NoExtension(_) => {
                Error::new(ErrorCode::ServiceUnavailable, text)
            }
            Self::Timeout => Error::new(ErrorCode::Timeout, text),
            Self::BadPattern(_)
            | Self::BadValue(_)
            | Self::BadCursor
            | Self::FirstAndLast
            | Self::NoOrder
            | Self::Nul
            | Self::NegativePage
            | Self::PageTooLarge(..) => Error::new(ErrorCode::BadUserInput, text),
            Self::Refused(error) => *error,
            Self::Driver(error) => Error::internal("a statement failed").because(error),
            Self::Read(error) => Error::internal("a statement failed").because(error),
            Self::NoSession
            | Self::UnknownFunction(_)
            | Self::UnknownSource(_)
            | Self::UnknownColumn { .. }
            | Self::NoSource { .. }
            | Self::NoKey { .. }
            | Self::Relation(_)
            | Self::RelationToMany(_) => Error::internal(text),
        }
    }
}
