use crate::{Error, ErrorCode};

/// What can go wrong between a plan and its rows.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DbError {
    #[error("the database is not reachable")]
    Away,
    #[error("all database connections are busy")]
    Busy,
    #[error("the view or table `{0}` does not exist, or the service may not read it")]
    UnknownSource(String),
    #[error("`{source_name}` has neither a column `{column}` nor a `data` column with a field of that name")]
    UnknownColumn { source_name: String, column: String },
    #[error("`{source_name}` has no column that fits the field `{field}`, and no `data` column")]
    NoSource { source_name: String, field: String },
    #[error("the statement was cancelled because it took too long")]
    Timeout,
    #[error("strings cannot contain the character U+0000")]
    Nul,
    #[error("limit and offset cannot be negative")]
    NegativePage,
    #[error("limit is {0}, and at most {1} rows can be read at once")]
    PageTooLarge(i64, u32),
    #[error("{0}")]
    BadPattern(String),
    #[error("{0}")]
    UnknownFunction(String),
    #[error("the connection to the database was lost; what was asked may have been done, or not")]
    Lost,
    #[error(transparent)]
    Driver(sqlx::Error),
}

impl DbError {
    /// Whether the connection itself failed, so that another may work.
    pub(crate) fn is_connection(error: &sqlx::Error) -> bool {
        match error {
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => true,
            // Class 57P: the server is shutting down or starting up.
            sqlx::Error::Database(error) => error.code().is_some_and(|code| code.starts_with("57P")),
            _ => false,
        }
    }
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Database(database) if database.code().as_deref() == Some("57014") => Self::Timeout,
            // The regular expression of a client.
            sqlx::Error::Database(database) if database.code().as_deref() == Some("2201B") => {
                Self::BadPattern(format!("the regular expression is not valid: {}", database.message()))
            }
            error if Self::is_connection(error) => Self::Away,
            _ => Self::Driver(error),
        }
    }
}

impl DbError {
    /// What a client may see of it.
    pub(crate) fn into_error(self) -> Error {
        let text = self.to_string();
        match self {
            Self::Away | Self::Busy | Self::Lost => Error::new(ErrorCode::ServiceUnavailable, text),
            Self::Timeout => Error::new(ErrorCode::Timeout, text),
            Self::BadPattern(_) | Self::Nul | Self::NegativePage | Self::PageTooLarge(..) => {
                Error::new(ErrorCode::BadUserInput, text)
            }
            Self::Driver(error) => Error::internal("a statement failed").because(error),
            Self::UnknownFunction(_) | Self::UnknownSource(_) | Self::UnknownColumn { .. } | Self::NoSource { .. } => {
                Error::internal(text)
            }
        }
    }
}
