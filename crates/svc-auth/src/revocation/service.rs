//! The token revocation service.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::task::JoinHandle;

use super::store::{DynStore, LookedUp};
use super::token::session_id;
use super::{RevocableToken, RevocationConfig, RevocationStore};
use crate::AuthError;
use crate::outage::OutageLog;
use crate::token::MAX_LEEWAY;
use svc_telemetry::security_log::{SecurityEvent, SecurityEventType, record};

/// Revokes tokens before they expire; passed to `AppOptions::token_revocation`, and cheap to clone.
///
/// A token needs `jti` and `sub` to be revoked by itself. All tokens of a user are revoked by the
/// user's identifier, whichever claim it comes from.
///
/// ```
/// use svc::auth::{MemoryRevocationStore, RevocationConfig, TokenRevocationService};
/// use svc::prelude::*;
///
/// let revocation = TokenRevocationService::new(MemoryRevocationStore::new(), RevocationConfig::default());
/// let options = AppOptions::new().token_revocation(revocation.clone());
/// ```
#[derive(Clone)]
pub struct TokenRevocationService(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) store: Arc<dyn DynStore>,
    pub(super) config: RevocationConfig,
    outages: OutageLog,
    cleanup: Mutex<Option<JoinHandle<()>>>,
}

impl TokenRevocationService {
    /// A service over a store.
    pub fn new(store: impl RevocationStore, config: RevocationConfig) -> Self {
        Self::of_store(Arc::new(store), config)
    }

    pub(super) fn of_store(store: Arc<dyn DynStore>, config: RevocationConfig) -> Self {
        Self(Arc::new(Shared {
            store,
            config,
            outages: OutageLog::default(),
            cleanup: Mutex::default(),
        }))
    }

    /// Revokes one token until it would have expired.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] if revocation is disabled, [`AuthError::InvalidToken`] for a
    /// token without `jti` and `sub`, and [`AuthError::Unavailable`] if the store could not save
    /// the revocation.
    pub async fn revoke(&self, token: &RevocableToken) -> Result<(), AuthError> {
        self.check_enabled()?;
        let Some(id) = token.id().filter(|_| token.has_sub()) else {
            return Err(AuthError::invalid(
                "it has no `jti` and `sub`, so it cannot be revoked",
            ));
        };

        let least = self.until();
        let until = token.expires_at().map(past_leeway);
        self.0
            .store
            .revoke(id, until.map_or(least, |until| until.max(least)))
            .await?;
        record(revoked(token.subject(), "token").metadata("jti", id));

        Ok(())
    }

    /// Revokes all tokens of a session, identified by their `iss` and `sid`.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] if revocation is disabled, and [`AuthError::Unavailable`] if the
    /// store could not save the revocation.
    pub async fn revoke_session(
        &self,
        issuer: Option<&str>,
        session: &str,
    ) -> Result<(), AuthError> {
        self.forget_session(issuer, session).await?;
        record(revoked(None, "session").metadata("sid", session));
        Ok(())
    }

    /// Revokes all tokens of a session as part of a larger revocation, which has its own event in
    /// the security log.
    pub(crate) async fn forget_session(
        &self,
        issuer: Option<&str>,
        session: &str,
    ) -> Result<(), AuthError> {
        self.check_enabled()?;
        self.0
            .store
            .revoke(&session_id(issuer, session), self.until())
            .await
    }

    /// Revokes all tokens issued to a user up to now.
    ///
    /// # Errors
    /// [`AuthError::NotSupported`] if revocation is disabled, and [`AuthError::Unavailable`] if the
    /// store could not save the revocation.
    pub async fn revoke_all(&self, user_id: &str) -> Result<(), AuthError> {
        self.revoke_all_before(user_id, SystemTime::now()).await
    }

    /// Revokes all tokens issued to a user before a time.
    pub(crate) async fn revoke_all_before(
        &self,
        user_id: &str,
        cut_off: SystemTime,
    ) -> Result<(), AuthError> {
        self.check_enabled()?;
        self.0
            .store
            .revoke_all(user_id, cut_off, self.until())
            .await?;
        record(revoked(Some(user_id), "all tokens"));
        Ok(())
    }

