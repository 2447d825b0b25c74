//! The error a resolver returns, and what of it a client sees.

mod code;

use std::borrow::Cow;
use std::fmt;

pub use code::ErrorCode;

/// `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// An error of a resolver or of the start.
///
/// A client sees an error made by [`Error::new`] with its message and code. Every other error (`?` turns any
/// [`std::error::Error`] into one) is masked: the client gets `internal server error` and an `errorId` which
/// is found again in the log.
///
/// ```
/// use svc::{Error, ErrorCode, Result};
///
/// fn parse(text: &str) -> Result<i32> {
///     if text.is_empty() {
///         return Err(Error::new(ErrorCode::BadUserInput, "give a number"));
///     }
///     Ok(text.parse()?) // masked
/// }
/// assert_eq!(parse("").unwrap_err().message(), "give a number");
/// assert!(parse("x").unwrap_err().is_masked());
/// ```
pub struct Error(Box<Repr>);

struct Repr {
    code: Cow<'static, str>,
    message: Cow<'static, str>,
    masked: bool,
    extensions: serde_json::Map<String, serde_json::Value>,
    source: Option<Source>,
}

impl Error {
    /// Creates an error that the client sees as it is.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_code(code.as_str(), message)
    }

    /// Creates an error that the client sees, with a code of the application's own.
    pub fn with_code(code: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Repr {
            code: code.into(),
            message: message.into(),
            masked: false,
            extensions: serde_json::Map::new(),
            source: None,
        }))
    }

    /// Creates an error that the client does not see.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        let mut error = Self::new(ErrorCode::InternalServerError, message);
        error.0.masked = true;
        error
    }

    /// Adds an entry to the error's `extensions`.
    #[must_use]
    pub fn with_extension(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.0.extensions.insert(key.into(), value.into());
        self
    }

    /// Keeps the cause for the log; clients never see it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the code, as clients see it in `extensions.code`.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// Returns the message, as the log has it.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether clients see `internal server error` in place of the message.
    pub fn is_masked(&self) -> bool {
        self.0.masked
    }

    /// Returns the extensions that [`with_extension`](Self::with_extension) added.
    pub fn extensions(&self) -> &serde_json::Map<String, serde_json::Value> {
        &self.0.extensions
    }

    /// Returns the cause, for the log.
    pub fn source(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    /// The same error once more, for another field; of its causes the texts remain.
    pub(crate) fn again(&self) -> Self {
        let Repr { code, message, masked, extensions, source } = &*self.0;
        let source = source.as_ref().map(|source| Source::from(source.to_string()));
        let (code, message, extensions) = (code.clone(), message.clone(), extensions.clone());
        Self(Box::new(Repr { code, message, masked: *masked, extensions, source }))
    }

    /// Returns the message followed by its causes.
    pub fn chain(&self) -> String {
        let mut text = self.0.message.to_string();
        let mut next = self.0.source.as_deref().map(|source| source as &dyn std::error::Error);
        while let Some(cause) = next {
            let cause_text = cause.to_string();
            if !text.ends_with(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            next = cause.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// The message and its causes, as `main` prints them.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.chain())
    }
}
