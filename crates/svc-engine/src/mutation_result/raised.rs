//! The JSON that an exception carries in addition to its message, in its `DETAIL` or `HINT`.

use super::failure::{Failure, integer, text_field};
use super::status::{Kind, Status};
use svc_core::exact_json::{ExactJson, Fields};

/// The keys that such JSON may have. JSON with any other key is not sent to clients: details often
/// hold rows.
const KEYS: [&str; 7] = [
    "status",
    "code",
    "identifier",
    "field",
    "details",
    "errors",
    "extensions",
];

/// The failure that an exception describes; `None` if the text is not such JSON.
pub(super) fn read(message: &str, text: &str) -> Option<Failure> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }

    let Ok(ExactJson::Object(mut given)) = ExactJson::read(text) else {
        return None;
    };
    if given.len() == 0 || given.iter().any(|(key, _)| !KEYS.contains(&key)) {
        return None;
    }

    let (kind, status) = kind(&given)?;
    let identifier = match given.take("identifier") {
        Some(ExactJson::String(identifier)) => identifier,
        _ => match Status::read(&status) {
            Status::Failure(_, identifier) if given.get("status").is_some() => {
                identifier.to_owned()
            }
            _ => "raised".to_owned(),
        },
    };

    let details = take_details(&mut given);
    let mut failure = Failure::one(kind, status, &identifier, message.to_owned(), details);
    failure.replace_errors(given.take("errors"), |error| {
        if let Some(details) = take_details(error) {
            error.insert("details".to_owned(), details);
        }
    });

    if let Some(ExactJson::Object(extensions)) = given.take("extensions") {
        failure.extensions = extensions;
    }

    Some(failure)
}

/// Returns the kind, from the status or the code, and the status; `None` for a status that is not a
/// failure, or an unknown code.
fn kind(given: &Fields) -> Option<(Kind, String)> {
    let of_code = match given.get("code") {
        None | Some(ExactJson::Null) => None,
        Some(code) => Some(Kind::of_number(integer(code)?)?),
    };

    match given.get("status") {
        None | Some(ExactJson::Null) => {
            let kind = of_code.unwrap_or(Kind::Failed);
            Some((kind, format!("{}:raised", kind.prefix())))
        }
        Some(ExactJson::String(status)) => match Status::read(status) {
            Status::Failure(kind, _) => Some((of_code.unwrap_or(kind), status.clone())),
            Status::Success | Status::Unknown => None,
        },
        Some(_) => None,
    }
}

/// Takes `details`, with `field` in them.
fn take_details(given: &mut Fields) -> Option<ExactJson> {
    let details = given.take("details").filter(|details| !details.is_null());
    match (given.take("field"), details) {
        (Some(ExactJson::String(field)), None) => Some(text_field("field", field)),
        (Some(ExactJson::String(field)), Some(ExactJson::Object(mut details))) => {
            if details.get("field").is_none() {
                details.insert("field".to_owned(), ExactJson::String(field));
            }
            Some(ExactJson::Object(details))
        }
        (_, details) => details,
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_details_for_clients_are_read() {
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
            (
                "{\"status\": \"conflict:taken\"}",
                "conflict:taken",
                409,
                "taken",
            ),
            (
                "{\"status\": \"failed:x\", \"code\": 404, \"identifier\": \"gone\"}",
                "failed:x",
                404,
                "gone",
            ),
            (" {\"field\": \"name\"}", "failed:raised", 422, "raised"),
        ] {
            let failure = read("no", text).unwrap();
            assert_eq!(
                (failure.status.as_str(), failure.code()),
                (status, code),
                "{text}"
            );
            assert_eq!(failure.errors[0].identifier, identifier, "{text}");
        }
    }
}
