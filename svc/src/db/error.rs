use sqlx::postgres::PgDatabaseError;
use tokio_postgres::error::SqlState;

use super::driver::{self, DriverError};
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
    #[error("a value is too long or too complex for the database")]
    TooComplex,
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
    #[error("the database did not answer in time")]
    Unanswered,
    #[error("the connection to the database was lost")]
    ConnectionLost,
    #[error("the connection to the database was lost before the statement began; nothing was done")]
    Unsent,
    #[error("a view has changed while it was read; ask again")]
    Changed,
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

    /// Whether PostgreSQL could not read or compute a value: class 22, data exceptions.
    pub(crate) fn is_of_data(&self) -> bool {
        matches!(self, Self::Read(error) if error.code().is_some_and(|state| state.code().starts_with("22")))
    }

    /// Whether it may come of views that are not what they were when they were looked at.
    pub(crate) fn shows_change(&self) -> bool {
        match self {
            Self::Changed
            | Self::UnknownSource(_)
            | Self::UnknownColumn { .. }
            | Self::NoSource { .. }
            | Self::NoKey { .. } => true,
            Self::Read(error) => error.shows_change(),
            Self::Driver(sqlx::Error::Database(error)) => error.code().is_some_and(|code| driver::shows_change(&code)),
            _ => false,
        }
    }

    /// What an error of sqlx says of the connection or of the database as a whole, not of the statement.
    fn of_connection(error: &sqlx::Error) -> Option<Self> {
        use std::io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};
        Some(match error {
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Io(error) => match error.kind() {
                TimedOut => Self::Unanswered,
                ConnectionRefused | NotFound => Self::Away,
                _ => Self::Lost,
            },
            sqlx::Error::WorkerCrashed => Self::Lost,
            sqlx::Error::Tls(_) => Self::Away,
            sqlx::Error::Database(error) => match error.code().as_deref()? {
                "53300" => Self::Full,
                "57014" => Self::Timeout,
                // The server is starting up or shutting down; the proxy has not reached it.
                code if code == "57P03" || code.starts_with("08") => Self::Away,
                code if code.starts_with("57P") => Self::Lost,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Whether a connection was closed that was open, so that another may work.
    pub(super) fn is_closed(error: &sqlx::Error) -> bool {
        matches!(Self::of_connection(error), Some(Self::Lost))
    }

    /// Whether the database has no connection left.
    pub(super) fn is_full(error: &sqlx::Error) -> bool {
        matches!(Self::of_connection(error), Some(Self::Full))
    }

    /// What clients are told of SQL of a resolver's own that failed because of the connection. Whether it was done is not
    /// known here.
    pub(crate) fn of_own_sql(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref::<sqlx::Error>() {
                return Self::of_connection(error).map(Self::into_error);
            }
            next = error.source();
        }
        None
    }
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        if let Some(error) = Self::of_connection(&error) {
            return error;
        }
        match &error {
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
            DriverError::Unreachable(_) => return Self::Away,
            DriverError::Unanswered => return Self::Unanswered,
            DriverError::Unsent => return Self::Unsent,
            DriverError::Lost => return Self::Lost,
            DriverError::Changed => return Self::Changed,
            error if error.is_connection() => return Self::ConnectionLost,
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

/// The files of PostgreSQL that read paths and queries.
const READERS: [&str; 4] = ["ltree_io.c", "ltxtquery_io.c", "tsquery.c", "jsonpath.c"];

/// An error that is about what a client sent, or about an extension that such a filter needs.
fn of_client(code: &str, message: &str, file: Option<&str>) -> Option<DbError> {
    Some(match code {
        "22003" if file == Some("numutils.c") => DbError::BadPattern("a number is too large".to_owned()),
        "22P05" => DbError::Nul,
        "42704" if message.contains("ltree") || message.contains("lquery") => DbError::NoExtension("ltree"),
        // Program limits, such as the depth of a query. Where no text is read the message may name an index.
        code if code.starts_with("54") && file.is_some_and(|file| READERS.contains(&file)) => {
            DbError::BadPattern(format!("a value is too long or too complex: {message}"))
        }
        code if code.starts_with("54") => {
            tracing::debug!(code, message, "a limit of PostgreSQL is exceeded");
            DbError::TooComplex
        }
        _ => return None,
    })
}

impl DbError {
    /// What a client may see of it.
    pub(crate) fn into_error(self) -> Error {
        let text = self.to_string();
        match self {
            Self::Away
            | Self::Busy
            | Self::Full
            | Self::Unanswered
            | Self::ConnectionLost
            | Self::Unsent
            | Self::Lost
            | Self::Changed
            | Self::NoExtension(_) => Error::new(ErrorCode::ServiceUnavailable, text),
            Self::Timeout => Error::new(ErrorCode::Timeout, text),
            Self::BadPattern(_)
            | Self::TooComplex
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
