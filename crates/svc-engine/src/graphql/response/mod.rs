//! Responses as bytes.

mod budget;
mod cache_headers;
mod completed_value;
mod explanation;
mod field_error;
mod mutation_effect;
mod path;
mod shown_errors;

pub(super) use budget::{ResponseBudget, Writing};
pub use cache_headers::Freshness;
pub use completed_value::CompletedValue;
pub(super) use completed_value::PropagatedNull;
pub(super) use explanation::{ExplainedField, Explanation, Way};
pub(super) use field_error::{FieldError, Logged};
pub(in crate::graphql) use mutation_effect::mark_effect;
pub(super) use path::{Path, Segment};
pub(super) use shown_errors::ShownErrors;

use std::fmt::{Display, Write as _};
use std::time::Duration;

use axum::http::HeaderValue;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::error::{LineIndex, Location, RequestError, SourceText};
use svc_core::error::{ErrorIds, Origin};
use svc_core::{Error, ErrorCode};
use svc_postgres::Effect;
use svc_telemetry::error_tracker::{Facts, capture};
use svc_telemetry::security_log::{SecurityEvent, SecurityEventType, record};

/// The response to a request.
#[derive(Debug)]
pub struct Response {
    pub answer: Answer,
    pub body: Bytes,
    /// Whether the body ends with `extensions`.
    pub(super) has_extensions: bool,
    /// The validator and the age for external caches; `None` if they may not store the response.
    pub freshness: Option<Box<Freshness>>,
}

/// The kind of a response: how far its request got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It ran: there is `data`, with this number of errors beside it.
    Executed { errors: usize },
    /// The responses to a batch, with the total number of their errors.
    Batch { errors: usize },
    /// It ran, and the client already has the response.
    NotModified,
    /// Nothing ran, because the request was rejected: the code of its first error.
    Refused(ErrorCode),
    /// Nothing ran, because the method is safe, and mutations need another one.
    MethodNotAllowed,
    /// It was stopped because it took too long.
    Late(ErrorCode),
    /// Nothing ran, because of an error with this code that affects the whole request.
    Failed(String),
}

/// Messages are cut to this many characters: they may quote the document.
const MAX_MESSAGE: usize = 400;

/// Formats a message up to its maximum length; quoted text beyond that is not formatted.
pub(crate) fn limited(message: &impl Display) -> String {
    struct Limited(String);
    impl std::fmt::Write for Limited {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.push_str(text);

            // A character has at most four bytes in UTF-8.
            if self.0.len() > MAX_MESSAGE * 4 {
                Err(std::fmt::Error)
            } else {
                Ok(())
            }
        }
    }

    let mut text = Limited(String::new());

    // Fails once the text is long enough.
    let _ = write!(text, "{message}");

    limit_text(&text.0)
}

