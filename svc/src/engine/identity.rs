//! The identity of a request: established once, before anything but its head is read.

use crate::request::RequestParts;
use futures_util::FutureExt as _;

use super::execute::Engine;
use super::response::Response;

/// The remark of an answer about the token of its request, in `WWW-Authenticate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "auth"), expect(dead_code, reason = "no request has a token"))]
pub(crate) enum Challenge {
    /// Nothing.
    None,
    /// There is no token, and one is needed.
    Missing,
    /// The token does not hold.
    Invalid,
    /// The token holds no longer.
    Expired,
}

/// The answer to a request of which nothing is read any further.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) response: Response,
    pub(crate) challenge: Challenge,
}

impl Engine {
    /// Takes in a request of which nothing but the head is read: finds out who asks, and tells the hooks.
    ///
    /// # Errors
    /// The answer of a request that is refused.
    pub(crate) async fn begin(&self, parts: &mut RequestParts) -> Result<Challenge, Refused> {
        let (challenge, refused) = self.identify(parts).await;
        // The hooks are told of refused requests too, as limits count them.
        let hooks = if self.hooks.is_empty() { Ok(()) } else { self.hooks.before_parsing(parts).boxed().await };
        match hooks.err().or(refused) {
            None => Ok(challenge),
            Some(response) => Err(Refused { response, challenge }),
        }
    }

    #[cfg(not(feature = "auth"))]
    async fn identify(&self, _: &mut RequestParts) -> (Challenge, Option<Response>) {
        (Challenge::None, None)
    }

    #[cfg(feature = "auth")]
    async fn identify(&self, parts: &mut RequestParts) -> (Challenge, Option<Response>) {
        use crate::auth::Refusal;
        let Some(authentication) = &self.authentication else { return (Challenge::None, None) };
        match authentication.identify(&parts.headers, &parts.extensions).await {
            Ok(identity) => parts.identity = identity,
            Err(_) => {
                let message = "who asks cannot be verified at the moment; try again later";
                let error = crate::Error::new(crate::ErrorCode::ServiceUnavailable, message);
                return (Challenge::None, Some(Response::failed(&error)));
            }
        }
        let refused = authentication.required && parts.user().is_none();
        let challenge = match parts.identity.refusal() {
            Some(Refusal::Expired) => Challenge::Expired,
            Some(Refusal::Invalid) => Challenge::Invalid,
            None if refused => Challenge::Missing,
            None => Challenge::None,
        };
        (challenge, refused.then(|| Response::failed(&parts.unauthenticated())))
    }
}
