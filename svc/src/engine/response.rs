//! Answers as bytes.

use std::fmt::{Display, Write as _};
use std::time::Duration;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::field_error::FieldError;
use super::location::{LineIndex, Location};
use super::request_error::RequestError;
use crate::postgres::Effect;
use crate::{Error, ErrorCode};

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) answer: Answer,
    pub(crate) body: Vec<u8>,
}

/// The kind of an answer: how far its request got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It ran: there is `data`, and so many errors beside it.
    Executed { errors: usize },
    /// Nothing ran, because of the request: the code of its first error.
    Refused(ErrorCode),
    /// Nothing ran, because mutations need another method.
    MethodNotAllowed,
    /// It was ended because it took too long.
    Late(ErrorCode),
    /// Nothing ran, because of an error with this code that is the whole request's.
    Failed(String),
}

/// Messages are cut to this many characters: they may quote the document.
const MAX_MESSAGE: usize = 400;

/// A message as far as it is sent; what it quotes is not written any further.
pub(crate) fn limited(message: &impl Display) -> String {
    struct Limited(String);
    impl std::fmt::Write for Limited {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.push_str(text);
            if self.0.len() > MAX_MESSAGE * 4 { Err(std::fmt::Error) } else { Ok(()) }
        }
    }
    let mut text = Limited(String::new());
    // It fails when there is enough of it.
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
    pub(crate) fn refused(errors: &[RequestError]) -> Self {
        let mut body = Vec::new();
        write_request_errors(&mut body, errors);
        let code = errors.first().map_or(ErrorCode::BadRequest, |error| error.code);
        Self { answer: Answer::Refused(code), body }
    }

    /// The answer to a request that was ended at its deadline, and what each of its mutations has done. Its code invites
    /// to send it again only where nothing is kept.
    pub(crate) fn late(limit: Duration, effects: &[(String, Effect)]) -> Self {
        let late = format!("the request took longer than {} seconds", limit.as_secs());
        let any = |wanted: Effect| effects.iter().any(|(_, effect)| *effect == wanted);
        let (code, message, effect) = match (any(Effect::Unknown), any(Effect::Done), any(Effect::NotDone)) {
            (true, ..) => {
                let message = format!("{late}; the mutation may have been done, or not");
                (ErrorCode::OutcomeUnknown, message, Some(Effect::Unknown))
            }
            (_, true, true) => {
                (ErrorCode::NotRead, format!("{late}; some of its mutations are done, and others are not"), None)
            }
            (_, true, false) => {
                let message = format!("the mutation is done, but its answer could not be read: {late}");
                (ErrorCode::NotRead, message, Some(Effect::Done))
            }
            (_, _, true) => (ErrorCode::Timeout, format!("{late}; the mutation was not done"), Some(Effect::NotDone)),
            _ => (ErrorCode::Timeout, late, None),
        };
        let mut extensions = json!({ "code": code.as_str() });
        if let Some(effect) = effect {
            extensions["mutation"] = effect.as_str().into();
        }
        let body = json!({ "errors": [{ "message": message, "extensions": extensions }] }).to_string().into_bytes();
        let response = Self { answer: Answer::Late(code), body };
        if effects.len() > 1 { response.with_effects(effects) } else { response }
    }

    /// The answer to a request that failed before its first field.
    pub(crate) fn failed(error: &Error) -> Self {
        let mut extensions = Map::from_iter([("code".to_owned(), error.code().into())]);
        extensions.extend(error.extensions().clone());
        if error.is_masked() || error.source().is_some() {
            let id = Uuid::new_v4().to_string();
            tracing::error!(error_id = id, error = error.chain(), "a request failed before its first field");
            if error.is_masked() {
                extensions.insert("errorId".to_owned(), id.into());
            }
        }
        let message = if error.is_masked() { "internal server error".to_owned() } else { limit_text(error.message()) };
        let body = json!({ "errors": [{ "message": message, "extensions": extensions }] });
        Self { answer: Answer::Failed(error.code().to_owned()), body: body.to_string().into_bytes() }
    }

    /// A body to which `data` of about `size` bytes is appended.
    pub(crate) fn begin(size: usize) -> Vec<u8> {
        let mut body = Vec::with_capacity(BEGIN.len() + size + 8);
        body.extend_from_slice(BEGIN);
        body
    }

    /// The answer of a body that was begun; `None` when `data` became null.
    pub(crate) fn executed(begun: Option<Vec<u8>>, errors: &[FieldError], text: &str, limit: usize) -> Self {
        let mut body = begun.unwrap_or_else(|| [BEGIN, b"null"].concat());
        if !errors.is_empty() {
            let lines = LineIndex::new(text);
            let errors: Vec<Value> = errors.iter().take(limit).map(|error| field_error(error, &lines)).collect();
            // Errors come first, so that people see them.
            let errors = format!("{{\"errors\":{},", Value::from(errors));
            body.splice(..1, errors.into_bytes());
        }
        body.push(b'}');
        Self { answer: Answer::Executed { errors: errors.len() }, body }
    }
}

impl Answer {
    /// The code of the error that is the whole request's.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Executed { .. } => None,
            Self::Refused(code) | Self::Late(code) => Some(code.as_str()),
            Self::MethodNotAllowed => Some(ErrorCode::BadRequest.as_str()),
            Self::Failed(code) => Some(code),
        }
    }

    /// The number of errors beside `data`.
    pub(crate) fn field_errors(&self) -> usize {
        match self {
            Self::Executed { errors } => *errors,
            _ => 0,
        }
    }
}

impl Response {
    /// The same, with what each mutation has done beside it.
    pub(crate) fn with_effects(mut self, effects: &[(String, Effect)]) -> Self {
        let mutations: Map<_, _> = effects.iter().map(|(key, effect)| (key.clone(), effect.as_str().into())).collect();
        let extensions = json!({ "mutations": mutations });
        if self.body.pop_if(|last| *last == b'}').is_some() {
            self.body.extend_from_slice(format!(",\"extensions\":{extensions}}}").as_bytes());
        }
        self
    }
}

/// The bytes before the value of `data`.
const BEGIN: &[u8] = b"{\"data\":";

/// Writes an answer without `data`.
pub(crate) fn write_request_errors(out: &mut Vec<u8>, errors: &[RequestError]) {
    let errors: Vec<Value> = errors
        .iter()
        .map(|error| {
            let mut object = Map::new();
            object.insert("message".to_owned(), limit_text(&error.message).into());
            if !error.locations.is_empty() {
                object.insert("locations".to_owned(), json!(error.locations));
            }
            object.insert("extensions".to_owned(), json!({ "code": error.code.as_str() }));
            object.into()
        })
        .collect();
    out.extend_from_slice(json!({ "errors": errors }).to_string().as_bytes());
}

fn field_error(error: &FieldError, lines: &LineIndex<'_>) -> Value {
    let locations: Vec<Location> = error.offsets.iter().map(|offset| lines.locate(*offset)).collect();
    let mut extensions = Map::new();
    extensions.insert("code".to_owned(), error.code.as_ref().into());
    extensions.extend(error.extensions.clone());
    json!({
        "message": limit_text(&error.message),
        "locations": locations,
        "path": error.path,
        "extensions": extensions,
    })
}
