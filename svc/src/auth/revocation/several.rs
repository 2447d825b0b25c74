//! Several revocation services as one.

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::join_all;

use super::{RevocableToken, RevocationConfig, RevocationStore, TokenRevocationService};
use crate::auth::AuthError;

/// The stores of several services as one: it saves revocations in all of them, and a revocation in
/// any of them counts.
struct Several(Vec<TokenRevocationService>);

impl TokenRevocationService {
    /// Returns one service for all of these; `None` if there are none. Each service looks tokens up
    /// by its own configuration.
    pub(crate) fn of_all(services: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut distinct: Vec<Self> = Vec::new();
        for service in services {
            // Providers may share a service, whose store is then read once for a request.
            if !distinct
                .iter()
                .any(|known| Arc::ptr_eq(&known.0, &service.0))
            {
                distinct.push(service);
            }
        }

        if distinct.len() < 2 {
            return distinct.pop();
        }

        let config = config_of(&distinct);

        Some(Self::new(Several(distinct), config))
    }
}

/// The configuration of several services as one. An unavailable store is a matter of each service.
fn config_of(services: &[TokenRevocationService]) -> RevocationConfig {
    let enabled = || {
        services
            .iter()
            .map(|service| &service.0.config)
            .filter(|config| config.enabled)
    };

    let default = RevocationConfig::default();
    RevocationConfig {
        enabled: enabled().next().is_some(),
        check_revocation: enabled().any(|config| config.check_revocation),
        // All stores keep a revocation until the same time, so the longest of their times applies.
        ttl: enabled()
            .map(|config| config.ttl)
            .max()
            .unwrap_or(default.ttl),
        cleanup_interval: enabled()
            .map(|config| config.cleanup_interval)
            .min()
            .unwrap_or(default.cleanup_interval),
        allow_when_away: false,
    }
}

impl Several {
    /// The services that can revoke tokens.
    fn enabled(&self) -> impl Iterator<Item = &TokenRevocationService> {
        self.0.iter().filter(|service| service.0.config.enabled)
    }
}

impl RevocationStore for Several {
    async fn revoke(&self, id: &str, until: SystemTime) -> Result<(), AuthError> {
        // `try_join_all` would cancel the other stores at the first error, and the token would stay
        // valid there.
        join_all(
            self.enabled()
                .map(|service| service.0.store.revoke(id, until)),
        )
        .await
        .into_iter()
        .collect()
    }

    async fn revoke_all(
        &self,
        subject: &str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> Result<(), AuthError> {
        let revoking = self
            .enabled()
            .map(|service| service.0.store.revoke_all(subject, cut_off, until));
        join_all(revoking).await.into_iter().collect()
    }

    async fn is_revoked(&self, token: &RevocableToken) -> Result<bool, AuthError> {
        let answers = join_all(self.0.iter().map(|service| service.is_revoked(token))).await;

        // One store that knows the revocation is enough, even if another one does not answer.
        if answers.iter().any(|answer| matches!(answer, Ok(true))) {
            return Ok(true);
        }
        answers
            .into_iter()
            .find(Result::is_err)
            .unwrap_or(Ok(false))
    }

    async fn are_revoked(&self, tokens: &[&RevocableToken]) -> Result<Vec<bool>, AuthError> {
        let mut revoked = vec![false; tokens.len()];
        for answers in join_all(self.0.iter().map(|service| service.are_revoked(tokens))).await {
            revoked
                .iter_mut()
                .zip(answers?)
                .for_each(|(revoked, answer)| *revoked |= answer);
        }
        Ok(revoked)
    }

    async fn remove_expired(&self) -> Result<(), AuthError> {
        join_all(
            self.enabled()
                .map(|service| service.0.store.remove_expired()),
        )
        .await
        .into_iter()
        .collect()
    }
}
