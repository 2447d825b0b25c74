//! Errors of sessions.

/// Why a session cannot be read or changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store did not answer. Clients get `SERVICE_UNAVAILABLE`.
    #[error("sessions are not available: {0}")]
    Unavailable(String),
    /// The session would exceed its maximum size.
    #[error("the session would have {0} bytes of JSON, and at most {1} can be kept")]
    TooLarge(usize, usize),
    /// A value is not of the requested type, or cannot be serialized as JSON.
    #[error("the value `{0}` of the session is of another type")]
    Type(String),
}
