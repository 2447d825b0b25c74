//! The reasons to close a socket, with their codes.

use std::borrow::Cow;

use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::http::live::Ending;

/// The maximum number of bytes of a reason: a control frame has room for 125, and the code takes
/// two.
const MAX_REASON_LENGTH: usize = 123;

/// A reason to close a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) code: u16,
    reason: Cow<'static, str>,
}

impl Close {
    pub(super) fn new(code: u16, reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            reason: reason.into(),
        }
    }

    /// A message that is not part of the protocol.
    pub(super) fn bad_request(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(4400, reason)
    }

    pub(super) fn forbidden(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(4403, reason)
    }

    #[cfg(feature = "auth")]
    pub(super) fn is_forbidden(&self) -> bool {
        self.code == 4403
    }

    /// An operation before the connection was acknowledged.
    pub(super) fn unauthorized() -> Self {
        Self::new(4401, "Unauthorized")
    }

    pub(super) fn unknown_protocol(requested: Option<&str>) -> Self {
        let expected = "Subprotocol not acceptable; use graphql-transport-ws";
        match requested {
            Some("graphql-ws") => Self::new(
                4406,
                "Subprotocol not acceptable: graphql-ws is no longer served; use graphql-transport-ws",
            ),
            _ => Self::new(4406, expected),
        }
    }

    pub(super) fn duplicate(id: &str) -> Self {
        Self::new(4409, format!("Subscriber for {id} already exists"))
    }

    pub(super) fn second_init() -> Self {
        Self::new(4429, "Too many initialisation requests")
    }

    /// More messages than a client may send.
    pub(super) fn flooded(limit: u32) -> Self {
        Self::new(1008, format!("more than {limit} messages within a second"))
    }

    /// A dependency of the response is unavailable.
    pub(super) fn try_again(reason: &'static str) -> Self {
        Self::new(1013, reason)
    }

    /// An internal error of the service.
    pub(super) fn internal() -> Self {
        Self::new(4500, "Internal server error")
    }

    /// Returns the frame, with the reason truncated to its maximum length.
    pub(super) fn into_frame(self) -> CloseFrame {
        let end = self.reason.floor_char_boundary(MAX_REASON_LENGTH);
        CloseFrame {
            code: self.code.into(),
            reason: Utf8Bytes::from(&self.reason[..end]),
        }
    }
}

impl From<Ending> for Close {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::InitTimeout => Self::new(4408, "Connection initialisation timeout"),
            Ending::Silent => Self::new(1001, "nothing has come since the last ping"),
            Ending::Idle => Self::new(1001, "no operation has run for too long"),
            Ending::SlowReader => Self::new(1008, "what is sent is not taken"),
            Ending::TokenExpired => Self::forbidden("the token has expired"),
            Ending::TokenRevoked => Self::forbidden("the token is not valid"),
            Ending::SessionEnded => Self::forbidden("the session has ended; connect again"),
            // Ends operations only.
            Ending::UserChanged => Self::forbidden("the user has changed"),
            Ending::UserTooOld => {
                Self::new(1001, "connect again: the user was identified too long ago")
            }
            Ending::RevocationUnknown => {
                Self::try_again("who asks cannot be verified at the moment")
            }
            Ending::GoingAway | Ending::Stopped => Self::new(1001, "Going away"),
        }
    }
}

/// Returns the reason to close for a frame that violates the WebSocket protocol; `None` if the
/// connection is gone.
pub(super) fn of_error(error: &Error) -> Option<Close> {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { max_size, .. }) => Some(Close::new(
            1009,
            format!("a message may have {max_size} bytes at most"),
        )),
        Error::Utf8(_) => Some(Close::new(1007, "a text is not UTF-8")),
        Error::Protocol(error) if !is_end(error) => Some(Close::new(1002, error.to_string())),
        _ => None,
    }
}

fn is_end(error: &tokio_tungstenite::tungstenite::error::ProtocolError) -> bool {
    use tokio_tungstenite::tungstenite::error::ProtocolError::{
        ResetWithoutClosingHandshake, SendAfterClosing,
    };
    matches!(error, ResetWithoutClosingHandshake | SendAfterClosing)
}
