//! The spans of work inside a request whose trace is sampled.

use std::future::Future;
use std::time::Duration;

use opentelemetry::trace::{
    FutureExt as _, Link, Span as _, SpanContext, SpanKind, Status, TraceContextExt as _,
    Tracer as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};
use uuid::Uuid;

use super::provider::{Provider, provider};

/// The maximum length, in characters, of a name chosen by a client.
const MAX_NAME_LENGTH: usize = 200;
/// The maximum time that a stopping service waits for the collector.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// Returns the identifier of the trace of the current task's request, as 32 hexadecimal digits;
/// `None` if it is not sampled, or if `setup_tracing` was not called.
///
/// ```
/// assert_eq!(svc::trace::trace_id(), None);
/// ```
pub fn trace_id() -> Option<String> {
    // Without tracing, the context of the thread is not even looked at.
    provider()?;
    Context::map_current(|context| {
        let span = context.span();
        let span = span.span_context();
        span.is_sampled().then(|| span.trace_id().to_string())
    })
}

/// Returns the identifier of the current task's span, as 16 hexadecimal digits; `None` whenever
/// [`trace_id`] is.
///
/// ```
/// assert_eq!(svc::trace::span_id(), None);
/// ```
pub fn span_id() -> Option<String> {
    provider()?;
    Context::map_current(|context| {
        let span = context.span();
        let span = span.span_context();
        span.is_sampled().then(|| span.span_id().to_string())
    })
}

/// Records an error in the current span: only its identifier, as the message may quote values.
pub(crate) fn note_error(id: Uuid) {
    if provider().is_none() {
        return;
    }

    Context::map_current(|context| {
        let span = context.span();
        if span.is_recording() {
            let attribute = || KeyValue::new("svc.error.id", id.to_string());
            // An event for each error; the attribute, which is searchable, contains the last one.
            span.add_event("exception", vec![attribute()]);
            span.set_attribute(attribute());
        }
    });
}

/// Returns the tracer if the current trace is sampled.
fn sampled() -> Option<&'static SdkTracer> {
    Some(&sampling()?.tracer)
}

fn sampling() -> Option<&'static Provider> {
    let provider = provider()?;
    let is_sampled = Context::map_current(|context| context.span().span_context().is_sampled());
    is_sampled.then_some(provider)
}

/// Sends pending spans before the program ends.
pub async fn flush() {
    let Some(provider) = provider() else { return };

    // The flush blocks until the exporter's requests are done, and these run in this runtime.
    let flushed = tokio::task::spawn_blocking(|| provider.sdk.force_flush());
    match tokio::time::timeout(LAST_SPANS, flushed).await {
        Ok(Ok(Ok(()))) => {}
        _ => tracing::warn!("spans were lost: the collector did not accept them before shutdown"),
    }
}

/// A span of an operation, a root field or a step. It ends when it is dropped.
pub struct OpenSpan(Context);

/// The span of a subscription, which the traces of its events are linked to.
pub struct SpanLink(SpanContext);

/// The span of a statement. It ends when it is dropped.
#[derive(Debug)]
pub struct StatementSpan {
    span: Span,
    /// Whether the statement carries the span in a comment.
    is_told: bool,
}

impl OpenSpan {
    /// Starts the span of an operation; `None` if the trace is not sampled.
    pub fn operation<'a>(
        kind: &'static str,
        name: impl FnOnce() -> Option<&'a str>,
        document: &str,
    ) -> Option<Self> {
        let provider = sampling()?;
        let attributes = operation_attributes(provider, kind, name(), document);
        Some(Self::started(&provider.tracer, kind.to_owned(), attributes))
    }

    /// Starts the span of an operation on a WebSocket, which starts a new trace.
    pub fn of_socket<'a>(
        kind: &'static str,
        name: impl FnOnce() -> Option<&'a str>,
        document: &str,
    ) -> Option<Self> {
        let provider = provider()?;

        // A socket may be open for days, so its operations do not join the trace of its upgrade.
        let span = provider
            .tracer
            .span_builder(kind)
            .with_kind(SpanKind::Server)
            .start_with_context(&provider.tracer, &Context::new());

        if !span.span_context().is_sampled() {
            return None;
        }

        // The attributes are created after the decision, because most traces are not sampled.
        let span = Self(Context::new().with_span(span));
        span.0
            .span()
            .set_attributes(operation_attributes(provider, kind, name(), document));

        Some(span)
    }

    /// Starts the span of a step, such as parsing a document, with an optional attribute.
    pub fn step(name: &'static str, attribute: Option<(&'static str, &str)>) -> Option<Self> {
        let tracer = sampled()?;
        let attributes = attribute.map(|(key, value)| KeyValue::new(key, short(value)));
        Some(Self::started(
            tracer,
            name.to_owned(),
            attributes.into_iter().collect(),
        ))
    }

    /// Adds an attribute to the span.
    pub fn note(&self, key: &'static str, value: bool) {
        self.0.span().set_attribute(KeyValue::new(key, value));
    }

    /// Returns a link to the span.
    pub fn link(&self) -> SpanLink {
        SpanLink(self.0.span().span_context().clone())
    }

    /// Starts a span of the program's own work; `is_call` marks a call to another service.
    pub(super) fn own(
        name: String,
        attributes: Vec<(&'static str, String)>,
        is_call: bool,
    ) -> Option<Self> {
        let tracer = sampled()?;
        let attributes = attributes
            .into_iter()
            .map(|(key, value)| KeyValue::new(key, value));
        let kind = if is_call {
            SpanKind::Client
        } else {
            SpanKind::Internal
        };

        let span = tracer
            .span_builder(name)
            .with_kind(kind)
            .with_attributes(attributes);

        Some(Self(Context::current_with_span(span.start(tracer))))
    }

    /// Starts the span of a root field, such as `Query.users`, with its key in the response.
    pub fn root_field(coordinate: &str, key: &str) -> Option<Self> {
        let tracer = sampled()?;
        Some(Self::started(
            tracer,
            coordinate.to_owned(),
            vec![KeyValue::new("graphql.field.path", short(key))],
        ))
    }

    fn started(tracer: &SdkTracer, name: String, attributes: Vec<KeyValue>) -> Self {
        let span = tracer
            .span_builder(name)
            .with_kind(SpanKind::Internal)
            .with_attributes(attributes);
        Self(Context::current_with_span(span.start(tracer)))
    }

    /// Runs a future in the span.
    pub async fn around<F: Future>(&self, work: F) -> F::Output {
        work.with_context(self.0.clone()).await
    }

    /// Records an error with this code.
    pub fn failed(&self, code: &str) {
        let span = self.0.span();
        span.set_attribute(KeyValue::new("error.type", code.to_owned()));
        span.set_status(Status::error(""));
    }
}

