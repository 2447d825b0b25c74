//! The errors between a plan and its rows, and the form in which clients see them.

mod fault;

pub use fault::Fault;
#[cfg(feature = "sqlx")]
pub(super) use fault::{is_of_reference, without_null};

use tokio_postgres::error::SqlState;

use super::driver::{DriverError, RetryCause};
use super::session::UnknownSession;
use svc_core::error::ConnectionProblem;
use svc_core::error::sqlstate::{ErrorReport, MISSING, is_conversion};
use svc_core::{Error, ErrorCode};

/// An error between a plan and its rows.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    #[error("{}", ConnectionProblem::Unreachable)]
    Unreachable,
    #[error("the database is being set up; try again later")]
    SettingUp,
    #[error(
        "row-level security does not bind the service, so it does not use the database; its log names the policies"
    )]
    UnboundPolicies,
    /// With the reason, if it may be disclosed.
    #[error("the database cannot be used{}", .0.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Misconfigured(Option<String>),
    #[error("{}", ConnectionProblem::PoolTimedOut)]
    PoolTimedOut,
    #[error("{}", ConnectionProblem::TooManyConnections)]
    TooManyConnections,
    #[error("the view or table `{0}` does not exist, or the service may not read it")]
    UnknownSource(String),
    /// A query reads a Rust type that is not registered with the service.
    #[error(
        "`db.find::<{0}>()` reads a type that no list of the program has; add it with `.internal_types(types![…])`, or with \
         `.types(types![…])` where clients may see it"
    )]
    UnknownType(&'static str),
    #[error(
        "`{source_name}` has neither a column `{column}` nor a `data` column with a field of that name"
    )]
    UnknownColumn { source_name: String, column: String },
    #[error("`{source_name}` has no column that fits the field `{field}`, and no `data` column")]
    NoSource { source_name: String, field: String },
    #[error(
        "a relation needs the key `{key}` of `{source_name}`, which has neither such a column nor a `data` column; \
         add it to the view, or name another with `#[relation({end} = \"…\")]`"
    )]
    NoKey {
        source_name: String,
        key: String,
        end: &'static str,
    },
    #[error(
        "`{0}` is a relation whose key there is not one field; name a column of the rows that it leads to, such as `{0}.id`"
    )]
    Relation(String),
    #[error(
        "`{0}` leads to many rows, which have no one value to compare, to order by or to compute with"
    )]
    RelationToMany(String),
    #[error("{}", ConnectionProblem::Timeout)]
    Timeout,
    #[error("strings cannot contain the character U+0000")]
    Nul,
    /// With the name of the character set after a comma, if PostgreSQL reports it.
    #[error("a character of a text is not in the character set of the database{0}")]
    NoCharacter(String),
    #[error("`{0}` must not be negative")]
    NegativePage(&'static str),
    #[error("give `first` or `last`, not both")]
    FirstAndLast,
    #[error(
        "the rows have no `id` to tell them apart, so a page of them needs an order; give `orderBy`"
    )]
    NoOrder,
    #[error("{0} is {1}, and at most {2} rows can be read at once")]
    PageTooLarge(&'static str, i64, u32),
    #[error(
        "the cursor is not one of this list; take it from `pageInfo` or an edge of the same list and order"
    )]
    BadCursor,
    #[error("{0}")]
    BadPattern(String),
    #[error(
        "the request's session variable {0} is missing, or does not have the form that the database needs"
    )]
    BadVariable(String),
    #[error("a value is too long or too complex for the database")]
    TooComplex,
    /// An argument or a resolver's query was rejected.
    #[error("{0}")]
    Refused(Box<Error>),
    #[error("a policy cannot be applied, so nothing is read: {0}")]
    Policy(Box<DbError>),
    #[error("{0}")]
    BadValue(String),
    #[error(
        "the database has no extension `{0}`, or not in its search path; `CREATE EXTENSION {0}` lets this filter work"
    )]
    NoExtension(&'static str),
    #[error("{0}")]
    UnknownFunction(String),
    #[error("{}", ConnectionProblem::Unanswered)]
    Unanswered,
    #[error("the connection to the database was lost")]
    ConnectionLost,
    #[error("the connection to the database was lost before the statement began; nothing was done")]
    Unsent,
    #[error("a view has changed while it was read; ask again")]
    Changed,
    #[error("a statement of the transaction failed, so nothing of it is kept")]
    TransactionFailed,
    #[error("the transaction of the operation has ended, so the statement was not sent")]
    TransactionEnded,
    #[error("a transaction of this mutation is open; use its own `call`, `row` or `execute`")]
    PartOpen,
    /// The error of a read in the transaction of an operation, which no other read can follow.
    #[error("{0}")]
    InTransaction(Box<DbError>),
    #[error("{}", ConnectionProblem::OutcomeUnknown)]
    OutcomeUnknown,
    #[cfg(feature = "sqlx")]
    #[error(transparent)]
    Sqlx(sqlx::Error),
    #[error(transparent)]
    Driver(DriverError),
    #[error("the request's session variables are not known, so it can read nothing")]
    NoSession,
}

