//! Several revocation services as one.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{BoxFuture, join_all};

use super::store::{DynStore, LookedUp};
use super::{RevocableToken, RevocationConfig, TokenRevocationService};
use crate::AuthError;

/// The stores of several services as one: it saves revocations in all of them, and a revocation in
/// any of them counts.
struct Several(Vec<TokenRevocationService>);

impl TokenRevocationService {
    /// Returns one service for all of these; `None` if there are none. Each service looks tokens up
    /// by its own configuration.
    #[doc(hidden)]
    pub fn of_all(services: impl IntoIterator<Item = Self>) -> Option<Self> {
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

        Some(Self::of_store(Arc::new(Several(distinct)), config))
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

impl DynStore for Several {
    fn revoke<'a>(
        &'a self,
        id: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), AuthError>> {
        let revoking = self
            .enabled()
            .map(|service| service.0.store.revoke(id, until));
        all(revoking.collect())
    }

    fn revoke_all<'a>(
        &'a self,
        subject: &'a str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), AuthError>> {
        let revoking = self
            .enabled()
            .map(|service| service.0.store.revoke_all(subject, cut_off, until));
        all(revoking.collect())
    }

    fn is_revoked<'a>(
        &'a self,
        token: &'a RevocableToken,
    ) -> BoxFuture<'a, Result<bool, AuthError>> {
        Box::pin(async move {
            let answers = join_all(self.0.iter().map(|service| service.is_revoked(token))).await;

            // One store that knows the revocation is enough, even if another one does not answer.
            if answers.iter().any(|answer| matches!(answer, Ok(true))) {
                return Ok(true);
            }
            answers
                .into_iter()
                .find(Result::is_err)
                .unwrap_or(Ok(false))
        })
    }

    fn are_revoked<'a>(
        &'a self,
        tokens: &'a [&'a RevocableToken],
        timeout: Duration,
    ) -> BoxFuture<'a, LookedUp> {
        Box::pin(async move {
            let services = self.0.iter();
            let found = services.map(|service| service.are_revoked(tokens, timeout));
            join_all(found)
                .await
                .into_iter()
                .fold(LookedUp::none_of(tokens.len()), LookedUp::or)
        })
    }

    fn remove_expired(&self) -> BoxFuture<'_, Result<(), AuthError>> {
        let removing = self
            .enabled()
            .map(|service| service.0.store.remove_expired());
        all(removing.collect())
    }
}

/// Runs the operation of each store. `try_join_all` would cancel the others at the first error, and
/// a token would stay valid there.
fn all(running: Vec<BoxFuture<'_, Result<(), AuthError>>>) -> BoxFuture<'_, Result<(), AuthError>> {
    Box::pin(async move {
        let answers = join_all(running).await;
        answers.into_iter().collect::<Result<(), AuthError>>()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::{Claims, MemoryRevocationStore, RevocationStore, UserContext};

    /// A store that does not answer.
    struct Silent;

    impl RevocationStore for Silent {
        async fn revoke(&self, _: &str, _: SystemTime) -> Result<(), AuthError> {
            Ok(())
        }
        async fn revoke_all(&self, _: &str, _: SystemTime, _: SystemTime) -> Result<(), AuthError> {
            Ok(())
        }
        async fn is_revoked(&self, _: &RevocableToken) -> Result<bool, AuthError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_silent_store_hides_no_revocation_of_another_store() {
        let token = |id: &str| {
            let claims = Map::from_iter([
                ("jti".to_owned(), json!(id)),
                ("sub".to_owned(), json!("ada")),
            ]);
            RevocableToken::new(&Claims::new(claims), &UserContext::new("ada"))
        };

        let (ended, held) = (token("1"), token("2"));
        let config = RevocationConfig::default();
        let known = TokenRevocationService::new(MemoryRevocationStore::new(), config.clone());
        known.revoke(&ended).await.unwrap();
        let silent = TokenRevocationService::new(Silent, config);
        let both = TokenRevocationService::of_all([silent, known]).unwrap();
        let found = both
            .are_revoked(&[&ended, &held], Duration::from_millis(50))
            .await;

        assert_eq!(found.revoked, [true, false]);
        assert!(found.failure.is_some());
    }
}
