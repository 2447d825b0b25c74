//! The log of field errors, bounded for each request.

use uuid::Uuid;

use crate::graphql::context::ExecutionContext;
use crate::graphql::response::{FieldError, Logged, Segment};
use svc_core::error::ErrorIds;
use svc_telemetry::error_tracker::{Facts, capture, is_tracking};

/// The maximum number of lines for the errors of a request; one more line counts the remaining
/// errors.
const LINES: usize = 10;

/// A line's texts are cut to this many characters: keys come from the client, and messages may
/// quote values.
const TEXT: usize = 2_000;

/// A line of the log, for all errors with the same message and causes.
#[derive(Debug)]
struct Line {
    id: Uuid,
    /// The index of its first error.
    first: usize,
    times: usize,
}

/// Logs the parts of a request's errors that clients do not see. Masked errors get the `errorId` of
/// their line, so that each can be found in the log; equal errors share a line, and errors beyond
/// the first lines share the last one.
pub(super) fn log_errors<'e>(
    cx: &ExecutionContext<'_>,
    errors: impl Iterator<Item = &'e mut FieldError>,
) {
    let mut errors: Vec<_> = errors.filter(|error| error.logged.is_some()).collect();
    let mut lines: Vec<Line> = Vec::new();
    for index in 0..errors.len() {
        let chain = chain_of(errors[index]);
        let known = lines
            .iter()
            .take(LINES)
            .position(|line| chain_of(errors[line.first]) == chain);
        let at = known.unwrap_or(lines.len().min(LINES));
        if at == lines.len() {
            lines.push(Line {
                id: Uuid::new_v4(),
                first: index,
                times: 0,
            });
        }

        lines[at].times += 1;
        errors[index].set_id(lines[at].id);

        if cx.development {
            errors[index].tell_sqlstate();
        }
    }

    if lines.is_empty() {
        return;
    }

    let facts = is_tracking().then(|| facts(cx));

    for (index, line) in lines.iter().enumerate() {
        let (ids, error) = (ErrorIds::of(line.id), &*errors[line.first]);
        line.write(&ids, error, index == LINES);

        if let (
            Some(facts),
            Some(Logged {
                raised: Some(raised),
                chain,
                ..
            }),
        ) = (&facts, &error.logged)
        {
            capture(&ids, raised, &error.field, chain, line.times, facts);
        }
    }
}

/// The facts about the request for the error tracker.
fn facts(cx: &ExecutionContext<'_>) -> Facts {
    let user_id = cx.context.request.parts().user_id().map(str::to_owned);
    Facts {
        operation: cx.operation.name().map(str::to_owned),
        user_id,
    }
}

fn chain_of(error: &FieldError) -> &str {
    error.logged.as_ref().map_or("", |logged| &logged.chain)
}

impl Line {
    fn write(&self, ids: &ErrorIds, error: &FieldError, is_rest: bool) {
        let (id, times, request_id, trace_id) = (self.id, self.times, ids.request(), ids.trace());
        let path = shown(&error.path);
        let (path, chain) = (cut(&path), cut(chain_of(error)));

        if is_rest {
            tracing::error!(error_id = %id, request_id, trace_id, path, error = chain, times, "more fields failed; this is the first of them");
        } else if times > 1 {
            tracing::error!(error_id = %id, request_id, trace_id, path, error = chain, times, "fields failed with the same error; this is the first of them");
        } else {
            tracing::error!(error_id = %id, request_id, trace_id, path, error = chain, "a field failed");
        }
    }
}

fn cut(text: &str) -> &str {
    text.char_indices()
        .nth(TEXT)
        .map_or(text, |(end, _)| &text[..end])
}

fn shown(path: &[Segment]) -> String {
    serde_json::to_string(path).unwrap_or_default()
}
