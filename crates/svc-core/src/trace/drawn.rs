//! The traces that start in this process; most are not sampled.

use std::cell::Cell;

use opentelemetry::Context;
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId, TraceState,
};
use opentelemetry_sdk::trace::{
    IdGenerator, RandomIdGenerator, Sampler, SamplingDecision, ShouldSample as _,
};

thread_local! {
    /// The identifier of the trace that this thread is about to start.
    static DRAWN: Cell<Option<TraceId>> = const { Cell::new(None) };
}

/// Generates the identifier of a trace and decides whether it is sampled. Returns the context of a
/// trace that is not sampled; a sampled one gets the identifier with the next span that starts
/// without a parent on this thread.
///
/// The SDK's spans that are not sampled would count references shared by all threads, for each
/// request.
pub(super) fn unsampled(sampler: &Sampler) -> Option<Context> {
    let ids = RandomIdGenerator::default();
    let id = ids.new_trace_id();
    let decided = sampler.should_sample(None, id, "", &SpanKind::Server, &[], &[]);

    if decided.decision != SamplingDecision::Drop {
        // The SDK asks the sampler again, which decides the same for the same identifier.
        DRAWN.set(Some(id));
        return None;
    }

    let span = SpanContext::new(
        id,
        ids.new_span_id(),
        TraceFlags::NOT_SAMPLED,
        false,
        TraceState::NONE,
    );

    Some(Context::new().with_remote_span_context(span))
}

/// Generates identifiers: the prepared one if there is one, else a random one.
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
