//! Events as delivered to subscribers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use svc_core::exact_json::ExactJson;
use svc_core::log_throttle::LogThrottle;
use svc_core::schema::key_text;
use svc_postgres::SharedReads;

/// An event on a channel, shared by all subscribers of the channel.
#[derive(Debug)]
pub struct Event {
    pub(crate) payload: String,
    /// The row that it is about, if it names one.
    pub(crate) row: Option<RowEvent>,
    is_told: AtomicBool,
}

/// The part of an event that is about a row.
#[derive(Debug)]
pub(crate) struct RowEvent {
    /// The row's `id`, as text.
    pub(crate) id: String,
    pub(crate) operation: Operation,
    values: ExactJson,
    /// The reads shared by the subscribers that respond with the row.
    pub(crate) reads: Arc<SharedReads>,
}

/// The change that an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The row exists, new or changed.
    Changed,
    /// The row was deleted.
    Deleted,
}

impl Event {
    pub(crate) fn new(payload: String) -> Self {
        let row = RowEvent::read(&payload);
        Self {
            payload,
            row,
            is_told: AtomicBool::new(false),
        }
    }

    /// Logs that a subscriber waits for rows, and the event names none. `dropped` limits the log
    /// lines of a hub.
    pub(super) fn warn(&self, reason: &'static str, dropped: &LogThrottle) {
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }

        dropped.log(move |events| {
            tracing::warn!(
                events,
                reason,
                "dropped an event that names no row, of a subscription without a body"
            );
        });
    }
}

impl RowEvent {
    /// Reads `{"id": …, "op": …, …}`.
    fn read(payload: &str) -> Option<Self> {
        let values = ExactJson::read(payload).ok()?;

        // PostgreSQL has no such character in texts.
        let id = values
            .get("id")
            .and_then(key_text)
            .filter(|id| !id.contains('\0'))?;

        // `op` may be missing, as in a payload that a program sends: the row is then read again,
        // which finds out whether it exists.
        let operation = match values.get("op").and_then(ExactJson::as_str) {
            Some("delete") => Operation::Deleted,
            _ => Operation::Changed,
        };

        Some(Self {
            id,
            operation,
            values,
            reads: SharedReads::new(),
        })
    }

    /// A further value of the payload.
    pub(crate) fn value(&self, key: &str) -> Option<&ExactJson> {
        self.values.get(key)
    }
}

#[cfg(test)]
mod tests {
    use super::{Operation, RowEvent};

    fn read(payload: &str) -> Option<(String, Operation)> {
        RowEvent::read(payload).map(|row| (row.id, row.operation))
    }

    #[test]
    fn a_payload_names_a_row_or_none() {
        assert_eq!(
            read(r#"{"id": "a", "op": "insert"}"#),
            Some(("a".to_owned(), Operation::Changed))
        );
        assert_eq!(
            read(r#"{"id": 9007199254740993, "op": "delete"}"#),
            Some(("9007199254740993".to_owned(), Operation::Deleted))
        );
        assert_eq!(
            read(r#"{"id": 1}"#),
            Some(("1".to_owned(), Operation::Changed))
        );

        for payload in [
            "",
            "1",
            "[]",
            r#"{"op": "update"}"#,
            r#"{"id": null}"#,
            r#"{"id": [1]}"#,
            "{\"id\": 1",
            r#"{"id": "a\u0000"}"#,
        ] {
            assert_eq!(read(payload), None, "{payload}");
        }
    }
}
