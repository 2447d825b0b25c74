//! The reasons why a service does not receive its own event.

use svc_core::Error;

/// The reason why a service does not receive its own event.
#[derive(Debug)]
pub enum NotHeard {
    /// The connection that listens is lost.
    Lost,
    /// The event has not come back in time.
    Silent,
    /// The source has not published the event.
    Unpublished(Error),
}

impl NotHeard {
    /// Describes the reason for clients, with the underlying error in development only.
    pub fn shown(&self, is_development: bool) -> String {
        match self {
            Self::Lost => "the connection that listens is lost".to_owned(),
            Self::Silent => "a notification of the service did not come back to it".to_owned(),
            Self::Unpublished(error) if is_development => error.chain(),
            Self::Unpublished(error) if error.is_masked() => {
                "a notification of the service could not be sent".to_owned()
            }
            Self::Unpublished(error) => error.message().to_owned(),
        }
    }

    /// The error that clients never see.
    pub(super) fn masked(&self) -> Option<&Error> {
        match self {
            Self::Unpublished(error) => Some(error).filter(|error| error.is_masked()),
            Self::Lost | Self::Silent => None,
        }
    }
}
