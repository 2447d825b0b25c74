//! The rate-limit headers of responses.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::rate_limit::limit::{Found, Standing, number_value};

/// The request header that adds `extensions.rateLimit` to the response.
pub(in crate::rate_limit) const TELL_COST: HeaderName = HeaderName::from_static("x-ratelimit-cost");

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const WINDOW: HeaderName = HeaderName::from_static("x-ratelimit-window");
/// The headers of the IETF draft `draft-ietf-httpapi-ratelimit-headers`.
const DRAFT_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const DRAFT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Converts milliseconds to seconds, rounding up so that clients never retry too early.
pub(super) fn seconds(milliseconds: u64) -> u64 {
    milliseconds.div_ceil(1_000)
}

/// Orders limits by tightness: first the longest wait, then the least remaining.
pub(in crate::rate_limit) fn tightness(standing: &Standing) -> impl Ord + use<> {
    (
        std::cmp::Reverse(standing.wait.unwrap_or_default()),
        standing.remaining,
    )
}

/// Writes the headers of the limit with the longest wait, or else with the least remaining. If the
/// draft's headers are enabled, writes those for all limits.
pub(in crate::rate_limit) fn write(
    headers: &mut HeaderMap,
    status: StatusCode,
    found: &[Found],
    with_draft: bool,
) {
    let Some(Found { limit, standing }) =
        found.iter().min_by_key(|found| tightness(&found.standing))
    else {
        return;
    };

    headers.insert(LIMIT, limit.values.count.clone());
    headers.insert(REMAINING, number_value(standing.remaining));
    headers.insert(RESET, number_value(seconds(standing.reset)));
    headers.insert(WINDOW, limit.values.window.clone());
    if let (Some(wait), StatusCode::TOO_MANY_REQUESTS) = (standing.wait, status) {
        headers.insert(header::RETRY_AFTER, number_value(seconds(wait).max(1)));
    }

    if with_draft {
        write_draft(headers, found);
    }
}

/// Writes the draft's headers, with an item for each limit.
fn write_draft(headers: &mut HeaderMap, found: &[Found]) {
    let (mut policies, mut left) = (Vec::new(), Vec::new());
    for Found { limit, standing } in found {
        if !policies.is_empty() {
            policies.extend_from_slice(b", ");
            left.extend_from_slice(b", ");
        }

        policies.extend_from_slice(limit.values.policy.as_bytes());
        left.extend_from_slice(limit.values.name.as_bytes());
        left.extend_from_slice(b";r=");
        left.extend_from_slice(itoa::Buffer::new().format(standing.remaining).as_bytes());
        left.extend_from_slice(b";t=");

        // For a refused client, more is available only at the end of its wait.
        let reset = standing.wait.unwrap_or(standing.reset);

        left.extend_from_slice(itoa::Buffer::new().format(seconds(reset)).as_bytes());
    }

    for (name, value) in [(DRAFT_POLICY, policies), (DRAFT_LIMIT, left)] {
        if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(value)) {
            headers.insert(name, value);
        }
    }
}
