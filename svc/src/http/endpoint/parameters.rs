//! The parameters of a request: from a JSON body or a query string.

use std::borrow::Cow;

use axum::http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::http::reply::Refusal;
use svc_core::ErrorCode;
use svc_core::exact_json::{ExactJson, ExactNumber, Fields, Malformed};
use svc_engine::graphql::{DocumentId, Request, SentVariables};
use svc_engine::request::ErrorBehavior;

/// The most common form of a body: its numbers are integers.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    query: Cow<'a, str>,
    variables: Option<SentVariables>,
    #[serde(rename = "operationName")]
    operation_name: Option<String>,
    #[serde(rename = "onError")]
    on_error: Option<String>,
    extensions: Option<IgnoredAny>,
    #[serde(rename = "documentId")]
    document_id: Option<IgnoredAny>,
}

/// The requests of a body.
#[derive(Debug)]
pub(in crate::http) enum Sent<'a> {
    One(Request<'a>),
    /// Each entry separately: a malformed one fails alone.
    Batch(Vec<Result<Request<'static>, Refusal>>),
}

/// Reads a JSON body: one request, or up to `batch_max` in an array.
pub(super) fn from_body(body: &[u8], batch_max: usize) -> Result<Sent<'_>, Refusal> {
    // The slow path finds the errors of an invalid body.
    if let Ok(text) = std::str::from_utf8(body)
        && let Ok(Body {
            query,
            variables,
            operation_name,
            on_error,
            extensions: None,
            document_id: None,
        }) = serde_json::from_str(text)
        && !query.chars().all(char::is_whitespace)
        && let Ok(on_error) = error_behavior(on_error.as_deref())
    {
        let variables = variables.unwrap_or_default();
        return Ok(Sent::One(Request {
            query,
            variables,
            operation_name,
            on_error,
            ..Request::default()
        }));
    }

    from_other_body(body, batch_max)
}

/// The same for a body of any form. Not inlined, because few requests need it.
#[inline(never)]
fn from_other_body(body: &[u8], batch_max: usize) -> Result<Sent<'_>, Refusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(bad_request(
            "the body is empty; send a JSON object with `query`",
        ));
    }

    let text = std::str::from_utf8(body)
        .map_err(|error| not_json(body, Malformed(error.valid_up_to())))?;
    match ExactJson::read(text).map_err(|error| not_json(body, error))? {
        ExactJson::Object(fields) => from_fields(fields).map(Sent::One),
        ExactJson::Array(entries) => batch(entries, batch_max).map(Sent::Batch),
        _ => Err(Refusal::not_a_request(
            "the body must be a JSON object with `query`",
        )),
    }
}

/// Reads a JSON body with one request.
pub(in crate::http) fn one_from_body(body: &[u8]) -> Result<Request<'_>, Refusal> {
    match from_body(body, 0)? {
        Sent::One(request) => Ok(request),
        Sent::Batch(_) => Err(Refusal::not_a_request(
            "a stream answers one request, so send no batch",
        )),
    }
}

fn batch(
    entries: Vec<ExactJson>,
    most: usize,
) -> Result<Vec<Result<Request<'static>, Refusal>>, Refusal> {
    let given = entries.len();
    match given {
        _ if most == 0 => Err(Refusal::not_a_request(
            "batches are switched off; send one request as a JSON object",
        )),
        0 => Err(Refusal::not_a_request(
            "the batch is empty; send at least one request in it",
        )),
        _ if given > most => Err(Refusal::not_a_request(format!(
            "the batch has {given} requests; at most {most} are allowed (SVC_BATCH_MAX)"
        ))),
        _ => Ok(entries.into_iter().map(of_batch).collect()),
    }
}

fn of_batch(entry: ExactJson) -> Result<Request<'static>, Refusal> {
    match entry {
        ExactJson::Object(fields) => from_fields(fields),
        _ => Err(Refusal::not_a_request(
            "each request of a batch must be a JSON object with `query`",
        )),
    }
}

#[cold]
fn not_json(body: &[u8], Malformed(at): Malformed) -> Refusal {
    let before = &body[..at.min(body.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = at - memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1) + 1;
    bad_request(format!(
        "the body is not JSON: line {line}, column {column}"
    ))
}

/// Reads a query string, where `variables` and `extensions` are JSON texts.
pub(in crate::http) fn from_query_string(query: &str) -> Result<Request<'static>, Refusal> {
    let mut fields = Fields::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = match name.as_ref() {
            "query" | "operationName" | "onError" | "documentId" => {
                ExactJson::String(value.into_owned())
            }
            "variables" | "extensions" if value.is_empty() => ExactJson::Null,
            "variables" | "extensions" => ExactJson::read(&value)
                .map_err(|_| bad_request(format!("the parameter `{name}` is not JSON")))?,
            _ => continue,
        };

        // Of two values, a cache or proxy in front could read one and the service the other.
        if fields.get(&name).is_some() {
            return Err(Refusal::not_a_request(format!(
                "the parameter `{name}` is given twice"
            )));
        }

        fields.insert(name.into_owned(), value);
    }

    from_fields(fields)
}

