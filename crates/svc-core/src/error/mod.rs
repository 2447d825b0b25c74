//! The error returned by a resolver, and the part of it that a client sees.

mod cause;
mod code;
mod ids;
mod last_panic;
mod origin;
mod own_sql;
mod raised;
pub mod sqlstate;
#[cfg(feature = "sqlx")]
mod stack;

use std::borrow::Cow;
use std::fmt;

pub use code::ErrorCode;

#[cfg(feature = "sqlx")]
pub use cause::of_postgres;
pub use ids::ErrorIds;
#[cfg(feature = "sqlx")]
pub use last_panic::note_panics;
pub use last_panic::raised_by_panic;
pub use origin::{Denied, Origin};
pub use own_sql::ConnectionProblem;
pub use raised::ErrorLocation;
#[cfg(feature = "sqlx")]
pub use stack::{Stack, stack_text};

/// `Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// An error of a resolver or of the start.
///
/// A client sees an error made by [`Error::new`] with its message and code. Every other error (`?`
/// turns any [`std::error::Error`] into one) is masked: the client gets `internal server error` and
/// an `errorId` for finding the error in the log.
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
    origin: Origin,
    raised: ErrorLocation,
}

impl Error {
    /// Creates an error that the client sees as it is.
    #[track_caller]
    #[cold]
    #[inline(never)]
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_code(code.as_str(), message)
    }

    /// Creates an error that the client sees, with a code defined by the application.
    #[track_caller]
    #[cold]
    #[inline(never)]
    pub fn with_code(
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let code = code.into();
        Self::made(
            ErrorLocation::here_in_sight(code.clone()),
            code,
            message.into(),
            false,
        )
    }

    // Cold like all constructors of errors, so that the compiler keeps the branches with errors out
    // of the path of each request.
    #[cold]
    fn made(
        raised: ErrorLocation,
        code: Cow<'static, str>,
        message: Cow<'static, str>,
        masked: bool,
    ) -> Self {
        let (extensions, origin) = (serde_json::Map::new(), Origin::Other);
        Self(Box::new(Repr {
            code,
            message,
            masked,
            extensions,
            source: None,
            origin,
            raised,
        }))
    }

    /// Creates an error that the client does not see.
    #[track_caller]
    #[cold]
    #[inline(never)]
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        let code = Cow::Borrowed(ErrorCode::InternalServerError.as_str());
        Self::made(
            ErrorLocation::here(code.clone()),
            code,
            message.into(),
            true,
        )
    }

    /// Replaces the place where the error was raised.
    #[doc(hidden)]
    pub fn raised_at(mut self, raised: ErrorLocation) -> Self {
        self.0.raised = raised;
        self
    }

    /// Replaces the type of the error.
    #[doc(hidden)]
    pub fn of_type(mut self, kind: impl Into<Cow<'static, str>>) -> Self {
        self.0.raised.kind = kind.into();
        self
    }

    /// The place where the error was raised.
    #[doc(hidden)]
    pub fn raised(&self) -> &ErrorLocation {
        &self.0.raised
    }

    /// Replaces the origin of the error.
    #[doc(hidden)]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.0.origin = origin;
        self
    }

    /// Marks the error as a denial by the gate.
    #[doc(hidden)]
    pub fn denied(mut self, denial: Denied) -> Self {
        self.0.origin = Origin::Gate(denial);
        self
    }

    /// The origin of the error.
    #[doc(hidden)]
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// Adds an entry to the error's `extensions`. An entry `code` is not sent: the code is that of
    /// [`new`](Self::new) or [`with_code`](Self::with_code).
    #[must_use]
    pub fn with_extension(
        mut self,
        key: impl Into<String>,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        self.0.extensions.insert(key.into(), value.into());
        self
    }

    /// Keeps the cause for the log; clients never see it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        // The cause goes to the log, and so to the error tracker.
        #[cfg(feature = "sqlx")]
        self.0.raised.take_stack();
        self
    }

    /// Returns the code, as clients see it in `extensions.code`.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// Returns the message, as it is logged.
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

    /// Copies the error for another field; only the texts of its causes remain.
    #[doc(hidden)]
    #[cold]
    pub fn again(&self) -> Self {
        let Repr {
            code,
            message,
            masked,
            extensions,
            source,
            origin,
            raised,
        } = &*self.0;

        // A boxed error cannot be cloned, so the copy only keeps its text.
        let source = source
            .as_ref()
            .map(|source| Source::from(source.to_string()));
        let (code, message, extensions) = (code.clone(), message.clone(), extensions.clone());
        let (masked, origin, raised) = (*masked, *origin, raised.clone());

        Self(Box::new(Repr {
            code,
            message,
            masked,
            extensions,
            source,
            origin,
            raised,
        }))
    }

    /// Creates an error that the client does not see, from a cause.
    #[track_caller]
    #[cold]
    pub(crate) fn of_cause<E: std::error::Error + Send + Sync + 'static>(source: E) -> Self {
        Self::internal(cause::text(&source))
            .of_type(std::any::type_name::<E>())
            .with_source(source)
    }

    /// Returns the message followed by its causes.
    pub fn chain(&self) -> String {
        let mut text = self.0.message.to_string();
        let mut next = self
            .0
            .source
            .as_deref()
            .map(|source| source as &dyn std::error::Error);

        while let Some(cause) = next {
            let cause_text = cause::text(cause);

            // Many errors already quote their source in their own text.
            if !text.contains(&cause_text) {
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
