//! The statuses of responses, according to a draft of GraphQL over HTTP.

use std::str::FromStr;

use axum::http::{StatusCode, Version};

use super::negotiate::MediaType;
use svc_core::ErrorCode;
use svc_engine::graphql::Answer;

/// The draft of [GraphQL over HTTP](https://graphql.github.io/graphql-over-http/draft/) that
/// determines the statuses of `application/graphql-response+json`; the field `graphql_over_http` of
/// [`SvcConfig`](crate::SvcConfig).
///
/// The statuses of `application/json` do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum GraphqlOverHttp {
    /// The draft before April 2026: 400 for any rejected request, and 200 for a response with
    /// `data`, with or without `errors`.
    #[default]
    Draft2025,
    /// The draft of 2026: 400 for JSON and documents that cannot be parsed, 422 for requests that
    /// are rejected for another reason, and 294 for a response with `data` and `errors`.
    Draft2026,
}

impl FromStr for GraphqlOverHttp {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "2025" => Ok(Self::Draft2025),
            "2026" => Ok(Self::Draft2026),
            _ => Err(()),
        }
    }
}

impl std::fmt::Display for GraphqlOverHttp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Draft2025 => "2025",
            Self::Draft2026 => "2026",
        })
    }
}

/// The properties of a request that its response depends on.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct Form {
    pub(in crate::http) media: MediaType,
    pub(in crate::http) draft: GraphqlOverHttp,
    /// Whether the method is `QUERY`.
    pub(in crate::http) is_query: bool,
    pub(in crate::http) version: Version,
    /// Whether the identifier of the request is added to the response.
    pub(in crate::http) is_identified: bool,
}

impl Form {
    /// Whether the response has the statuses of the draft of 2026.
    pub(super) fn is_of_2026(self) -> bool {
        self.media == MediaType::Response && self.draft == GraphqlOverHttp::Draft2026
    }
}

/// The number of [`partial_success`].
pub(super) const PARTIAL_SUCCESS: u16 = 294;

/// Returns the status for `data` with `errors`, which only GraphQL over HTTP defines.
fn partial_success() -> StatusCode {
    StatusCode::from_u16(PARTIAL_SUCCESS).unwrap_or(StatusCode::OK)
}

/// Returns the status of an engine response.
pub(in crate::http) fn status(answer: &Answer, form: Form) -> StatusCode {
    match answer {
        // The endpoint supports `QUERY`, so 405 and its `Allow` would mislead clients.
        Answer::MethodNotAllowed if form.is_query => StatusCode::UNPROCESSABLE_ENTITY,
        Answer::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Answer::NotModified => StatusCode::NOT_MODIFIED,
        Answer::Late(_) => StatusCode::GATEWAY_TIMEOUT,
        Answer::Failed(code) => of_failed(code, form),
        Answer::Refused(code) if form.is_of_2026() => of_refused(*code),
        Answer::Refused(_) if form.media == MediaType::Response => StatusCode::BAD_REQUEST,
        Answer::Executed { errors } if *errors > 0 && form.is_of_2026() => partial_success(),
        Answer::Refused(_) | Answer::Executed { .. } | Answer::Batch { .. } => StatusCode::OK,
    }
}

/// Returns the status of a rejected operation in the draft of 2026.
fn of_refused(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::GraphqlParseFailed => StatusCode::BAD_REQUEST,
        // The service does not execute documents that are not registered.
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Returns the status of an error that fails the whole request.
fn of_failed(code: &str, form: Form) -> StatusCode {
    let statuses = [
        (ErrorCode::Unauthenticated, StatusCode::UNAUTHORIZED),
        (ErrorCode::Forbidden, StatusCode::FORBIDDEN),
        (ErrorCode::RateLimited, StatusCode::TOO_MANY_REQUESTS),
        (
            ErrorCode::InternalServerError,
            StatusCode::INTERNAL_SERVER_ERROR,
        ),
        (
            ErrorCode::ServiceUnavailable,
            StatusCode::SERVICE_UNAVAILABLE,
        ),
        (ErrorCode::Timeout, StatusCode::GATEWAY_TIMEOUT),
    ];

    let known = statuses
        .iter()
        .find(|(known, _)| known.as_str() == code)
        .map(|(_, status)| *status);

    known.unwrap_or(match form.media {
        MediaType::Json => StatusCode::OK,
        MediaType::Response if form.is_of_2026() => StatusCode::UNPROCESSABLE_ENTITY,
        MediaType::Response => StatusCode::BAD_REQUEST,
    })
}