/// Builds a request from the fields of an object.
pub(super) fn from_fields(mut fields: Fields) -> Result<Request<'static>, Refusal> {
    let mut extensions = object(&mut fields, "extensions")?;
    let explain = extensions.take("explain") == Some(ExactJson::Bool(true));
    let named = persisted(extensions)?;
    let document_id = document_id(fields.take("documentId"))?;
    let (persisted, document_id) = match named {
        Some(DocumentId::Hash(hash)) => (Some(hash), document_id),
        // If both are given, the check below returns an error.
        Some(id) if document_id.is_none() && fields.get("query").is_none() => (None, Some(id)),
        // Beside a document, the hash would have to match it, which is checked for SHA-256 only.
        Some(DocumentId::Name(_)) => return Err(not_sha256()),
        None => (None, document_id),
    };

    let query = match fields.take("query") {
        Some(ExactJson::String(query)) if !query.trim().is_empty() => query,
        // The hash or the id identifies the document.
        Some(ExactJson::String(_) | ExactJson::Null) | None
            if persisted.is_some() || document_id.is_some() =>
        {
            String::new()
        }
        Some(ExactJson::String(_)) | None => {
            return Err(Refusal::not_a_request(
                "`query` is missing: send the GraphQL document in it",
            ));
        }
        Some(_) => return Err(Refusal::not_a_request("`query` must be a string")),
    };

    if document_id.is_some() && (persisted.is_some() || !query.is_empty()) {
        return Err(Refusal::not_a_request(
            "name the document once: with `documentId`, or with `query` and `extensions.persistedQuery`",
        ));
    }

    let operation_name = match fields.take("operationName") {
        None | Some(ExactJson::Null) => None,
        Some(ExactJson::String(name)) => Some(name),
        Some(_) => {
            return Err(Refusal::not_a_request(
                "`operationName` must be a string or null",
            ));
        }
    };

    let on_error = match fields.take("onError") {
        None | Some(ExactJson::Null) => ErrorBehavior::default(),
        Some(ExactJson::String(text)) => error_behavior(Some(&text))?,
        Some(_) => return Err(not_a_behavior()),
    };

    let variables = object(&mut fields, "variables")?.into_iter().collect();

    Ok(Request {
        query: query.into(),
        persisted,
        document_id,
        variables,
        operation_name,
        on_error,
        explain,
    })
}

/// Parses `onError`, as in the proposal for error behaviors.
fn error_behavior(text: Option<&str>) -> Result<ErrorBehavior, Refusal> {
    match text.map(str::parse::<ErrorBehavior>) {
        None => Ok(ErrorBehavior::default()),
        Some(Ok(behavior)) => Ok(behavior),
        Some(Err(())) => Err(not_a_behavior()),
    }
}

#[cold]
#[inline(never)]
fn not_a_behavior() -> Refusal {
    Refusal::not_a_request("`onError` must be \"NULL\", \"PROPAGATE\" or \"HALT\"")
}

/// Parses `documentId`, as in the draft on persisted documents.
fn document_id(value: Option<ExactJson>) -> Result<Option<DocumentId>, Refusal> {
    match value {
        None | Some(ExactJson::Null) => Ok(None),
        Some(ExactJson::String(id)) => id.parse().map(Some).map_err(Refusal::not_a_request),
        Some(_) => Err(Refusal::not_a_request("`documentId` must be a string")),
    }
}

/// Parses `persistedQuery`, as Apollo's clients send it. In place of the SHA-256, other clients
/// send the hash from their manifest: a SHA-1 or an MD5.
fn persisted(mut extensions: Fields) -> Result<Option<DocumentId>, Refusal> {
    let fields = match extensions.take("persistedQuery") {
        None | Some(ExactJson::Null) => return Ok(None),
        Some(ExactJson::Object(fields)) => fields,
        Some(_) => {
            return Err(Refusal::not_a_request(
                "`extensions.persistedQuery` must be an object",
            ));
        }
    };

    if fields.get("version") != Some(&ExactJson::Number(ExactNumber::from(1))) {
        return Err(Refusal::not_a_request(
            "`extensions.persistedQuery.version` must be 1",
        ));
    }

    let mut hash = [0; 32];
    let text = fields
        .get("sha256Hash")
        .and_then(ExactJson::as_str)
        .unwrap_or_default();
    if OTHER_HASHES.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Some(DocumentId::Name(text.to_owned())));
    }

    hex::decode_to_slice(text, &mut hash).map_err(|_| not_sha256())?;

    Ok(Some(DocumentId::Hash(hash)))
}

/// The number of digits of a SHA-1 and of an MD5.
const OTHER_HASHES: [usize; 2] = [40, 32];

#[cold]
fn not_sha256() -> Refusal {
    Refusal::not_a_request(
        "`extensions.persistedQuery.sha256Hash` must be a SHA-256 of 64 hexadecimal digits",
    )
}

fn object(fields: &mut Fields, name: &str) -> Result<Fields, Refusal> {
    match fields.take(name) {
        None | Some(ExactJson::Null) => Ok(Fields::default()),
        Some(ExactJson::Object(object)) => Ok(object),
        Some(_) => Err(Refusal::not_a_request(format!(
            "`{name}` must be an object or null"
        ))),
    }
}

/// Rejects text that is not JSON.
#[cold]
#[inline(never)]
fn bad_request(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, message)
}
