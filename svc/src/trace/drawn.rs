//! The traces that begin here, most of which are not sampled.

use std::cell::Cell;

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId, TraceState};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, Sampler, SamplingDecision, ShouldSample as _};

thread_local! {
    /// The identifier of the trace that this thread is about to begin.
    static DRAWN: Cell<Option<TraceId>> = const { Cell::new(None) };
}

/// Draws the identifier of a trace and decides about it. Returns the context of one that is not sampled; one that is gets
/// the identifier with the next span that begins without a parent on this thread.
///
/// What the SDK makes of a span that is not sampled counts references that all threads share, for each request.
pub(super) fn unsampled(sampler: &Sampler) -> Option<Context> {
    let ids = RandomIdGenerator::default();
    let id = ids.new_trace_id();
    let decided = sampler.should_sample(None, id, "", &SpanKind::Server, &[], &[]);
    if decided.decision != SamplingDecision::Drop {
        DRAWN.set(Some(id));
        return None;
    }
    let span = SpanContext::new(id, ids.new_span_id(), TraceFlags::NOT_SAMPLED, false, TraceState::NONE);
    Some(Context::new().with_remote_span_context(span))
}

/// Identifiers: those that were drawn, or random ones.
#[derive(Debug, Default)]
pub(super) struct DrawnIds(RandomIdGenerator);

impl IdGenerator for DrawnIds {
    fn new_trace_id(&self) -> TraceId {
        DRAWN.take().unwrap_or_else(|| self.0.new_trace_id())
    }

    fn new_span_id(&self) -> SpanId {
        self.0.new_span_id()
    }
}