    /// Whether a token is revoked; takes one lookup in the store.
    ///
    /// # Errors
    /// [`AuthError::Unavailable`] if the store does not answer, unless the configuration accepts
    /// tokens in that case.
    pub async fn is_revoked(&self, token: &RevocableToken) -> Result<bool, AuthError> {
        let config = &self.0.config;
        if !config.enabled
            || !config.check_revocation
            || (token.ids().next().is_none() && token.subject().is_none())
        {
            return Ok(false);
        }

        match self.0.store.is_revoked(token).await {
            Err(error) if config.allow_when_away => {
                self.0.outages.record(
                    &error,
                    "accepting tokens without a check for revocation: the store is unavailable",
                );
                Ok(false)
            }
            answer => answer,
        }
    }

    /// Whether tokens are checked for revocation at all.
    #[doc(hidden)]
    pub fn is_checked(&self) -> bool {
        self.0.config.enabled && self.0.config.check_revocation
    }

    /// Whether each of these tokens is revoked; none of them if revocation is not checked. A store
    /// that does not answer within the timeout is a failure, unless the configuration accepts
    /// tokens in that case.
    #[doc(hidden)]
    pub async fn are_revoked(&self, tokens: &[&RevocableToken], timeout: Duration) -> LookedUp {
        if !self.is_checked() {
            return LookedUp::none_of(tokens.len());
        }

        let mut found = self.0.store.are_revoked(tokens, timeout).await;
        if self.0.config.allow_when_away
            && let Some(error) = found.failure.take()
        {
            self.0.outages.record(
                &error,
                "accepting tokens without a check for revocation: the store is unavailable",
            );
        }

        found
    }

    /// Starts the periodic removal of expired revocations. The application calls this when it
    /// starts.
    pub fn start(&self) {
        let mut cleanup = self
            .0
            .cleanup
            .lock()
            .unwrap_or_else(PoisonError::into_inner);

        if self.0.config.enabled && cleanup.is_none() {
            let (store, every) = (
                Arc::downgrade(&self.0.store),
                self.0.config.cleanup_interval,
            );
            *cleanup = Some(tokio::spawn(async move {
                // `interval` panics if the period is zero.
                let mut beat = tokio::time::interval(every.max(Duration::from_secs(1)));

                // The first tick of an interval completes at once.
                beat.tick().await;
                loop {
                    beat.tick().await;
                    let Some(store) = store.upgrade() else { return };
                    if let Err(error) = store.remove_expired().await {
                        tracing::warn!(%error, "cannot remove expired revocations");
                    }
                }
            }));
        }
    }

    /// Stops the task started by [`start`](Self::start). Tokens stay revoked and are still checked.
    pub fn stop(&self) {
        if let Some(task) = self
            .0
            .cleanup
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            task.abort();
        }
    }

    /// The time until which a revocation from now is kept at least.
    fn until(&self) -> SystemTime {
        past_leeway(SystemTime::now() + self.0.config.ttl)
    }

    fn check_enabled(&self) -> Result<(), AuthError> {
        if self.0.config.enabled {
            Ok(())
        } else {
            Err(AuthError::NotSupported)
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(task) = self
            .cleanup
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            task.abort();
        }
    }
}

impl std::fmt::Debug for TokenRevocationService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenRevocationService")
            .field("config", &self.0.config)
            .finish_non_exhaustive()
    }
}

/// The time until which tokens with this `exp` may be accepted.
fn past_leeway(end: SystemTime) -> SystemTime {
    // The clock cannot represent later times, which a token may contain.
    end.checked_add(MAX_LEEWAY).unwrap_or(end)
}

fn revoked(user_id: Option<&str>, resource: &str) -> SecurityEvent {
    let event = SecurityEvent::new(SecurityEventType::AuthTokenRevoked).resource(resource);
    user_id.into_iter().fold(event, SecurityEvent::user_id)
}
