//! The media type that the client wants.

use axum::http::{HeaderMap, header};

/// The media types of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaType {
    /// `application/json`: 200 for every well-formed request.
    Json,
    /// `application/graphql-response+json`: the status tells whether anything ran.
    Response,
}

impl MediaType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::Response => "application/graphql-response+json; charset=utf-8",
        }
    }

    /// The best that `Accept` allows; `None` when it allows neither.
    pub(super) fn negotiate(headers: &HeaderMap) -> Option<Self> {
        if !headers.contains_key(header::ACCEPT) {
            return Some(Self::Json);
        }
        let json = quality(headers, "application/json");
        let response = quality(headers, "application/graphql-response+json");
        let best = if rank(response) > rank(json) { (response, Self::Response) } else { (json, Self::Json) };
        best.0.filter(|found| found.weight > 0).map(|_| best.1)
    }
}

/// Whether a browser asks for a page.
#[cfg(feature = "graphiql")]
pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    quality(headers, "text/html").is_some_and(|found| found.weight > 0 && found.specificity == 2)
}

/// The preference for a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quality {
    /// In thousandths.
    weight: u16,
    /// 2 for a full match, 1 for `type/*`, 0 for `*/*`.
    specificity: u8,
    /// Earlier ranges win among equals.
    position: usize,
}

fn rank(quality: Option<Quality>) -> (u16, u8, std::cmp::Reverse<usize>) {
    quality.map_or((0, 0, std::cmp::Reverse(usize::MAX)), |q| (q.weight, q.specificity, std::cmp::Reverse(q.position)))
}

/// The most specific range of `Accept` that covers `wanted` (RFC 9110, section 12.5.1).
fn quality(headers: &HeaderMap, wanted: &str) -> Option<Quality> {
    let kind = wanted.split('/').next().unwrap_or_default();
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(',')).enumerate();
    let covering = ranges.filter_map(|(position, range)| {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next()?.to_ascii_lowercase();
        let specificity = match name.as_str() {
            "*/*" => 0,
            name if name.strip_suffix("/*") == Some(kind) => 1,
            name if name == wanted => 2,
            _ => return None,
        };
        let q = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse::<f32>().ok())?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=1000")]
        let weight = (q.clamp(0.0, 1.0) * 1000.0) as u16;
        Some(Quality { weight, specificity, position })
    });
    covering.max_by_key(|quality| (quality.specificity, std::cmp::Reverse(quality.position)))
}
