//! Responses with their status and headers.

pub(super) mod negotiate;
mod statuses;

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use hyper::ext::ReasonPhrase;

use super::live::Full;
pub(super) use negotiate::MediaType;
pub use statuses::GraphqlOverHttp;
use statuses::PARTIAL_SUCCESS;
pub(super) use statuses::{Form, status};
use svc_core::ErrorCode;
use svc_engine::graphql::{
    Challenge, Freshness, RequestError, count_refusal, write_request_errors,
};
use svc_engine::request::REQUEST_ID;

/// The `Cache-Control` of responses: they are for the requesting client, at the time of the
/// request.
pub(super) const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");

/// The `Vary` of responses at `/graphql`, for caches that store them regardless: `Accept` selects
/// between the media types and GraphiQL, and the response depends on the credentials.
pub(super) const VARY: HeaderValue = HeaderValue::from_static("Accept, Authorization, Cookie");

/// The header with the media types of `QUERY` requests (RFC 10008, section 3).
pub(super) const ACCEPT_QUERY: HeaderName = HeaderName::from_static("accept-query");

/// The media type of `QUERY` requests.
pub(super) const QUERY_TYPE: HeaderValue = HeaderValue::from_static("application/json");

/// The maximum number of headers of a response, including headers of layers: an index of this size
/// does not grow.
const MAX_HEADERS: usize = 11;

/// A request that did not reach the engine.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The status, except for JSON that is not a request.
    pub(super) status: StatusCode,
    error: RequestError,
    /// Whether the JSON of the request is valid, but not a GraphQL request.
    is_not_a_request: bool,
    /// A header with the accepted values, or with the time to retry.
    header: Option<(HeaderName, &'static str)>,
}

impl Refusal {
    #[cold]
    #[inline(never)]
    pub(super) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            status,
            error: RequestError::new(code, message),
            is_not_a_request: false,
            header: None,
        }
    }

    /// Rejects JSON that is not a GraphQL request.
    #[cold]
    #[inline(never)]
    pub(super) fn not_a_request(message: impl Into<String>) -> Self {
        Self {
            is_not_a_request: true,
            ..Self::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, message)
        }
    }

    /// Adds a header with the accepted values, or with the time to retry.
    pub(super) fn with_header(self, name: HeaderName, value: &'static str) -> Self {
        Self {
            header: Some((name, value)),
            ..self
        }
    }

    pub(super) fn code(&self) -> &'static str {
        self.error.code.as_str()
    }

    /// Converts the rejection into a response of the engine, for one of several requests.
    pub(super) fn into_response(self) -> svc_engine::graphql::Response {
        count_refusal(self.code());
        svc_engine::graphql::Response::refused(&[self.error])
    }

    /// Returns the error message.
    #[cfg(feature = "websocket")]
    pub(super) fn message(&self) -> &str {
        &self.error.message
    }

    /// Returns the body of the response, with the error.
    pub(super) fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        write_request_errors(&mut body, std::slice::from_ref(&self.error));
        body
    }

    /// Returns the status in a response of this form.
    pub(super) fn status_in(&self, form: Form) -> StatusCode {
        if self.is_not_a_request && form.is_of_2026() {
            StatusCode::UNPROCESSABLE_ENTITY
        } else {
            self.status
        }
    }

    /// Builds the reply to a request that is rejected before its form matters.
    #[cold]
    pub(super) fn reply(&self, media: MediaType) -> Response<Body> {
        self.reply_with(self.status, media)
    }

    /// Builds the reply with the status of this form.
    #[cold]
    pub(super) fn reply_in(&self, form: Form) -> Response<Body> {
        let status = self.status_in(form);
        let mut response = self.reply_with(status, form.media);

        // RFC 10008, section 3.
        if form.is_query && status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            response.headers_mut().insert(ACCEPT_QUERY, QUERY_TYPE);
        }

        response
    }

    fn reply_with(&self, status: StatusCode, media: MediaType) -> Response<Body> {
        count_refusal(self.code());
        let mut response = reply(status, media, self.body());
        if let Some((name, value)) = &self.header {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

impl From<Full> for Refusal {
    fn from(full: Full) -> Self {
        let (status, code, message) = match full {
            Full::Head => {
                let message = "a subscription keeps the headers of its request, which have 16 KiB at most; send shorter ones";
                return Self::new(
                    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                    ErrorCode::BadRequest,
                    message,
                );
            }
            Full::Service => (
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ServiceUnavailable,
                "the service has as many open subscriptions as it may have; try again later",
            ),
            Full::Address => {
                let message = "clients at this address who are not logged in have as many open subscriptions as they \
                               may have together; close some of them";
                (
                    StatusCode::TOO_MANY_REQUESTS,
                    ErrorCode::RateLimited,
                    message,
                )
            }
            #[cfg(feature = "auth")]
            Full::User => {
                let message =
                    "this user has as many open subscriptions as one may have; close some of them";
                (
                    StatusCode::TOO_MANY_REQUESTS,
                    ErrorCode::RateLimited,
                    message,
                )
            }
        };

        Self::new(status, code, message).with_header(header::RETRY_AFTER, "5")
    }
}

/// Builds the reply for an engine response.
pub(super) fn answer(status: StatusCode, form: Form, body: impl Into<Body>) -> Response<Body> {
    let head: &Parts = match (form.media, form.is_identified) {
        (MediaType::Json, true) => &IDENTIFIED_JSON,
        (MediaType::Response, true) => &IDENTIFIED_RESPONSE,
        (media, false) => head_of(media),
    };

    let mut reply = with_head(status, head, body.into());
    if status == StatusCode::METHOD_NOT_ALLOWED {
        reply
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static("POST"));
    }

    // Otherwise hyper would write `<none>`.
    if status.as_u16() == PARTIAL_SUCCESS {
        reply
            .extensions_mut()
            .insert(ReasonPhrase::from_static(b"Partial Success"));
    }

    reply
}

/// Adds the headers for downstream caches to the reply.
pub(super) fn add_freshness(reply: &mut Response<Body>, freshness: Freshness) {
    let Freshness {
        etag,
        cache_control,
        vary,
    } = freshness;

    for (name, value) in [
        (header::ETAG, etag),
        (header::CACHE_CONTROL, cache_control),
        (header::VARY, vary),
    ] {
        reply.headers_mut().insert(name, value);
    }
}

/// Adds the challenge for the token of the request to its response (RFC 6750, section 3).
pub(super) fn add_challenge(response: &mut Response<Body>, challenge: Challenge) {
    let value = match challenge {
        Challenge::None => return,
        Challenge::Missing => "Bearer",
        Challenge::Invalid => "Bearer error=\"invalid_token\"",
        Challenge::Expired => {
            "Bearer error=\"invalid_token\", error_description=\"the token has expired\""
        }
    };

    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(value));
}