/// Cuts a message that quotes too much.
pub(crate) fn limit_text(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

impl Response {
    fn new(answer: Answer, body: impl Into<Bytes>) -> Self {
        Self {
            answer,
            body: body.into(),
            has_extensions: false,
            freshness: None,
        }
    }

    /// A cached response, which has no errors.
    pub(super) fn kept(body: Bytes) -> Self {
        Self::new(Answer::Executed { errors: 0 }, body)
    }

    #[cold]
    pub fn refused(errors: &[RequestError]) -> Self {
        let mut body = Vec::new();
        write_request_errors(&mut body, errors);
        let code = errors
            .first()
            .map_or(ErrorCode::BadRequest, |error| error.code);
        Self::new(Answer::Refused(code), body)
    }

    /// The response to a request that was stopped at its deadline, with the effect of each of its
    /// mutations. Its code invites a retry only if no writes are kept.
    #[cold]
    pub(crate) fn late(limit: Duration, effects: &[(String, Effect)]) -> Self {
        let late = format!("the request took longer than {} seconds", limit.as_secs());
        let any = |wanted: Effect| effects.iter().any(|(_, effect)| *effect == wanted);

        // The worst effect counts first: a retry after an unknown or a kept write could write
        // twice.
        let (code, message, effect) = match (
            any(Effect::Unknown),
            any(Effect::Done),
            any(Effect::NotDone),
        ) {
            (true, ..) => {
                let message = format!("{late}; the mutation may have been done, or not");
                (ErrorCode::OutcomeUnknown, message, Some(Effect::Unknown))
            }
            (_, true, true) => (
                ErrorCode::NotRead,
                format!("{late}; some of its mutations are done, and others are not"),
                None,
            ),
            (_, true, false) => {
                let message =
                    format!("the mutation is done, but its answer could not be read: {late}");
                (ErrorCode::NotRead, message, Some(Effect::Done))
            }
            (_, _, true) => (
                ErrorCode::Timeout,
                format!("{late}; the mutation was not done"),
                Some(Effect::NotDone),
            ),
            _ => (ErrorCode::Timeout, late, None),
        };

        let mut extensions = json!({ "code": code.as_str() });
        if let Some(effect) = effect {
            extensions["mutation"] = effect.as_str().into();
        }

        let body = json!({ "errors": [{ "message": message, "extensions": extensions }] })
            .to_string()
            .into_bytes();
        let response = Self::new(Answer::Late(code), body);

        if effects.len() > 1 {
            response.with_effects(effects)
        } else {
            response
        }
    }

    /// The response to a request that failed before its first field.
    #[cold]
    pub(crate) fn failed(error: &Error) -> Self {
        let mut extensions = extensions(error.code(), error.extensions());

        if error.is_masked() || error.source().is_some() {
            let ids = ErrorIds::new();
            let id = ids.error.to_string();
            tracing::error!(
                error_id = %ids.error,
                request_id = ids.request(),
                trace_id = ids.trace(),
                error = error.chain(),
                "a request failed before its first field"
            );

            capture(
                &ids,
                error.raised(),
                "",
                &error.chain(),
                1,
                &Facts::default(),
            );

            if error.origin() == Origin::Panic {
                let event =
                    SecurityEvent::new(SecurityEventType::SystemPanic).reason(error.chain());
                record(event.metadata("error_id", id.as_str()));
            }

            if error.is_masked() {
                extensions.insert("errorId".to_owned(), id.into());
            }
        }

        let message = if error.is_masked() {
            "internal server error".to_owned()
        } else {
            limit_text(error.message())
        };

        let body = json!({ "errors": [{ "message": message, "extensions": extensions }] });
        let answer = Answer::Failed(error.code().to_owned());

        Self::new(answer, body.to_string())
    }

    /// Starts a body; `data` of about `size` bytes is appended to it.
    pub fn begin(size: usize) -> Vec<u8> {
        let mut body = Vec::with_capacity(BEGIN.len() + size + 8);
        body.extend_from_slice(BEGIN);
        body
    }

    /// The response from a started body; `None` if `data` became null.
    pub(crate) fn executed(begun: Option<Vec<u8>>, errors: &ShownErrors) -> Self {
        let mut body = begun.unwrap_or_else(|| [BEGIN, b"null"].concat());
        if errors.count > 0 {
            // Errors come first, so that people see them.
            body.splice(..1, errors.json.bytes());
        }

        body.push(b'}');

        Self::new(
            Answer::Executed {
                errors: errors.count,
            },
            body,
        )
    }
}

impl Answer {
    /// Whether there is `data`.
    #[cfg(feature = "websocket")]
    pub fn is_executed(&self) -> bool {
        matches!(self, Self::Executed { .. })
    }

    /// The code of the error that affects the whole request.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Executed { .. } | Self::Batch { .. } | Self::NotModified => None,
            Self::Refused(code) | Self::Late(code) => Some(code.as_str()),
            Self::MethodNotAllowed => Some(ErrorCode::BadRequest.as_str()),
            Self::Failed(code) => Some(code),
        }
    }

    /// The number of errors beside `data`.
    pub fn field_errors(&self) -> usize {
        match self {
            Self::Executed { errors } | Self::Batch { errors } => *errors,
            _ => 0,
        }
    }
}