impl DbError {
    #[cold]
    pub fn refused(error: Error) -> Self {
        Self::Refused(Box::new(error))
    }

    /// The same error in a policy condition, which denies access.
    pub fn of_policy(self) -> Self {
        if self.is_of_policy() {
            self
        } else {
            Self::Policy(Box::new(self))
        }
    }

    /// The same error of a read in the transaction of an operation. PostgreSQL rejects all later
    /// statements, so neither a change of the views nor a bad value has the read repeated.
    pub(super) fn in_transaction(self) -> Self {
        if self.shows_change() || self.is_of_data() {
            Self::InTransaction(Box::new(self))
        } else {
            self
        }
    }

    /// Whether a policy condition cannot be applied, or a policy has denied access.
    pub fn is_of_policy(&self) -> bool {
        matches!(self, Self::Policy(_) | Self::Refused(_))
    }

    /// Whether PostgreSQL cannot lock the rows of a view: its query has groups, outer joins or the
    /// like, it is materialized, or the service may not update its rows.
    pub fn is_of_lock(&self) -> bool {
        let of_lock = |state: &str| matches!(state, "0A000" | "42809" | "42501");
        // A statement prepared before the view changed has the first code too.
        matches!(self, Self::Driver(error)
            if error.retry_cause().is_none() && error.code().is_some_and(|state| of_lock(state.code())))
    }

    /// The reason why a transaction with this error may be run again, if there is one.
    pub fn retry_cause(&self) -> Option<RetryCause> {
        match self {
            Self::Driver(error) => error.retry_cause(),
            Self::Changed => Some(RetryCause::StalePlan),
            _ => None,
        }
    }

    /// The same for the source of an error.
    pub fn retry_cause_of(error: &Error) -> Option<RetryCause> {
        error
            .source()
            .and_then(|source| source.downcast_ref::<DriverError>())
            .and_then(DriverError::retry_cause)
    }

    /// Whether PostgreSQL could not parse or compute a value: class 22, data exceptions, and the
    /// syntax errors of text search documents, which have the code of SQL's.
    pub fn is_of_data(&self) -> bool {
        let Self::Driver(error) = self else {
            return false;
        };
        let is_of_document =
            |code: &str| code == "42601" && error.file() == Some("tsvector_parser.c");
        error
            .code()
            .is_some_and(|state| state.code().starts_with("22") || is_of_document(state.code()))
    }

    /// Whether PostgreSQL could not parse a text as a value of another type.
    pub fn is_of_unreadable_value(&self) -> bool {
        let unreadable = ["22P02", "22003", "22007", "22008"];
        matches!(self, Self::Driver(error) if error.code().is_some_and(|state| unreadable.contains(&state.code())))
    }

    /// Whether a function or its schema is missing, or the service may not use it.
    #[cfg(feature = "native-auth")]
    pub fn is_of_missing_function(&self) -> bool {
        use tokio_postgres::error::SqlState;
        let codes = [
            SqlState::INVALID_SCHEMA_NAME,
            SqlState::UNDEFINED_FUNCTION,
            SqlState::INSUFFICIENT_PRIVILEGE,
        ];
        matches!(self, Self::Driver(error) if error.code().is_some_and(|code| codes.contains(code)))
    }

