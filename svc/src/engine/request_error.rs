//! Errors of a request as a whole: nothing ran, and the answer has no `data`.

use crate::ErrorCode;

/// A line and a column, both from 1; columns count UTF-16 units, as graphql-js does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Location {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Location {
    /// The place of a byte offset in `text`.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let mut line = 1;
        let mut start = 0;
        let bytes = before.as_bytes();
        for (index, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(index + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                line += 1;
                start = index + 1;
            }
        }
        Self { line, column: before[start..].encode_utf16().count() + 1 }
    }
}

/// One error of a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) locations: Vec<Location>,
}

impl RequestError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), locations: Vec::new() }
    }

    pub(crate) fn at(mut self, location: Option<Location>) -> Self {
        self.locations.extend(location);
        self
    }
}
