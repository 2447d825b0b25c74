//! Groups of errors and their occurrences, as stored in the tables.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

/// The state of a group of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorState {
    /// It needs attention.
    Unresolved,
    /// It is fixed; the next occurrence makes it unresolved again.
    Resolved,
    /// It is ignored, even if it occurs again.
    Ignored,
}

impl ErrorState {
    /// Returns the state as stored in the tables.
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

/// A group of errors: errors of one type, raised at one location in one function.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ErrorGroup {
    /// The identifier of the group.
    pub id: Uuid,
    /// The hash of type, file, line and function, in hexadecimal digits.
    pub fingerprint: String,
    /// The type, such as `std::io::Error` or `panic`.
    pub error_type: String,
    /// The file that raised it; empty if it was not raised by code.
    pub file: String,
    /// The line in that file.
    pub line: i32,
    /// The function; for an error in a field, the field's coordinate, such as `Query.users`.
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
    /// The `errorId` in the response and the log.
    pub id: Uuid,
    /// The group of the occurrence.
    pub group_id: Uuid,
    /// The time.
    pub occurred_at: DateTime<Utc>,
    /// The number of errors in the request that this occurrence represents.
    pub times: i32,
    /// The message and its causes, as in the log.
    pub message: String,
    /// The stack, which is captured ten times a second at most, and once a minute for each group.
    pub stack_trace: Option<String>,
    /// The environment of the process.
    pub environment: String,
    /// The release of the process.
    pub release_version: String,
    /// The request.
    pub request_id: Option<String>,
    /// The trace, if the request was sampled.
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

pub(crate) fn group(row: &PgRow) -> Result<ErrorGroup, sqlx::Error> {
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
