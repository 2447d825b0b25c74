//! The spans of builds without the feature `tracing-otel`, which have none.

use std::convert::Infallible;
use std::future::Future;

/// Adds the context of the current trace to headers; without the feature `tracing-otel` there is
/// none.
pub fn inject_context(_: &mut axum::http::HeaderMap) {}

/// Returns the identifier of the current trace; without the feature `tracing-otel` there is none.
pub fn trace_id() -> Option<String> {
    None
}

/// Returns the identifier of the current span; without the feature `tracing-otel` there is none.
pub fn span_id() -> Option<String> {
    None
}

/// Records an error in the current span; there is none.
pub(crate) fn note_error(_: uuid::Uuid) {}

/// Sends pending spans; there are none.
pub async fn flush() {}

/// A span of an operation or a root field.
pub struct OpenSpan(Infallible);

/// The span of a subscription.
pub struct SpanLink(Infallible);

/// The span of a statement.
#[derive(Debug)]
pub struct StatementSpan(Infallible);

impl OpenSpan {
    pub fn operation<'a>(
        _: &'static str,
        _: impl FnOnce() -> Option<&'a str>,
        _: &str,
    ) -> Option<Self> {
        None
    }

    pub fn of_socket<'a>(
        _: &'static str,
        _: impl FnOnce() -> Option<&'a str>,
        _: &str,
    ) -> Option<Self> {
        None
    }

    pub fn step(_: &'static str, _: Option<(&'static str, &str)>) -> Option<Self> {
        None
    }

    pub(super) fn own(_: String, _: Vec<(&'static str, String)>, _: bool) -> Option<Self> {
        None
    }

    pub fn note(&self, _: &'static str, _: bool) {
        match self.0 {}
    }

    pub fn link(&self) -> SpanLink {
        match self.0 {}
    }

    pub fn root_field(_: &str, _: &str) -> Option<Self> {
        None
    }

    pub async fn around<F: Future>(&self, _: F) -> F::Output {
        match self.0 {}
    }

    pub fn failed(&self, _: &str) {
        match self.0 {}
    }
}

impl SpanLink {
    pub fn event(&self, _: &str) -> Option<OpenSpan> {
        match self.0 {}
    }
}

/// Whether spans contain the texts of documents.
pub(super) fn tells_documents() -> bool {
    false
}

/// Whether spans of statements have the older attribute names too.
pub(super) fn has_older_db_attributes() -> bool {
    false
}

impl StatementSpan {
    pub fn comment(&self) -> Option<String> {
        match self.0 {}
    }

    pub fn failed(&mut self, _: Option<&str>) {
        match self.0 {}
    }

    pub fn begin(_: Option<(&'static str, &str)>, _: &str) -> Option<Self> {
        None
    }
}
