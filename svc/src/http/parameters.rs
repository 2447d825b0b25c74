//! The parameters of a request: from a JSON body or a query string.

use axum::http::StatusCode;
use serde_json::{Map, Value};

use super::reply::Refusal;
use crate::ErrorCode;
use crate::engine::Request;

/// Reads a JSON body.
pub(super) fn from_body(body: &[u8]) -> Result<Request, Refusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(refuse("the body is empty; send a JSON object with `query`"));
    }
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| refuse(format!("the body is not JSON: line {}, column {}", error.line(), error.column())))?;
    match value {
        Value::Object(fields) => from_fields(fields),
        Value::Array(_) => Err(refuse("batches are switched off; send one request as a JSON object")),
        _ => Err(refuse("the body must be a JSON object with `query`")),
    }
}

/// Reads a query string, where `variables` and `extensions` are JSON texts.
pub(super) fn from_query_string(query: &str) -> Result<Request, Refusal> {
    let mut fields = Map::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let value = match name.as_ref() {
            "query" | "operationName" => Value::String(value.into_owned()),
            "variables" | "extensions" if value.is_empty() => Value::Null,
            "variables" | "extensions" => {
                serde_json::from_str(&value).map_err(|_| refuse(format!("the parameter `{name}` is not JSON")))?
            }
            _ => continue,
        };
        if fields.insert(name.to_string(), value).is_some() {
            return Err(refuse(format!("the parameter `{name}` is given twice")));
        }
    }
    from_fields(fields)
}

fn from_fields(mut fields: Map<String, Value>) -> Result<Request, Refusal> {
    let query = match fields.remove("query") {
        Some(Value::String(query)) if !query.trim().is_empty() => query,
        Some(Value::String(_)) | None => return Err(refuse("`query` is missing: send the GraphQL document in it")),
        Some(_) => return Err(refuse("`query` must be a string")),
    };
    let operation_name = match fields.remove("operationName") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(refuse("`operationName` must be a string or null")),
    };
    let variables = object(&mut fields, "variables")?;
    object(&mut fields, "extensions")?;
    Ok(Request { query, variables, operation_name })
}

fn object(fields: &mut Map<String, Value>, name: &str) -> Result<Map<String, Value>, Refusal> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(refuse(format!("`{name}` must be an object or null"))),
    }
}

fn refuse(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, message)
}
