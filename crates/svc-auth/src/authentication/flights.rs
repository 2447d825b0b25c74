//! Verifications in progress: concurrent requests with the same new token share one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use crate::{AuthError, Authenticated, SharedProvider};

type Answer = Result<Arc<Authenticated>, Arc<AuthError>>;
type Flight = BoxFuture<'static, Answer>;
/// The key of the token and the generation of the signing keys it is verified with: a request that
/// arrives after the keys have changed does not join.
type Key = (u128, u64);
type Flights = Arc<Mutex<HashMap<Key, WeakShared<Flight>>>>;

/// The verifications in progress, at most one per request.
#[derive(Debug, Default)]
pub struct Verifications(Flights);

impl Verifications {
    /// Verifies a token, or joins a verification of the same token in progress. The verification
    /// does not depend on the request that started it; it is dropped once no request waits for it.
    ///
    /// A result that the provider does not allow to be cached is valid for one request, so each
    /// request that joined verifies the token again.
    pub(super) async fn verify(&self, key: Key, provider: &SharedProvider, token: &str) -> Answer {
        let (flight, is_mine) = self.join(key, provider, token);
        match flight.await {
            Ok(authenticated) if !is_mine && authenticated.keep_until.is_none() => provider
                .authenticate(token)
                .await
                .map(Arc::new)
                .map_err(Arc::new),
            answer => answer,
        }
    }

    fn join(&self, key: Key, provider: &SharedProvider, token: &str) -> (Shared<Flight>, bool) {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flight) = flights.get(&key).and_then(WeakShared::upgrade) {
            return (flight, false);
        }

        let (provider, token, landing) = (
            provider.clone(),
            token.to_owned(),
            Landing {
                flights: self.0.clone(),
                key,
            },
        );

        let flight = async move {
            let _landing = landing;
            provider
                .authenticate(&token)
                .await
                .map(Arc::new)
                .map_err(Arc::new)
        };

        let flight = flight.boxed().shared();

        // A strong reference in the map would keep a verification alive that no request waits for.
        if let Some(weak) = flight.downgrade() {
            flights.insert(key, weak);
        }

        (flight, true)
    }
}

/// Removes a verification from the map when it completes or is dropped.
struct Landing {
    flights: Flights,
    key: Key,
}

impl Drop for Landing {
    fn drop(&mut self) {
        // The entry may already belong to a newer verification: its requests get their results all
        // the same, and only later requests do not join it.
        self.flights
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AuthProvider, Claims, UserContext};

    struct Known;

    impl AuthProvider for Known {
        async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
            Ok(Claims::default())
        }
        async fn get_user_from_token(&self, token: &str) -> Result<UserContext, AuthError> {
            Ok(UserContext::new(token))
        }
    }

    #[tokio::test]
    async fn a_verification_that_has_ended_is_forgotten() {
        let (verifications, provider) =
            (Verifications::default(), Arc::new(Known) as SharedProvider);
        for key in 0..10 {
            verifications
                .verify((key, 0), &provider, "token")
                .await
                .unwrap();
        }

        assert!(verifications.0.lock().unwrap().is_empty());
    }
}
