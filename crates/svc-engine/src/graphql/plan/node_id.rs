//! Node ids: a type and the `id` of a row in one opaque string.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use svc_core::exact_json::shorten;
use svc_core::schema::ScalarKind;
use svc_core::{Error, ErrorCode};

/// The type of rows with a node id.
#[derive(Debug, Clone)]
pub struct NodeType {
    pub name: Arc<str>,
    /// The scalar type of the row's own `id`.
    pub kind: ScalarKind,
}

impl NodeType {
    /// Replaces the JSON of a row's own id, which starts at `start`, with the JSON of its node id.
    pub(crate) fn replace(&self, out: &mut Vec<u8>, start: usize) {
        let own = &out[start..];

        // An id of a number type is written without quotes, so its JSON is the text.
        let own = serde_json::from_slice::<String>(own)
            .unwrap_or_else(|_| String::from_utf8_lossy(own).into_owned());
        out.truncate(start);
        out.push(b'"');
        out.extend_from_slice(
            URL_SAFE_NO_PAD
                .encode(format!("{}:{own}", self.name))
                .as_bytes(),
        );

        out.push(b'"');
    }
}

/// Decodes a node id into the type name and the `id` of the row.
///
/// # Errors
/// The text is not a node id.
pub(crate) fn read(text: &str) -> Result<(String, String), Error> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok();
    let decoded = bytes.and_then(|bytes| String::from_utf8(bytes).ok());

    // A type name has no colon, so the first colon ends it even if the id of the row has one.
    let parts = decoded
        .as_deref()
        .and_then(|decoded| decoded.split_once(':'));
    parts
        .map(|(name, own)| (name.to_owned(), own.to_owned()))
        .ok_or_else(|| not_an_id(text))
}

/// The error for a node id whose key the database rejects as invalid for the rows.
pub(crate) fn no_key() -> Error {
    let message = "this is not the id of a node, as no row can have its key; take it from the field `nodeId` of a row";
    Error::new(ErrorCode::BadUserInput, message)
}

/// The error for a text that is not a node id.
pub(crate) fn not_an_id(text: &str) -> Error {
    let message = format!(
        "{:?} is not the id of a node; take it from the field `nodeId` of a row",
        shorten(text)
    );
    Error::new(ErrorCode::BadUserInput, message)
}
