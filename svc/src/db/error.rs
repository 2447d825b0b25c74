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
    #[error(transparent)]
    Driver(sqlx::Error),
}

impl DbError {
    pub(crate) fn refused(error: Error) -> Self {
        Self::Refused(Box::new(error))
    }

    /// The error of a page: keys that the columns cannot hold come from a cursor that was made by hand.
    pub(crate) fn of_cursor(self) -> Self {
        match &self {
            // Class 22: data exceptions.
            Self::Driver(sqlx::Error::Database(error)) if error.code().is_some_and(|code| code.starts_with("22")) => {
                Self::BadCursor
            }
            _ => self,
        }
    }

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
            Self::Away | Self::Busy => Error::new(ErrorCode::ServiceUnavailable, text),
            Self::Timeout => Error::new(ErrorCode::Timeout, text),
            Self::BadPattern(_)
            | Self::BadCursor
            | Self::FirstAndLast
            | Self::NoOrder
            | Self::Nul
            | Self::NegativePage
            | Self::PageTooLarge(..) => Error::new(ErrorCode::BadUserInput, text),
            Self::Refused(error) => *error,
            Self::Driver(error) => Error::internal("a statement failed").because(error),
            Self::UnknownSource(_)
            | Self::UnknownColumn { .. }
            | Self::NoSource { .. }
            | Self::NoKey { .. }
            | Self::Relation(_)
            | Self::RelationToMany(_) => Error::internal(text),
        }
    }
}
