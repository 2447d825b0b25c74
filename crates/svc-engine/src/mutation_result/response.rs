//! The response of a function, as `to_jsonb` writes it.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::status::Status;
use svc_core::Error;
use svc_core::schema::ResultMeta;

/// The columns of a `mutation_response`.
pub(crate) const COLUMNS: [&str; 8] = [
    "status",
    "message",
    "entity_id",
    "entity_type",
    "entity",
    "updated_fields",
    "cascade",
    "metadata",
];

/// The columns that no entity has by chance.
pub(crate) const TELLING: [&str; 4] = ["entity", "entity_id", "entity_type", "updated_fields"];

/// The columns of a response with a status; missing and null columns are `None`.
#[derive(Debug, Default)]
pub(crate) struct Response<'a> {
    /// Empty if it is null.
    pub(crate) status: String,
    pub(crate) message: Option<String>,
    pub(crate) entity_id: Option<String>,
    pub(crate) entity_type: Option<String>,
    pub(crate) entity: Option<&'a RawValue>,
    pub(crate) updated_fields: Option<Vec<String>>,
    pub(crate) cascade: Option<&'a RawValue>,
    pub(crate) metadata: HashMap<String, &'a RawValue>,
    pub(crate) raw_metadata: Option<&'a RawValue>,
}

impl<'a> Response<'a> {
    /// Reads the result of a function; `None` if it is not a response but the entity itself.
    ///
    /// An object with a `status` is a response, unless the entity stores a `status` itself and
    /// nothing else in the object distinguishes a response from the entity.
    pub(crate) fn read(json: &'a str, entity_has_status: bool) -> Result<Option<Self>, Error> {
        // Most entities have no such key anywhere.
        if !json.starts_with('{') || memchr::memmem::find(json.as_bytes(), b"\"status\"").is_none()
        {
            return Ok(None);
        }

        let keys: HashMap<String, &RawValue> = serde_json::from_str(json)?;
        let telling = TELLING.iter().any(|key| keys.contains_key(*key));
        let nothing_else = keys.keys().all(|key| COLUMNS.contains(&key.as_str()));

        if !keys.contains_key("status") || (entity_has_status && !telling && !nothing_else) {
            return Ok(None);
        }

        let get = |key: &str| keys.get(key).copied().filter(|raw| raw.get() != "null");
        let raw_metadata = get("metadata");

        Ok(Some(Self {
            status: get("status").and_then(text).unwrap_or_default(),
            message: get("message").and_then(text),
            entity_id: get("entity_id").and_then(text),
            entity_type: get("entity_type").and_then(text),
            entity: get("entity"),
            updated_fields: get("updated_fields").map(texts).transpose()?,
            cascade: get("cascade"),
            metadata: raw_metadata
                .and_then(|raw| serde_json::from_str(raw.get()).ok())
                .unwrap_or_default(),
            raw_metadata,
        }))
    }
}

impl Response<'_> {
    /// Adds the status and the id to an error, if the response has no place for them any more.
    pub(crate) fn identify(&self, mut error: Error) -> Error {
        if !self.status.is_empty() {
            error = error.with_extension("status", self.status.clone());
        }
        match &self.entity_id {
            Some(id) => error.with_extension("id", id.clone()),
            None => error,
        }
    }
}

/// Whether the JSON of a result is its Error member, or has a status that is not a success.
pub(crate) fn fails(result: &ResultMeta, json: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Answer {
        #[serde(rename = "__typename")]
        type_name: Option<String>,
        #[serde(default, deserialize_with = "some")]
        status: Option<Box<RawValue>>,
    }

    /// A null status counts as a status.
    fn some<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Box<RawValue>>, D::Error> {
        serde::Deserialize::deserialize(value).map(Some)
    }

    let Ok(answer) = serde_json::from_slice::<Answer>(json) else {
        return false;
    };

    let succeeds = |status: &RawValue| {
        serde_json::from_str::<String>(status.get())
            .is_ok_and(|text| Status::read(&text) == Status::Success)
    };

    answer
        .type_name
        .is_some_and(|name| name == result.error.name)
        || answer.status.is_some_and(|status| !succeeds(&status))
}

/// The text of a JSON string; any other value as it is written.
fn text(raw: &RawValue) -> Option<String> {
    Some(serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned()))
}

fn texts(raw: &RawValue) -> Result<Vec<String>, Error> {
    let fields: Vec<Option<String>> = serde_json::from_str(raw.get()).map_err(|error| {
        Error::internal("`updated_fields` is not a list of texts").with_source(error)
    })?;
    Ok(fields.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::Response;

    #[test]
    fn a_json_object_with_a_status_is_a_response() {
        for (json, entity_has_status, is_response) in [
            (r#"{"status": "created", "message": null}"#, false, true),
            (r#"{"status": "created", "extra": 1}"#, false, true),
            (r#"{"status": "open", "id": 1}"#, true, false),
            (r#"{"status": "failed:x", "message": "no"}"#, true, true),
            (
                r#"{"status": "created", "id": 1, "entity": {}}"#,
                true,
                true,
            ),
            (r#"{"id": 1}"#, false, false),
            ("[1]", false, false),
            ("null", false, false),
        ] {
            let found = Response::read(json, entity_has_status).unwrap();
            assert_eq!(found.is_some(), is_response, "{json}");
        }
    }

    #[test]
    fn order_and_missing_columns_do_not_matter() {
        let json = r#"{"metadata": {"a": 1}, "entity_id": 7, "updated_fields": ["x", null], "status": "ok"}"#;
        let response = Response::read(json, false).unwrap().unwrap();
        assert_eq!(response.entity_id.as_deref(), Some("7"));
        assert_eq!(
            response.updated_fields.as_deref(),
            Some(&["x".to_owned()][..])
        );
        assert_eq!(response.metadata["a"].get(), "1");

        assert!(response.entity.is_none() && response.message.is_none());
    }
}
