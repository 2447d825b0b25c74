//! The responses of the routes.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

use crate::accounts::refused::Refused;

/// The challenge for a token that is not valid.
const INVALID_TOKEN: &str = "Bearer error=\"invalid_token\"";

/// A response that must not be cached, as it may contain tokens (RFC 6749, section 5.1).
pub(super) fn reply(status: StatusCode, body: &impl Serialize) -> Response {
    let mut response = (status, axum::Json(body)).into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A response with a message about the completed operation.
pub(super) fn done(status: StatusCode, message: &str) -> Response {
    reply(status, &json!({ "message": message }))
}

fn refusal(status: StatusCode, error: &str, message: &str) -> Response {
    reply(status, &json!({ "error": error, "message": message }))
}

/// A request that cannot be read.
#[derive(Debug, Clone, Copy)]
pub(super) enum BadRequest {
    MediaType,
    TooLarge,
    Late,
    /// The address has too many bodies that arrive slowly.
    TooManyBodies,
    /// All clients together have too many.
    NoRoom,
    Fields,
}

impl IntoResponse for BadRequest {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::MediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "send the request as `Content-Type: application/json`",
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is larger than 16384 bytes, or was cut off",
            ),
            Self::Late => (
                StatusCode::REQUEST_TIMEOUT,
                "the body took too long to arrive",
            ),
            Self::TooManyBodies => {
                let message = "clients at this address send too many bodies at once, and this one arrives slowest; \
                               send it again in a moment";
                return too_many(message, Duration::from_secs(1));
            }
            Self::NoRoom => {
                let message = "the service receives as many bodies as it can hold, and this one arrives slowest; send \
                               it again in a moment";
                let response = refusal(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "service_unavailable",
                    message,
                );
                return with_header(response, header::RETRY_AFTER, "1");
            }
            Self::Fields => (
                StatusCode::BAD_REQUEST,
                "the body must be a JSON object with the fields of the route, as strings",
            ),
        };

        refusal(status, "bad_request", message)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Self::WrongCredentials => {
                let message = "the username or the password is wrong";
                refusal(StatusCode::UNAUTHORIZED, "invalid_credentials", message)
            }
            Self::NoToken => {
                // No error code, as nothing was wrong with the request (RFC 6750, section 3.1).
                challenged("Bearer", "invalid_token", "the request has no access token")
            }
            Self::BadToken { expired: true } => {
                challenged(INVALID_TOKEN, "token_expired", "the token has expired")
            }
            Self::BadToken { expired: false } => {
                let message = "the token is not valid or has ended";
                challenged(INVALID_TOKEN, "invalid_token", message)
            }
            Self::BadMailedToken => {
                let message =
                    "the token is not valid, has been used or has expired; ask for a new one";
                refusal(StatusCode::BAD_REQUEST, "invalid_token", message)
            }
            Self::Taken => refusal(
                StatusCode::CONFLICT,
                "taken",
                "the username or the email is taken",
            ),
            Self::WeakPassword(weakness) => {
                let body = json!({ "error": "weak_password", "message": weakness.message, "rule": weakness.rule });
                reply(StatusCode::UNPROCESSABLE_ENTITY, &body)
            }
            Self::BadInput(message) => {
                refusal(StatusCode::UNPROCESSABLE_ENTITY, "invalid_input", message)
            }
            Self::NoSession => refusal(
                StatusCode::NOT_FOUND,
                "not_found",
                "there is no such session",
            ),
            Self::TooManyAttempts(wait) => {
                too_many("there were too many attempts; try again later", wait)
            }
            Self::Unavailable(id) => {
                let message = "accounts are not available at the moment; try again later";
                let body =
                    json!({ "error": "service_unavailable", "message": message, "errorId": id });
                with_header(
                    reply(StatusCode::SERVICE_UNAVAILABLE, &body),
                    header::RETRY_AFTER,
                    "1",
                )
            }
            Self::PasswordIsSet(id) => {
                // Without `Retry-After`: the request's current password is no longer valid.
                let message = "the password is set, but sessions may not have ended; log in with the \
                               new password, and log out everywhere";
                let body = json!({ "error": "password_set", "message": message, "errorId": id });
                reply(StatusCode::SERVICE_UNAVAILABLE, &body)
            }
        }
    }
}

/// The rejection of a request without a valid token, with a challenge (RFC 6750, section 3).
fn challenged(challenge: &str, error: &str, message: &str) -> Response {
    let body = refusal(StatusCode::UNAUTHORIZED, error, message);
    with_header(body, header::WWW_AUTHENTICATE, challenge)
}

/// The same response as for rate limits.
fn too_many(message: &str, wait: Duration) -> Response {
    let seconds = wait.as_secs().max(1);
    let body =
        json!({ "error": "Rate Limit Exceeded", "message": message, "retry_after": seconds });
    with_header(
        reply(StatusCode::TOO_MANY_REQUESTS, &body),
        header::RETRY_AFTER,
        &seconds.to_string(),
    )
}

fn with_header(mut response: Response, name: header::HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// An account and its tokens in one object.
pub(super) fn registered(account: &impl Serialize, tokens: &impl Serialize) -> Response {
    let mut body = json!({ "user": account });
    if let (Some(body), Ok(Value::Object(tokens))) =
        (body.as_object_mut(), serde_json::to_value(tokens))
    {
        body.extend(tokens);
    }
    reply(StatusCode::CREATED, &body)
}