    /// Converts the error of a call with a client's arguments: a value that does not fit its
    /// parameter is the client's error.
    pub fn of_call(self) -> Self {
        match &self {
            Self::Driver(error)
                if error
                    .code()
                    .is_some_and(|code| is_integer_read(code.code(), error.file())) =>
            {
                Self::BadValue("a number is too large".to_owned())
            }
            Self::Driver(error) if error.is_of_value() => {
                Self::BadValue("a value is not one that the function takes".to_owned())
            }
            _ => self,
        }
    }

    /// Whether the cause may be views that have changed since they were read.
    #[cold]
    pub fn shows_change(&self) -> bool {
        match self {
            Self::Changed
            | Self::UnknownSource(_)
            | Self::UnknownColumn { .. }
            | Self::NoSource { .. }
            | Self::NoKey { .. } => true,
            Self::Policy(error) => error.shows_change(),
            Self::Driver(error) => error.shows_change(),
            #[cfg(feature = "sqlx")]
            Self::Sqlx(sqlx::Error::Database(error)) => error
                .code()
                .is_some_and(|code| super::driver::shows_change(&code)),
            _ => false,
        }
    }
}

impl DriverError {
    /// The SQLSTATE of PostgreSQL's error, and where it was raised.
    pub fn report(&self) -> Option<ErrorReport<'_>> {
        let error = self.of_database()?;
        let is_inside = error.where_().is_some();
        Some(ErrorReport {
            code: error.code().code(),
            file: error.file(),
            is_inside,
        })
    }

    /// Whether a bound value does not fit its type, or its domain rejects it.
    fn is_of_value(&self) -> bool {
        self.of_database()
            .is_some_and(|error| error.where_().is_none() && is_refused_value(error))
    }

    /// Returns the error that a client may see.
    fn into_error(self) -> Error {
        if let Some(condition) = self.report().as_ref().and_then(ErrorReport::condition) {
            return condition.to_error().with_source(self);
        }

        let code = self.code().map_or_else(
            || "a statement".to_owned(),
            |code| format!("SQLSTATE {}", code.code()),
        );

        Error::internal("a statement failed")
            .of_type(code)
            .with_source(self)
    }
}

impl From<UnknownSession> for DbError {
    fn from(_: UnknownSession) -> Self {
        Self::NoSession
    }
}

impl From<DriverError> for DbError {
    #[cold]
    fn from(error: DriverError) -> Self {
        match &error {
            DriverError::PoolTimedOut => return Self::PoolTimedOut,
            DriverError::Unreachable(_) => return Self::Unreachable,
            DriverError::Unanswered => return Self::Unanswered,
            DriverError::Unsent => return Self::Unsent,
            DriverError::OutcomeUnknown => return Self::OutcomeUnknown,
            DriverError::Changed => return Self::Changed,
            DriverError::TransactionFailed => return Self::TransactionFailed,
            DriverError::TransactionEnded => return Self::TransactionEnded,
            DriverError::PartOpen => return Self::PartOpen,
            error if error.is_connection() => return Self::ConnectionLost,
            _ => {}
        }

        match error.code() {
            Some(&SqlState::QUERY_CANCELED) => Self::Timeout,
            Some(&SqlState::TOO_MANY_CONNECTIONS) => Self::TooManyConnections,
            Some(code) => of_client(code.code(), &error.message(), error.file())
                .unwrap_or(Self::Driver(error)),
            None => Self::Driver(error),
        }
    }
}

/// Whether PostgreSQL could not parse a text as a value of a type, or a domain rejects the value.
pub(super) fn is_refused_value(error: &tokio_postgres::error::DbError) -> bool {
    let is_of_domain = OF_DOMAIN.contains(&error.code().code()) && error.datatype().is_some();
    is_of_domain || is_conversion(error.code().code(), error.file())
}

/// The SQLSTATEs of values that a domain rejects. Reads have no other constraints.
pub(super) const OF_DOMAIN: [&str; 2] = ["23502", "23514"];