impl Response {
    /// The responses to a batch in one body, with the total number of their errors.
    pub fn of_batch(errors: usize, body: Vec<u8>) -> Self {
        Self::new(Answer::Batch { errors }, body)
    }

    /// Adds the effect of each mutation to the response.
    #[cold]
    pub(crate) fn with_effects(self, effects: &[(String, Effect)]) -> Self {
        self.with_extension("mutations", &shown_effects(effects))
    }

    /// Removes the body if `If-None-Match` shows that the client already has the response.
    pub fn unless_known(self, if_none_match: Option<&HeaderValue>) -> Self {
        match (&self.freshness, if_none_match) {
            (Some(freshness), Some(known)) if freshness.is_known(known) => Self {
                answer: Answer::NotModified,
                body: Bytes::new(),
                ..self
            },
            _ => self,
        }
    }

    /// Adds an entry to `extensions`.
    pub(crate) fn with_extension(mut self, key: &str, value: &Value) -> Self {
        let begin = if self.has_extensions {
            ","
        } else {
            ",\"extensions\":{"
        };

        let braces = if self.has_extensions { 2 } else { 1 };

        // A cached body is copied, any other is not.
        let mut body = Vec::from(std::mem::take(&mut self.body));
        body.truncate(body.len().saturating_sub(braces));
        body.extend_from_slice(format!("{begin}{}:{value}}}}}", Value::from(key)).as_bytes());

        // The response is no longer the same for all clients.
        Self {
            body: body.into(),
            has_extensions: true,
            freshness: None,
            ..self
        }
    }
}

/// The effects of mutations, by response key.
pub(crate) fn shown_effects(effects: &[(String, Effect)]) -> Value {
    effects
        .iter()
        .map(|(key, effect)| (key.clone(), Value::from(effect.as_str())))
        .collect::<Map<_, _>>()
        .into()
}

/// The bytes before the value of `data`.
pub(super) const BEGIN: &[u8] = b"{\"data\":";

/// Writes a response without `data`.
pub fn write_request_errors(out: &mut Vec<u8>, errors: &[RequestError]) {
    let errors: Vec<Value> = errors
        .iter()
        .map(|error| {
            let mut object = Map::new();
            object.insert("message".to_owned(), limit_text(&error.message).into());
            if !error.locations.is_empty() {
                object.insert("locations".to_owned(), json!(error.locations));
            }

            let mut extensions = json!({ "code": error.code.as_str() });
            if let Some(errors) = &error.errors {
                extensions["errors"] = (**errors).clone();
            }

            object.insert("extensions".to_owned(), extensions);

            object.into()
        })
        .collect();
    out.extend_from_slice(json!({ "errors": errors }).to_string().as_bytes());
}

fn shown_error(error: &FieldError, lines: &LineIndex<'_>, source: SourceText<'_>) -> Value {
    let locations: Vec<Location> = error
        .offsets
        .iter()
        .map(|offset| lines.locate(source.offset(*offset)))
        .collect();

    json!({
        "message": limit_text(&error.message),
        "locations": locations,
        "path": error.path,
        "extensions": extensions(&error.code, &error.extensions),
    })
}

/// Returns the extensions of an error with its code. An extension of the application does not
/// replace the code: clients, statuses and metrics have to see the same one.
fn extensions(code: &str, given: &Map<String, Value>) -> Map<String, Value> {
    let mut extensions = Map::from_iter([("code".to_owned(), code.into())]);
    for (key, value) in given.iter().filter(|(key, _)| *key != "code") {
        extensions.insert(key.clone(), value.clone());
    }

    extensions
}
