//! The check for revoked tokens of live connections.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::LiveConnections;
use super::notes::{Ending, Order};
use svc_auth::Verified;
use svc_core::log_throttle::LogThrottle;

/// The timeout of the revocation store.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The time that connections stay open while the store does not respond.
const OUTAGE: Duration = Duration::from_secs(10);
/// The time between two log lines about an outage.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The checks of the revocation store.
#[derive(Debug)]
pub(super) struct Revocations {
    /// The start of the outage, while the store does not respond.
    away: Option<Instant>,
    failures: LogThrottle,
}

impl Default for Revocations {
    fn default() -> Self {
        Self {
            away: None,
            failures: LogThrottle::every(BETWEEN_LINES),
        }
    }
}

impl Revocations {
    /// Ends the connections and the operations with a revoked token. Each token is checked once;
    /// without a store, none is checked.
    pub(super) async fn look(&mut self, list: &LiveConnections) {
        let Some(revocation) = list
            .revocation
            .as_ref()
            .filter(|revocation| revocation.is_checked())
        else {
            return;
        };

        let tokens = list.tokens();
        if tokens.is_empty() {
            self.away = None;
            return;
        }

        let asked: Vec<_> = tokens.iter().map(|token| &token.revocable).collect();

        let found = revocation.are_revoked(&asked, TIMEOUT).await;
        let answers = tokens.iter().map(address).zip(found.revoked);
        let (revoked, others): (Vec<_>, Vec<_>) = answers.partition(|(_, is_revoked)| *is_revoked);
        let addresses = |tokens: Vec<(usize, bool)>| tokens.into_iter().map(|(token, _)| token);
        list.end(&addresses(revoked).collect(), Ending::TokenRevoked);

        let Some(error) = found.failure else {
            self.away = None;
            return;
        };

        // A short outage, such as a restart of the store, must not close all sockets at once.
        let away = *self.away.get_or_insert_with(Instant::now);
        if away.elapsed() >= OUTAGE {
            // Throttled, as each check closes the connections opened since the one before.
            let error = error.to_string();
            self.failures.log(move |times| {
                tracing::error!(
                    error,
                    times,
                    "closing connections with tokens: the revocation store is unavailable"
                );
            });
            list.end(&addresses(others).collect(), Ending::RevocationUnknown);
        }
    }
}

impl LiveConnections {
    /// Returns the tokens of open connections and of their operations, each once.
    fn tokens(&self) -> Vec<Arc<Verified>> {
        let open = self.lock();
        let mut seen = HashSet::new();
        let tokens = open
            .connections
            .iter()
            .flat_map(|(_, watched)| watched.tokens.open());

        tokens
            .filter(|token| seen.insert(address(token)))
            .cloned()
            .collect()
    }

    fn end(&self, tokens: &HashSet<usize>, ending: Ending) {
        if tokens.is_empty() {
            return;
        }

        let has_ended = |token: &Arc<Verified>| tokens.contains(&address(token));
        for (_, watched) in &mut self.lock().connections {
            if watched.tokens.current.as_ref().is_some_and(has_ended) {
                watched.tell(Order::End(ending));
            } else if watched.tokens.end_earlier(ending, has_ended) {
                watched.tell(Order::EndOperations);
            }
        }
    }
}

/// Identifies a token: equal tokens of two verifications are distinct, and each is checked
/// separately.
fn address(token: &Arc<Verified>) -> usize {
    Arc::as_ptr(token).addr()
}
