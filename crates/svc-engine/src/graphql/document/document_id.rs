//! Document ids sent by clients.

use std::str::FromStr;

use super::persisted::Hash;

/// The id that a client sends in place of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentId {
    /// The SHA-256 of its text.
    Hash(Hash),
    /// The name of a registered operation.
    Name(String),
}

impl FromStr for DocumentId {
    type Err = String;

    fn from_str(id: &str) -> Result<Self, String> {
        let Some(digits) = id.strip_prefix("sha256:") else {
            return Ok(Self::Name(id.to_owned()));
        };
        let mut hash = Hash::default();
        hex::decode_to_slice(digits, &mut hash)
            .map_err(|_| "`documentId` must be `sha256:` with 64 hexadecimal digits, or the name of an operation")?;
        Ok(Self::Hash(hash))
    }
}
