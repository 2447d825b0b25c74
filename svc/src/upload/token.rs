//! The values that stand for files in variables.

use std::str::FromStr;

use uuid::Uuid;

const PREFIX: &str = "svc-upload:";

/// The one field of the object that stands for a file in variables. It is no text, so that no other scalar takes it.
pub(super) const FIELD: &str = "svcUpload";

/// The name of a file among those of its request. Nobody can guess one of another request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) request: Uuid,
    pub(super) index: usize,
}

impl Token {
    /// The value of the variable that stands for the file.
    pub(super) fn text(&self) -> String {
        format!("{PREFIX}{}:{}", self.request.simple(), self.index)
    }
}

impl FromStr for Token {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (request, index) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once(':')).ok_or(())?;
        Ok(Self { request: request.parse().map_err(drop)?, index: index.parse().map_err(drop)? })
    }
}
