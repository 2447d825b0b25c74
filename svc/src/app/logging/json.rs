//! Log lines as JSON, one object each.

use std::fmt;

use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use svc_telemetry::security_log::one_line;

/// The keys present in every line; an event's field with one of these names is renamed.
const OWN: [&str; 5] = ["timestamp", "level", "target", "message", "spans"];

/// The target of security events, whose metadata are an object.
const SECURITY: &str = "svc::security";

/// Formats the line that announces the service's address like every other line.
pub(super) fn serving(text: &str) -> String {
    let timestamp = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
    let line = serde_json::json!({ "timestamp": timestamp, "level": "INFO", "target": "svc", "message": text });
    one_line(&line)
}

/// Writes an event as a JSON object: time, level, target, message, the event's fields at the top
/// level, and its spans.
pub(super) struct JsonLines;

/// The fields of an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        cx: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        if metadata.target() == SECURITY {
            fields.parse("metadata");
        }

        let mut line = Map::new();
        line.insert(
            "timestamp".to_owned(),
            Utc::now()
                .to_rfc3339_opts(SecondsFormat::Micros, true)
                .into(),
        );

        line.insert("level".to_owned(), metadata.level().as_str().into());
        line.insert("target".to_owned(), metadata.target().into());
        line.insert("message".to_owned(), fields.message(metadata.name()));

        for (name, value) in fields.0 {
            // Readers disagree on which of two equal keys counts (RFC 8259, section 4).
            let name = if OWN.contains(&name.as_str()) {
                format!("field.{name}")
            } else {
                name
            };
            line.insert(name, value);
        }

        let spans = cx
            .event_scope()
            .into_iter()
            .flat_map(|scope| scope.from_root())
            .map(|span| {
                let fields = span
                    .extensions()
                    .get::<FormattedFields<N>>()
                    .map(|fields| fields.fields.clone());
                serde_json::json!({ "name": span.name(), "fields": fields.unwrap_or_default() })
            });

        let spans = spans.collect::<Vec<_>>();
        if !spans.is_empty() {
            line.insert("spans".to_owned(), spans.into());
        }

        writeln!(writer, "{}", one_line(&Value::Object(line)))
    }
}

impl Fields {
    /// Returns the message; a security event has none, so its type is used instead.
    fn message(&mut self, name: &str) -> Value {
        let message = self
            .0
            .remove("message")
            .or_else(|| self.0.get("event_type").cloned());
        message.unwrap_or_else(|| name.into())
    }

    /// Replaces a field's text with the JSON value that it contains.
    fn parse(&mut self, name: &str) {
        let Some(field) = self.0.get_mut(name) else {
            return;
        };

        if let Some(value) = field
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok())
        {
            *field = value;
        }
    }

    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.insert(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value);
    }
}
