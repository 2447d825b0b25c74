//! What an exception carries besides its message: JSON in its `DETAIL` or `HINT`.

use serde_json::{Map, Value};

use super::failure::Failure;
use super::status::{Kind, Status};

/// The keys that such JSON may have. One with any other is no message to clients: details often hold rows.
const KEYS: [&str; 7] = ["status", "code", "identifier", "field", "details", "errors", "extensions"];

/// The failure that an exception describes; `None` when the text is no such JSON.
pub(super) fn read(message: &str, text: &str) -> Option<Failure> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    let mut given: Map<String, Value> = serde_json::from_str(text).ok()?;
    if given.is_empty() || given.keys().any(|key| !KEYS.contains(&key.as_str())) {
        return None;
    }
    let (kind, status) = kind(&given)?;
    let identifier = match given.remove("identifier") {
        Some(Value::String(identifier)) => identifier,
        _ => match Status::read(&status) {
            Status::Failure(_, identifier) if given.contains_key("status") => identifier.to_owned(),
            _ => "raised".to_owned(),
        },
    };
    let details = take_details(&mut given);
    let mut failure = Failure::one(kind, status, &identifier, message.to_owned(), details);
    if let Some(Value::Array(errors)) = given.remove("errors") {
        failure.replace_errors(errors.into_iter().filter_map(|error| match error {
            Value::Object(mut error) => {
                let details = take_details(&mut error);
                error.extend(details.map(|details| ("details".to_owned(), details)));
                Some(error)
            }
            _ => None,
        }));
    }
    if let Some(Value::Object(extensions)) = given.remove("extensions") {
        failure.extensions = extensions;
    }
    Some(failure)
}

/// The kind, from the status or the code, and the status; `None` for a status that is no failure, or an unknown code.
fn kind(given: &Map<String, Value>) -> Option<(Kind, String)> {
    let of_code = match given.get("code") {
        None | Some(Value::Null) => None,
        Some(code) => Some(Kind::of_number(code.as_i64()?)?),
    };
    match given.get("status") {
        None | Some(Value::Null) => {
            let kind = of_code.unwrap_or(Kind::Failed);
            Some((kind, format!("{}:raised", kind.prefix())))
        }
        Some(Value::String(status)) => match Status::read(status) {
            Status::Failure(kind, _) => Some((of_code.unwrap_or(kind), status.clone())),
            Status::Success | Status::Unknown => None,
        },
        Some(_) => None,
    }
}

/// `details`, with `field` in them.
fn take_details(given: &mut Map<String, Value>) -> Option<Value> {
    let details = given.remove("details").filter(|details| !details.is_null());
    match (given.remove("field"), details) {
        (Some(Value::String(field)), None) => Some(serde_json::json!({ "field": field })),
        (Some(Value::String(field)), Some(Value::Object(mut details))) => {
            details.entry("field").or_insert(field.into());
            Some(details.into())
        }
        (_, details) => details,
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_what_is_meant_for_clients_is_read() {
        for text in [
            "row 7",
            "[1]",
            "{}",
            "{\"id\": 7}",
            "{\"code\": 409, \"password\": \"x\"}",
            "{\"status\": \"created\"}",
            "{\"status\": \"what\"}",
            "{\"code\": 200}",
            "{\"code\": \"x\"}",
        ] {
            assert!(read("no", text).is_none(), "{text}");
        }
        for (text, status, code, identifier) in [
            ("{\"code\": 409}", "conflict:raised", 409, "raised"),
            ("{\"status\": \"conflict:taken\"}", "conflict:taken", 409, "taken"),
            ("{\"status\": \"failed:x\", \"code\": 404, \"identifier\": \"gone\"}", "failed:x", 404, "gone"),
            (" {\"field\": \"name\"}", "failed:raised", 422, "raised"),
        ] {
            let failure = read("no", text).unwrap();
            assert_eq!((failure.status.as_str(), failure.code()), (status, code), "{text}");
            assert_eq!(failure.errors[0].identifier, identifier, "{text}");
        }
    }
}
