//! A captured error, to be written to the tables.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::context::ErrorContext;
use svc_core::error::{ErrorIds, ErrorLocation, Stack};
use svc_core::trace;

/// The maximum length of a message, in characters.
const MESSAGE: usize = 2_000;
/// The maximum length of any other text, in characters.
const TEXT: usize = 200;
/// The maximum size of the values that a program adds, in bytes.
const CONTEXT: usize = 8 << 10;

/// A captured error.
#[derive(Debug)]
pub(super) struct Exception {
    pub(super) id: Uuid,
    pub(super) at: DateTime<Utc>,
    pub(super) kind: String,
    pub(super) file: String,
    pub(super) line: i32,
    pub(super) function: String,
    pub(super) message: String,
    pub(super) stack: Option<Stack>,
    pub(super) times: i32,
    pub(super) request_id: Option<String>,
    pub(super) trace_id: Option<String>,
    pub(super) span_id: Option<String>,
    pub(super) user_id: Option<String>,
    pub(super) operation: Option<String>,
    pub(super) context: Value,
}

impl Exception {
    /// Creates an error that happens now.
    pub(super) fn new(
        ids: &ErrorIds,
        raised: &ErrorLocation,
        function: &str,
        message: &str,
    ) -> Self {
        Self {
            id: ids.error,
            at: Utc::now(),
            kind: cut(&raised.kind, TEXT),
            file: cut(&raised.file, TEXT),
            line: i32::try_from(raised.line).unwrap_or(i32::MAX),
            function: cut(function, TEXT),
            message: cut(message, MESSAGE),
            stack: raised.stack.clone(),
            times: 1,
            request_id: ids.request().map(str::to_owned),
            trace_id: ids.trace().map(str::to_owned),
            span_id: trace::span_id(),
            user_id: None,
            operation: None,
            context: Value::Object(Map::new()),
        }
    }

    /// Adds the context passed by the program.
    pub(super) fn within(self, context: ErrorContext) -> Self {
        let values: Map<_, _> = context
            .values
            .into_iter()
            .map(|(key, value)| (cut(&key, TEXT), plain(value)))
            .collect();

        let values = Value::Object(values);
        let size = values.to_string().len();
        let fits = size <= CONTEXT;

        Self {
            user_id: context.user_id.map(|user| cut(&user, TEXT)),
            operation: context.operation.map(|operation| cut(&operation, TEXT)),
            context: if fits {
                values
            } else {
                serde_json::json!({ "too_large": size })
            },
            ..self
        }
    }

    /// Returns the hash of the properties that errors are grouped by: type, file, line and
    /// function.
    pub(super) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for part in [
            &*self.kind,
            &self.file,
            &self.line.to_string(),
            &self.function,
        ] {
            hash.update(part);

            // The separator keeps `ab` + `c` and `a` + `bc` apart.
            hash.update([0]);
        }

        hex::encode(hash.finalize())
    }
}

/// Truncates a text, and replaces NUL, which PostgreSQL cannot store.
pub(super) fn cut(text: &str, most: usize) -> String {
    text.chars()
        .take(most)
        .map(|letter| if letter == '\0' { '\u{fffd}' } else { letter })
        .collect()
}

/// Converts a value to one that PostgreSQL can store: without NUL, and with numbers out of range as
/// text.
fn plain(value: Value) -> Value {
    match value {
        Value::String(text) => cut(&text, CONTEXT).into(),
        // With serde_json's feature `arbitrary_precision`, which any crate may enable, a number can
        // exceed the range of `numeric`, as which `jsonb` stores it.
        Value::Number(number)
            if number.to_string().len() > 40 || !number.as_f64().is_some_and(f64::is_finite) =>
        {
            cut(&number.to_string(), TEXT).into()
        }
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, value)| (cut(&key, TEXT), plain(value)))
                .collect(),
        ),
        other => other,
    }
}
