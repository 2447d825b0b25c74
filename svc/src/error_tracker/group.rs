//! Groups of errors and their occurrences, as the tables have them.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

/// The state of a group of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorState {
    /// Somebody should look at it.
    Unresolved,
    /// It is repaired; the next occurrence makes it unresolved again.
    Resolved,
    /// Nobody wants to look at it, whatever happens.
    Ignored,
}

impl ErrorState {
    /// Returns the state as the tables have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::Resolved => "resolved",
            Self::Ignored => "ignored",
        }
    }

    fn read(text: &str) -> Self {
        match text {
            "resolved" => Self::Resolved,
            "ignored" => Self::Ignored,
            _ => Self::Unresolved,
        }
    }
}

/// A group of errors: those of one type that were raised at one place in one function.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ErrorGroup {
    /// The identifier of the group.
    pub id: Uuid,
    /// The hash of type, file, line and function, in hexadecimal digits.
    pub fingerprint: String,
    /// The type, such as `std::io::Error` or `panic`.
    pub error_type: String,
    /// The file in which it was raised; empty where no code has raised it.
    pub file: String,
    /// The line in that file.
    pub line: i32,
    /// The function: of an error in a field, that field, such as `Query.users`.
    pub function: String,
    /// The last message.
    pub message: String,
    /// The state.
    pub state: ErrorState,
    /// The number of times that it has occurred.
    pub occurrences: i64,
    /// The number of times that it has occurred after it was resolved.
    pub times_reopened: i32,
    /// The time of the first occurrence.
    pub first_seen: DateTime<Utc>,
    /// The time of the last occurrence.
    pub last_seen: DateTime<Utc>,
    /// The release of the first occurrence.
    pub first_release: String,
    /// The release of the last occurrence.
    pub last_release: String,
}

/// An occurrence of an error. A group keeps its last 100.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ErrorOccurrence {
    /// The `errorId` of the answer and the log.
    pub id: Uuid,
    /// The group that it belongs to.
    pub group_id: Uuid,
    /// The time.
    pub occurred_at: DateTime<Utc>,
    /// The number of errors of the request that it stands for.
    pub times: i32,
    /// The message and its causes, as the log has them.
    pub message: String,
    /// The stack, which is taken ten times a second at most, and for each group once in a minute.
    pub stack_trace: Option<String>,
    /// The environment of the process.
    pub environment: String,
    /// The release of the process.
    pub release_version: String,
    /// The request.
    pub request_id: Option<String>,
    /// The trace, where the request was sampled.
    pub trace_id: Option<String>,
    /// The span in it.
    pub span_id: Option<String>,
    /// The user.
    pub user_id: Option<String>,
    /// The name of the operation.
    pub operation: Option<String>,
    /// The values that the program has added.
    pub context: Value,
}

pub(super) fn group(row: &PgRow) -> Result<ErrorGroup, sqlx::Error> {
    Ok(ErrorGroup {
        id: row.try_get("id")?,
        fingerprint: row.try_get("fingerprint")?,
        error_type: row.try_get("type")?,
        file: row.try_get("file")?,
        line: row.try_get("line")?,
        function: row.try_get("function")?,
        message: row.try_get("message")?,
        state: ErrorState::read(row.try_get("state")?),
        occurrences: row.try_get("occurrences")?,
        times_reopened: row.try_get("times_reopened")?,
        first_seen: row.try_get("first_seen")?,
        last_seen: row.try_get("last_seen")?,
        first_release: row.try_get("first_release")?,
        last_release: row.try_get("last_release")?,
    })
}

pub(super) fn occurrence(row: &PgRow) -> Result<ErrorOccurrence, sqlx::Error> {
    Ok(ErrorOccurrence {
        id: row.try_get("id")?,
        group_id: row.try_get("group_id")?,
        occurred_at: row.try_get("occurred_at")?,
        times: row.try_get("times")?,
        message: row.try_get("message")?,
        stack_trace: row.try_get("stack_trace")?,
        environment: row.try_get("environment")?,
        release_version: row.try_get("release_version")?,
        request_id: row.try_get("request_id")?,
        trace_id: row.try_get("trace_id")?,
        span_id: row.try_get("span_id")?,
        user_id: row.try_get("user_id")?,
        operation: row.try_get("operation")?,
        context: row.try_get("context")?,
    })
}
