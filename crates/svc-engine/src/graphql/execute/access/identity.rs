//! The identity of a request: established once, before anything but its head is read.

use crate::request::RequestParts;

use crate::graphql::execute::{Engine, metrics};
use crate::graphql::response::Response;
#[cfg(feature = "auth")]
use svc_telemetry::security_log::{SecurityEventType, record};

/// The statement of a response about the token of its request, in `WWW-Authenticate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "auth"),
    allow(dead_code, reason = "no request has a token")
)]
pub enum Challenge {
    /// No statement.
    None,
    /// A token is required, and there is none.
    Missing,
    /// The token is not valid.
    Invalid,
    /// The token has expired.
    Expired,
}

/// The response to a rejected request, which is not read any further.
#[derive(Debug)]
pub struct Refused {
    pub response: Response,
    pub challenge: Challenge,
}

impl Engine {
    /// Starts a request after reading only its head: identifies the client and calls the hooks.
    ///
    /// # Errors
    /// The response to a rejected request.
    pub async fn begin(&self, parts: &mut RequestParts) -> Result<Challenge, Refused> {
        let (challenge, refused) = self.identify(parts).await;

        // The hooks are called for rejected requests too, because limits count them.
        let hooks = if self.hooks.concern(parts) {
            self.hooks.before_parsing(parts).await
        } else {
            Ok(())
        };

        match hooks.err().or(refused) {
            None => Ok(challenge),
            Some(response) => Err(Refused {
                response: metrics::counted_refusal(response),
                challenge,
            }),
        }
    }

    /// Whether [`begin`](Self::begin) does nothing for a request: clients are not identified, and no
    /// hook is called.
    pub fn has_nothing_to_begin(&self, parts: &RequestParts) -> bool {
        #[cfg(feature = "auth")]
        let identifies = self.authentication.is_some();
        #[cfg(not(feature = "auth"))]
        let identifies = false;

        !identifies && !self.hooks.concern(parts)
    }

    /// Starts an operation on a connection with an identified client: checks that the token is
    /// still valid, and calls the hooks.
    ///
    /// # Errors
    /// The response to a rejected operation.
    #[cfg(feature = "websocket")]
    pub async fn resume(&self, parts: &mut RequestParts) -> Result<(), Response> {
        let refused = self.recheck(parts).await;
        let hooks = if self.hooks.concern(parts) {
            self.hooks.before_parsing(parts).await
        } else {
            Ok(())
        };

        hooks
            .err()
            .or(refused)
            .map_or(Ok(()), |response| Err(metrics::counted_refusal(response)))
    }

    #[cfg(all(feature = "websocket", not(feature = "auth")))]
    async fn recheck(&self, _: &mut RequestParts) -> Option<Response> {
        None
    }

    #[cfg(all(feature = "websocket", feature = "auth"))]
    async fn recheck(&self, parts: &mut RequestParts) -> Option<Response> {
        use svc_auth::{Identity, Refusal};

        let (Some(authentication), Some(verified)) =
            (&self.authentication, parts.identity.verified())
        else {
            return None;
        };

        match authentication.still_holds(verified).await {
            Ok(true) => None,
            Ok(false) => {
                let event =
                    parts.security_event(&self.app.clients, SecurityEventType::AuthTokenInvalid);
                record(event.reason("the token of the connection has expired or was revoked"));
                parts.identity = Identity::Refused(Refusal::Invalid);
                Some(Response::failed(&parts.unauthenticated()))
            }
            // A revoked token would pass if an unreachable store counted as a confirmation.
            Err(_) => Some(unavailable()),
        }
    }

    #[cfg(not(feature = "auth"))]
    async fn identify(&self, _: &mut RequestParts) -> (Challenge, Option<Response>) {
        (Challenge::None, None)
    }

    #[cfg(feature = "auth")]
    async fn identify(&self, parts: &mut RequestParts) -> (Challenge, Option<Response>) {
        use svc_auth::Refusal;

        let Some(authentication) = &self.authentication else {
            return (Challenge::None, None);
        };

        match authentication
            .identify(&parts.headers, &parts.headers, &parts.extensions)
            .await
        {
            Ok(identity) => parts.identity = identity,
            Err(_) => return (Challenge::None, Some(unavailable())),
        }

        let refused = authentication.required && parts.user().is_none();
        let challenge = match parts.identity.refusal() {
            Some(Refusal::Expired) => Challenge::Expired,
            Some(Refusal::Invalid) => Challenge::Invalid,
            None if refused => {
                let event = parts.security_event(&self.app.clients, SecurityEventType::AuthFailure);
                record(event.reason("a token is required, and there is none"));
                Challenge::Missing
            }
            None => Challenge::None,
        };

        (
            challenge,
            refused.then(|| Response::failed(&parts.unauthenticated())),
        )
    }
}

/// The response to a request whose token cannot be verified.
#[cfg(feature = "auth")]
fn unavailable() -> Response {
    let message = "who asks cannot be verified at the moment; try again later";
    Response::failed(&svc_core::Error::new(
        svc_core::ErrorCode::ServiceUnavailable,
        message,
    ))
}