impl SpanLink {
    /// Starts the span of an event, which starts a new trace; `None` if that is not sampled.
    pub fn event(&self, coordinate: &str) -> Option<OpenSpan> {
        let tracer = &provider()?.tracer;
        let span = tracer
            .span_builder(coordinate.to_owned())
            .with_kind(SpanKind::Consumer);
        let span = span.with_links(vec![Link::with_context(self.0.clone())]);

        // The trace of a subscription could otherwise grow for as long as the client listens.
        let span = span.start_with_context(tracer, &Context::new());

        span.span_context()
            .is_sampled()
            .then(|| OpenSpan(Context::new().with_span(span)))
    }
}

/// Whether spans contain the texts of documents.
pub(super) fn tells_documents() -> bool {
    provider().is_some_and(|provider| provider.tells_documents)
}

/// Whether spans of statements have the older attribute names too.
pub(super) fn has_older_db_attributes() -> bool {
    provider().is_some_and(|provider| provider.older_db_attributes)
}

fn operation_attributes(
    provider: &Provider,
    kind: &'static str,
    name: Option<&str>,
    document: &str,
) -> Vec<KeyValue> {
    // The name is chosen by the client, so it is an attribute and not the span's name.
    let mut attributes = vec![KeyValue::new("graphql.operation.type", kind)];
    attributes.extend(name.map(|name| KeyValue::new("graphql.operation.name", short(name))));
    if provider.tells_documents {
        attributes.push(KeyValue::new("graphql.document", document.to_owned()));
    }
    attributes
}

impl StatementSpan {
    /// Starts the span of a statement, with its kind and its subject if available. A statement
    /// without a subject may be SQL of the program with values in it, so its text is not recorded.
    pub fn begin(subject: Option<(&'static str, &str)>, sql: &str) -> Option<Self> {
        let Provider {
            tracer,
            sql_comments: is_told,
            older_db_attributes: has_older,
            ..
        } = sampling()?;

        let mut attributes = vec![KeyValue::new("db.system.name", "postgresql")];
        if *has_older {
            attributes.push(KeyValue::new("db.system", "postgresql"));
        }

        let name = match subject {
            None => "postgresql".to_owned(),
            Some((kind, subject)) => {
                let operation = operation_name(kind);
                let summary = format!("{operation} {subject}");
                attributes.push(KeyValue::new("db.operation.name", operation));
                attributes.push(KeyValue::new(subject_attribute(kind), subject.to_owned()));
                attributes.push(KeyValue::new("db.query.summary", summary.clone()));
                attributes.push(KeyValue::new("db.query.text", sql.to_owned()));
                if *has_older {
                    attributes.push(KeyValue::new("db.statement", sql.to_owned()));
                }
                summary
            }
        };

        let span = tracer
            .span_builder(name)
            .with_kind(SpanKind::Client)
            .with_attributes(attributes);

        Some(Self {
            span: span.start(tracer),
            is_told: *is_told,
        })
    }

    /// Returns the comment that passes the span to PostgreSQL; `None` if comments are disabled.
    pub fn comment(&self) -> Option<String> {
        let span = self.span.span_context();

        // The flag `01` means sampled (W3C Trace Context); a statement of another trace has no
        // span.
        self.is_told.then(|| {
            format!(
                " /*traceparent='00-{}-{}-01'*/",
                span.trace_id(),
                span.span_id()
            )
        })
    }

    /// Records that the statement failed, with the SQLSTATE if PostgreSQL returned one.
    pub fn failed(&mut self, code: Option<&str>) {
        if let Some(code) = code {
            self.span
                .set_attribute(KeyValue::new("db.response.status_code", code.to_owned()));
        }

        self.span.set_attribute(KeyValue::new(
            "error.type",
            code.unwrap_or("connection").to_owned(),
        ));

        self.span.set_status(Status::error(""));
    }
}

fn operation_name(kind: &'static str) -> &'static str {
    match kind {
        "call" => "CALL",
        _ => "SELECT",
    }
}

fn subject_attribute(kind: &str) -> &'static str {
    match kind {
        "select" => "db.collection.name",
        "call" => "db.stored_procedure.name",
        _ => "graphql.operation.name",
    }
}

fn short(name: &str) -> String {
    name.chars().take(MAX_NAME_LENGTH).collect()
}
