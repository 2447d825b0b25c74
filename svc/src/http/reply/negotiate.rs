//! The negotiation of the response's media type.

use axum::http::{HeaderMap, HeaderValue, header};

/// The media types of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum MediaType {
    /// `application/json`: 200 for every well-formed request.
    Json,
    /// `application/graphql-response+json`: the status shows whether anything was executed.
    Response,
}

impl MediaType {
    pub(in crate::http) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::Response => "application/graphql-response+json; charset=utf-8",
        }
    }

    /// Returns the best type that `Accept` allows; `None` if it allows neither.
    pub(in crate::http) fn negotiate(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers
            .get_all(header::ACCEPT)
            .iter()
            .map(HeaderValue::as_bytes);
        match (values.next(), values.next()) {
            // Fast path for the values that most clients send.
            (None | Some(b"application/json" | b"*/*"), None) => return Some(Self::Json),
            (Some(b"application/graphql-response+json"), None) => return Some(Self::Response),
            _ => {}
        }

        let json = quality(headers, "application/json");
        let response = quality(headers, "application/graphql-response+json");
        let best = if rank(response) > rank(json) {
            (response, Self::Response)
        } else {
            (json, Self::Json)
        };

        best.0.filter(|found| found.weight > 0).map(|_| best.1)
    }
}

/// Whether a browser requests a page.
#[cfg(feature = "graphiql")]
pub(in crate::http) fn wants_html(headers: &HeaderMap) -> bool {
    // Many API clients send `*/*`, which allows HTML as well, so only the exact name counts.
    quality(headers, "text/html").is_some_and(|found| found.weight > 0 && found.specificity == 2)
}

/// The preference for a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct Quality {
    /// The weight in thousandths.
    pub(in crate::http) weight: u16,
    /// 2 for a full match, 1 for `type/*`, 0 for `*/*`.
    pub(in crate::http) specificity: u8,
    /// Earlier ranges win among equals.
    pub(in crate::http) position: usize,
}

impl Quality {
    /// Returns the preference in a range of `Accept`; `None` if its weight is not a number.
    pub(in crate::http) fn of(range: &str, position: usize, specificity: u8) -> Option<Self> {
        let mut parameters = range.split(';').skip(1).map(str::trim);
        let q = parameters
            .find_map(|part| part.strip_prefix("q="))
            .map_or(Some(1.0), |q| q.parse::<f32>().ok())?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=1000"
        )]
        let weight = (q.clamp(0.0, 1.0) * 1000.0) as u16;
        Some(Self {
            weight,
            specificity,
            position,
        })
    }
}

fn rank(quality: Option<Quality>) -> (u16, u8, std::cmp::Reverse<usize>) {
    quality.map_or((0, 0, std::cmp::Reverse(usize::MAX)), |q| {
        (q.weight, q.specificity, std::cmp::Reverse(q.position))
    })
}

/// Returns the ranges of `Accept`, with their positions.
pub(in crate::http) fn ranges(headers: &HeaderMap) -> impl Iterator<Item = (usize, &str)> {
    let values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).enumerate()
}

/// Returns the most specific range of `Accept` that covers `wanted` (RFC 9110, section 12.5.1).
pub(in crate::http) fn quality(headers: &HeaderMap, wanted: &str) -> Option<Quality> {
    let kind = wanted.split('/').next().unwrap_or_default();
    let covering = ranges(headers).filter_map(|(position, range)| {
        let name = range.split(';').next()?.trim().to_ascii_lowercase();
        let specificity = match name.as_str() {
            "*/*" => 0,
            name if name.strip_suffix("/*") == Some(kind) => 1,
            name if name == wanted => 2,
            _ => return None,
        };
        Quality::of(range, position, specificity)
    });

    covering.max_by_key(|quality| (quality.specificity, std::cmp::Reverse(quality.position)))
}