/// Whether PostgreSQL could not parse a text as an integer because it is too large.
pub(super) fn is_integer_read(code: &str, file: Option<&str>) -> bool {
    code == "22003" && file == Some("numutils.c")
}

/// The last quoted name in a message.
fn last_quoted(message: &str) -> Option<String> {
    let (before, _) = message.rsplit_once('"')?;
    before.rsplit_once('"').map(|(_, name)| name.to_owned())
}

/// The PostgreSQL source files that parse paths and queries.
const READERS: [&str; 4] = ["ltree_io.c", "ltxtquery_io.c", "tsquery.c", "jsonpath.c"];

/// An error about a client's input, or about an extension that such a filter needs.
pub(super) fn of_client(code: &str, message: &str, file: Option<&str>) -> Option<DbError> {
    Some(match code {
        // As reported by a character set conversion, rather than by the JSON parser. Stored values
        // are converted to UTF-8, and values of clients from it.
        "22P05" if file == Some("mbutils.c") && last_quoted(message).as_deref() != Some("UTF8") => {
            DbError::NoCharacter(
                last_quoted(message)
                    .map(|name| format!(", {name}"))
                    .unwrap_or_default(),
            )
        }
        // The text of the message depends on the server's language, but not the name of the type in
        // it.
        "42704" if message.contains("ltree") || message.contains("lquery") => {
            DbError::NoExtension("ltree")
        }
        // Program limits, such as the depth of a query. If no text was being parsed, the message
        // may name an index.
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
    /// Returns the error that a client may see.
    #[cold]
    pub fn into_error(self) -> Error {
        let text = self.to_string();
        match self {
            Self::Unreachable
            | Self::SettingUp
            | Self::Misconfigured(_)
            | Self::PoolTimedOut
            | Self::TooManyConnections
            | Self::Unanswered
            | Self::ConnectionLost
            | Self::Unsent
            | Self::OutcomeUnknown
            | Self::NoExtension(_) => Error::new(ErrorCode::ServiceUnavailable, text),
            // The source allows a repetition of the transaction.
            Self::Changed => {
                Error::new(ErrorCode::ServiceUnavailable, text).with_source(DriverError::Changed)
            }
            // Clients do not need to know how the service is protected.
            Self::UnboundPolicies => Error::new(
                ErrorCode::ServiceUnavailable,
                "the service does not use its database at present",
            ),
            Self::Timeout => Error::new(ErrorCode::Timeout, text),
            Self::BadPattern(_)
            | Self::TooComplex
            | Self::BadValue(_)
            | Self::BadCursor
            | Self::FirstAndLast
            | Self::NoOrder
            | Self::Nul
            | Self::NoCharacter(_)
            | Self::NegativePage(_)
            | Self::PageTooLarge(..) => Error::new(ErrorCode::BadUserInput, text),
            Self::BadVariable(_) => Error::new(ErrorCode::BadRequest, text),
            Self::Refused(error) => *error,
            Self::InTransaction(error) => error.into_error(),
            // The cause may describe rows that the policy hides, so it goes only to the log.
            Self::Policy(_) => {
                Error::new(ErrorCode::Forbidden, "the rows are not allowed").with_source(text)
            }
            #[cfg(feature = "sqlx")]
            Self::Sqlx(error) => match svc_core::error::sqlstate::sqlx_condition(&error) {
                Some(condition) => condition.to_error().with_source(error),
                None => Error::internal("a statement failed").with_source(error),
            },
            Self::Driver(error) => error.into_error(),
            // Clients do not need to know its name.
            Self::UnknownSource(_) => MISSING.to_error().with_source(text),
            Self::NoSession
            | Self::TransactionFailed
            | Self::TransactionEnded
            | Self::PartOpen
            | Self::UnknownFunction(_)
            | Self::UnknownType(_)
            | Self::UnknownColumn { .. }
            | Self::NoSource { .. }
            | Self::NoKey { .. }
            | Self::Relation(_)
            | Self::RelationToMany(_) => Error::internal(text),
        }
    }
}