pub(super) fn reply(status: StatusCode, media: MediaType, body: impl Into<Body>) -> Response<Body> {
    with_head(status, head_of(media), body.into())
}

fn with_head(status: StatusCode, head: &Parts, body: Body) -> Response<Body> {
    let mut head = head.clone();
    head.status = status;
    // The room for it stays.
    head.headers.remove(header::CONTENT_LENGTH);

    Response::from_parts(head, body)
}

fn head_of(media: MediaType) -> &'static Parts {
    match media {
        MediaType::Json => &HEAD_OF_JSON,
        MediaType::Response => &HEAD_OF_RESPONSE,
    }
}

/// The headers of all replies as `application/json`. They are cloned, because inserting them hashes
/// the name of each.
static HEAD_OF_JSON: LazyLock<Parts> = LazyLock::new(|| with_room(head(MediaType::Json)));

/// The headers of all replies as `application/graphql-response+json`.
static HEAD_OF_RESPONSE: LazyLock<Parts> = LazyLock::new(|| with_room(head(MediaType::Response)));

/// The same with a place for the identifier of the request: a clone has no capacity for one more
/// header, so adding it later moves them all.
static IDENTIFIED_JSON: LazyLock<Parts> = LazyLock::new(|| identified(MediaType::Json));

static IDENTIFIED_RESPONSE: LazyLock<Parts> = LazyLock::new(|| identified(MediaType::Response));

fn identified(media: MediaType) -> Parts {
    let mut head = head(media);
    head.headers
        .insert(REQUEST_ID, HeaderValue::from_static(""));
    with_room(head)
}

/// Adds a place for the `Content-Length`, which axum inserts once the body is final. The place is
/// the last one, so that removing it moves no other header.
fn with_room(mut head: Parts) -> Parts {
    head.headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from_static(""));
    head
}

fn head(media: MediaType) -> Parts {
    let (mut head, ()) = Response::new(()).into_parts();
    let mut headers = HeaderMap::with_capacity(MAX_HEADERS);
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(media.as_str()),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::CACHE_CONTROL, PRIVATE);
    headers.insert(header::VARY, VARY);
    head.headers = headers;

    head
}
