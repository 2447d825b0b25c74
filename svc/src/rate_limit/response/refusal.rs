//! Refusals: the responses to clients that have to wait, or may never pass.

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::json;

use super::headers::seconds;
use crate::rate_limit::limit::Found;
use crate::rate_limit::limit::rule::MESSAGE;

/// The message for clients on the blacklist.
pub(in crate::rate_limit) const REFUSED: &str = "requests of this client are not answered";

/// The reason why a request is rejected.
#[derive(Debug)]
pub(in crate::rate_limit) enum Refusal {
    /// The client is on the blacklist.
    Forbidden,
    /// A limit is exceeded.
    Limited {
        message: String,
        /// In seconds.
        retry_after: u64,
        limit: u64,
        /// In seconds.
        window: u64,
    },
}

impl Refusal {
    /// Returns the refusal for the limit with the longest wait.
    pub(in crate::rate_limit) fn limited(found: &[Found]) -> Self {
        let longest = found
            .iter()
            .max_by_key(|found| found.standing.wait)
            .filter(|found| found.standing.wait.is_some());
        match longest {
            None => Self::Limited {
                message: MESSAGE.into(),
                retry_after: 1,
                limit: 0,
                window: 0,
            },
            Some(Found { limit, standing }) => Self::Limited {
                message: limit.message.clone(),
                retry_after: seconds(standing.wait.unwrap_or_default()).max(1),
                limit: limit.count,
                window: limit.window,
            },
        }
    }

    /// Returns the response outside of GraphQL.
    pub(in crate::rate_limit) fn response(&self) -> Response<Body> {
        let (status, body) = match self {
            // In the same form as the other, so that clients parse only one; retrying never
            // succeeds.
            Self::Forbidden => {
                let body = json!({ "error": "Forbidden", "message": REFUSED, "retry_after": null });
                (StatusCode::FORBIDDEN, body)
            }
            Self::Limited {
                message,
                retry_after,
                ..
            } => {
                let body = json!({ "error": "Rate Limit Exceeded", "message": message, "retry_after": retry_after });
                (StatusCode::TOO_MANY_REQUESTS, body)
            }
        };

        let mut response = (status, Json(body)).into_response();
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));

        response
    }
}
