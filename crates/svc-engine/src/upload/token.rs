//! The values that represent files in variables.

use std::str::FromStr;

use uuid::Uuid;

const PREFIX: &str = "svc-upload:";

/// The only field of the object that represents a file in variables. The object is not a text, so
/// that no other scalar accepts it.
pub(super) const FIELD: &str = "svcUpload";

/// The name of a file within its request. The name of a file of another request cannot be guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) request: Uuid,
    pub(super) index: usize,
}

impl Token {
    /// The value of the variable that represents the file.
    pub(super) fn text(&self) -> String {
        format!("{PREFIX}{}:{}", self.request.simple(), self.index)
    }
}

impl FromStr for Token {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (request, index) = text
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.split_once(':'))
            .ok_or(())?;
        Ok(Self {
            request: request.parse().map_err(drop)?,
            index: index.parse().map_err(drop)?,
        })
    }
}
