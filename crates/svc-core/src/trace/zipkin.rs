//! Spans in Zipkin's format (version 2 of its API), as specified by OpenTelemetry
//! (<https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/zipkin/>).
//!
//! The SDK's crate for it is no longer maintained, and omits the name of the service, which Zipkin
//! needs to find traces.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::{Request, Uri, header};
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanId, SpanKind, Status};
use opentelemetry_http::HttpClient as _;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use serde_json::{Map, Value, json};

use super::http_client::ExportClient;

/// The exporter to Zipkin.
#[derive(Debug)]
pub(super) struct ZipkinExporter {
    pub(super) client: ExportClient,
    /// The URL that receives spans.
    pub(super) endpoint: Uri,
    /// The service name under which Zipkin finds them.
    pub(super) service_name: String,
}

impl SpanExporter for ZipkinExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let failed =
            |error: &dyn std::fmt::Display| OTelSdkError::InternalFailure(error.to_string());
        let spans: Value = batch.iter().map(|span| self.span(span)).collect();
        let request =
            Request::post(self.endpoint.clone()).header(header::CONTENT_TYPE, "application/json");
        let request = request
            .body(spans.to_string().into())
            .map_err(|error| failed(&error))?;
        let status = self
            .client
            .send_bytes(request)
            .await
            .map_err(|error| failed(&error))?
            .status();

        if status.is_success() {
            Ok(())
        } else {
            Err(failed(&format!("Zipkin answered with {status}")))
        }
    }
}

impl ZipkinExporter {
    fn span(&self, span: &SpanData) -> Value {
        let mut told = json!({
            "traceId": span.span_context.trace_id().to_string(),
            "id": span.span_context.span_id().to_string(),
            "name": span.name,
            "timestamp": microseconds(span.start_time),
            // Zipkin treats a span without a duration as unfinished.
            "duration": span.end_time.duration_since(span.start_time).unwrap_or_default().as_micros().max(1),
            "localEndpoint": { "serviceName": self.service_name },
            "tags": tags(span),
            "annotations": span.events.iter().map(annotation).collect::<Value>(),
        });

        // In Zipkin's format, a root has no parent; an identifier of zeros would be a missing one.
        if span.parent_span_id != SpanId::INVALID {
            told["parentId"] = span.parent_span_id.to_string().into();
        }

        if let Some(kind) = kind(&span.span_kind) {
            told["kind"] = kind.into();
        }

        told
    }
}

fn annotation(event: &opentelemetry::trace::Event) -> Value {
    let value = match texts(&event.attributes) {
        none if none.is_empty() => event.name.to_string(),
        // OpenTelemetry prescribes this form for an event with attributes.
        attributes => format!("{}: {}", json!(event.name), Value::Object(attributes)),
    };
    json!({ "timestamp": microseconds(event.timestamp), "value": value })
}

/// Returns the attributes as texts, including the data without a separate field in Zipkin's format.
fn tags(span: &SpanData) -> Map<String, Value> {
    let mut tags = texts(&span.attributes);
    tags.insert(
        "otel.scope.name".to_owned(),
        span.instrumentation_scope.name().into(),
    );

    match &span.status {
        Status::Unset => {}
        Status::Ok => drop(tags.insert("otel.status_code".to_owned(), "OK".into())),
        Status::Error { description } => {
            tags.insert("otel.status_code".to_owned(), "ERROR".into());
            tags.insert("error".to_owned(), description.as_ref().into());
        }
    }

    tags
}

fn texts(attributes: &[KeyValue]) -> Map<String, Value> {
    attributes
        .iter()
        // Zipkin only has tags that are strings.
        .map(|pair| (pair.key.to_string(), pair.value.to_string().into()))
        .collect()
}

fn kind(kind: &SpanKind) -> Option<&'static str> {
    match kind {
        SpanKind::Client => Some("CLIENT"),
        SpanKind::Server => Some("SERVER"),
        SpanKind::Producer => Some("PRODUCER"),
        SpanKind::Consumer => Some("CONSUMER"),
        // Zipkin has no such kind.
        SpanKind::Internal => None,
    }
}

fn microseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
