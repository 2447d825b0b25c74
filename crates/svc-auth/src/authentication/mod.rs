//! Authenticates a request from its headers.

mod bearer;
mod flights;
mod identity;
mod token_cache;

use std::sync::Arc;
use std::time::Duration;

use axum::http::{Extensions, HeaderMap};
use futures_util::FutureExt as _;

pub(crate) use bearer::{Bearer, token68};
pub use identity::{Identity, Refusal};
pub use token_cache::TokenCache;

use super::outage::OutageLog;
use super::provider::{SharedProvider, Verified};
use super::{AuthError, TokenRevocationService, UserContext};
use flights::Verifications;
use svc_telemetry::security_log::{Clients, SecurityEventType, record};

/// The consequence of an outage for requests, in the log.
const REJECTING: &str = "rejecting requests, as their tokens cannot be verified";
/// The consequence of an outage for open sockets and streams, in the log.
const KEEPING: &str =
    "keeping the users of sockets and streams for a while, as their tokens cannot be verified";

/// The components that authenticate requests.
pub struct Authentication {
    pub provider: Option<SharedProvider>,
    pub revocation: Option<TokenRevocationService>,
    /// The revocations that end open sockets and streams.
    pub live_revocation: Option<TokenRevocationService>,
    /// `None` if tokens are not cached and are verified on every request.
    pub kept: Option<TokenCache>,
    pub verifications: Verifications,
    pub outages: OutageLog,
    /// Outages during checks of open sockets and streams, logged apart from outages during requests.
    pub live_outages: OutageLog,
    /// Whether requests without a user are rejected.
    pub required: bool,
    /// The maximum length of a token in bytes.
    pub token_size: usize,
    /// The timeout for providers and revocation stores.
    pub timeout: Duration,
    /// Identifies the client in security events.
    pub clients: Clients,
}

impl Authentication {
    /// Authenticates a request; called once per request. `client` holds the headers that locate the
    /// client; for a socket, these are the headers of the request that opened it.
    ///
    /// # Errors
    /// `Unavailable` if the token cannot be verified at the moment. Every other outcome is an
    /// identity.
    pub async fn identify(
        &self,
        credentials: &HeaderMap,
        client: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Identity, Unavailable> {
        let found = self.find(credentials, client, extensions).await;
        found.map_err(|error| {
            self.outages.record(&error, REJECTING);
            Unavailable
        })
    }

    /// Authenticates the client of an open connection again, as [`identify`](Self::identify) does.
    ///
    /// # Errors
    /// `Unavailable` if the token cannot be verified at the moment.
    pub async fn identify_again(
        &self,
        credentials: &HeaderMap,
        client: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Identity, Unavailable> {
        let found = self.find(credentials, client, extensions).await;
        found.map_err(|error| {
            self.live_outages.record(&error, KEEPING);
            Unavailable
        })
    }

    /// Finds the identity; the error is an [`AuthError::Unavailable`].
    async fn find(
        &self,
        credentials: &HeaderMap,
        client: &HeaderMap,
        extensions: &Extensions,
    ) -> Result<Identity, Arc<AuthError>> {
        let Some(provider) = &self.provider else {
            return Ok(Identity::Anonymous);
        };

        if extensions.get::<UserContext>().is_some() {
            // A layer of the application has already set the user.
            return Ok(Identity::Anonymous);
        }

        let token = match Bearer::of(credentials, self.token_size) {
            Bearer::Token(token) => token,
            Bearer::Absent => return Ok(Identity::Anonymous),
            Bearer::Malformed => {
                let error = AuthError::invalid("the header holds no single token");
                return Ok(self.refused(&error, client, extensions));
            }
        };

        match self.verify(provider, token).await {
            Ok(verified) => Ok(Identity::Known(verified)),
            Err(error) if matches!(*error, AuthError::Unavailable(_)) => Err(error),
            Err(error) => Ok(self.refused(&error, client, extensions)),
        }
    }

    /// Checks whether a previously verified token is still valid: its expiry and its revocation,
    /// which can change.
    ///
    /// # Errors
    /// `Unavailable` if the revocation store cannot answer.
    #[cfg(feature = "websocket")]
    pub async fn still_holds(&self, verified: &Verified) -> Result<bool, Unavailable> {
        if verified
            .revocable
            .expires_at()
            .is_some_and(|end| end <= std::time::SystemTime::now())
        {
            return Ok(false);
        }

        let Some(revocation) = &self.revocation else {
            return Ok(true);
        };

        match self
            .bounded(revocation.is_revoked(&verified.revocable))
            .await
        {
            Ok(is_revoked) => Ok(!is_revoked),
            Err(error) => {
                self.outages.record(&error, REJECTING);
                Err(Unavailable)
            }
        }
    }

    /// Records the rejected token in the security log; the request continues without a user.
    fn refused(&self, error: &AuthError, headers: &HeaderMap, extensions: &Extensions) -> Identity {
        let (refusal, event_type) = match error {
            AuthError::TokenExpired => (Refusal::Expired, SecurityEventType::AuthTokenExpired),
            _ => (Refusal::Invalid, SecurityEventType::AuthTokenInvalid),
        };

        record(
            self.clients
                .event(event_type, headers, extensions)
                .reason(error.to_string()),
        );

        Identity::Refused(refusal)
    }

    async fn verify(
        &self,
        provider: &SharedProvider,
        token: &[u8],
    ) -> Result<Arc<Verified>, Arc<AuthError>> {
        let verified = match &self.kept {
            Some(kept) => {
                // The generation is read before the keys are used: if they change during the
                // verification, its result stays under the old one, and is verified again.
                let (key, generation) = (kept.key(token), provider.key_generation());
                match kept.get(key, generation) {
                    Some(verified) => verified,
                    // Boxed: most tokens are cached, and the rare case must not enlarge the future
                    // of every request.
                    None => {
                        self.verify_anew(kept, key, generation, provider, token)
                            .boxed()
                            .await?
                    }
                }
            }
            None => {
                let authenticated = self
                    .bounded(provider.authenticate(text(token)?))
                    .boxed()
                    .await?;
                Arc::new(Verified::new(&authenticated))
            }
        };

        // The cache knows nothing of revocations, so each request looks its token up.
        if let Some(revocation) = &self.revocation
            && self
                .bounded(revocation.is_revoked(&verified.revocable))
                .await?
        {
            return Err(AuthError::invalid("it was revoked").into());
        }

        Ok(verified)
    }

    async fn verify_anew(
        &self,
        kept: &TokenCache,
        key: u128,
        generation: u64,
        provider: &SharedProvider,
        token: &[u8],
    ) -> Result<Arc<Verified>, Arc<AuthError>> {
        let authenticated = self
            .bounded(
                self.verifications
                    .verify((key, generation), provider, text(token)?),
            )
            .await?;
        Ok(kept.keep(key, token.len(), generation, &authenticated))
    }

    /// Awaits a result, up to the timeout.
    async fn bounded<T, E: Into<Arc<AuthError>>>(
        &self,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Arc<AuthError>> {
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(answer) => answer.map_err(Into::into),
            Err(_) => Err(AuthError::unavailable("no answer in time").into()),
        }
    }
}

/// The token of a request cannot be verified because a dependency is unavailable; the log has the
/// cause.
#[derive(Debug)]
pub struct Unavailable;

/// The token as text. Providers never see a header value of any other form.
fn text(token: &[u8]) -> Result<&str, AuthError> {
    token68(token).ok_or_else(|| AuthError::invalid("the header holds no single token"))
}

impl std::fmt::Debug for Authentication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authentication")
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}
