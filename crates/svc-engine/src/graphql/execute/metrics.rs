//! Measures operations: their durations and their errors.

use std::time::Instant;

use crate::graphql::plan::Plan;
use crate::graphql::response::{Answer, FieldError, Response};
use svc_core::schema::OperationKind;
use svc_core::trace::OpenSpan;
use svc_telemetry::metrics::{Metrics, RunningOperation, get_metrics};
use svc_telemetry::request_log::{note_answer, note_code};

/// The operation name for requests whose operation was not determined.
const UNKNOWN: &str = "unknown";

/// A request whose operation is not determined yet; `None` without metrics.
#[derive(Clone, Copy)]
pub(in crate::graphql) struct Begun(Option<(Metrics, Instant)>);

/// A running operation.
pub(in crate::graphql) struct Measured(Option<(Metrics, RunningOperation)>);

impl Begun {
    /// Starts measuring a request that has just arrived.
    pub(in crate::graphql) fn now() -> Self {
        Self(get_metrics().map(|metrics| (metrics, Instant::now())))
    }

    /// Starts measuring its operation, which may run. Clients choose the names of operations that
    /// are not registered.
    pub(in crate::graphql) fn operation<'a>(
        self,
        plan: &Plan,
        name: impl FnOnce() -> Option<&'a str>,
        is_registered: bool,
    ) -> Measured {
        Measured(self.0.map(|(metrics, began)| {
            (
                metrics,
                metrics.operation(
                    &plan.series,
                    operation_type(plan.kind),
                    name(),
                    is_registered,
                    began,
                ),
            )
        }))
    }
}

impl Measured {
    /// Records the response to the operation.
    pub(in crate::graphql) fn record(self, response: &Response) {
        note_answer(response.answer.code(), response.answer.field_errors());
        if let Some((metrics, running)) = self.0 {
            count(metrics, running, &response.answer);
        }
    }

    /// Records the response to the operation, and returns it.
    pub(in crate::graphql) fn answered(self, response: Response) -> Response {
        self.record(&response);
        response
    }

    /// Records that the operation is a subscription whose events follow from now on.
    pub(in crate::graphql) fn begun(self) {
        if let Some((_, running)) = self.0 {
            running.end(true);
        }
    }
}

/// The name of a kind of operation in series and spans.
pub(crate) fn operation_type(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
        OperationKind::Subscription => "subscription",
    }
}

/// Records the outcome of an operation on its span.
pub(in crate::graphql) fn end_span(span: &OpenSpan, response: &Response) {
    if let Some(code) = response.answer.code() {
        span.failed(code);
    } else if response.answer.field_errors() > 0 {
        span.failed("FIELD_ERRORS");
    }
}

fn count(metrics: Metrics, running: RunningOperation, answer: &Answer) {
    if let Some(code) = answer.code() {
        metrics.error(code, running.name());
    }
    running.end(answer.code().is_none() && answer.field_errors() == 0);
}

/// Counts the field errors in the response to an operation or to one of its events.
pub(in crate::graphql) fn count_errors(plan: &Plan, errors: &[FieldError]) {
    if !errors.is_empty() {
        count_all(plan, errors);
    }
}

#[cold]
#[inline(never)]
fn count_all(plan: &Plan, errors: &[FieldError]) {
    let Some(metrics) = get_metrics() else { return };
    let name = metrics.operation_name(&plan.series);
    errors
        .iter()
        .for_each(|error| metrics.error(&error.code, name.unwrap_or(UNKNOWN)));
}

/// Counts the error of a request that is rejected before its operation is determined.
#[cold]
pub fn count_refusal(code: &str) {
    note_code(code);
    if let Some(metrics) = get_metrics() {
        metrics.error(code, UNKNOWN);
    }
}

/// Counts the error of a request that is rejected before its operation is determined, and returns
/// the response.
#[cold]
pub fn counted_refusal(response: Response) -> Response {
    if let Some(code) = response.answer.code() {
        count_refusal(code);
    }
    response
}
