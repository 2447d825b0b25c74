//! The watched tokens of a connection.

use std::sync::Arc;
use std::time::SystemTime;

use super::notes::Ending;
use svc_auth::Verified;

/// The token of a connection, and the earlier ones that operations still run under.
#[derive(Debug, Default)]
pub(super) struct WatchedTokens {
    /// The token whose end ends the connection.
    pub(super) current: Option<Arc<Verified>>,
    /// The tokens whose end ends operations; for each that has ended, its ending.
    pub(super) earlier: Vec<(Arc<Verified>, Option<Ending>)>,
}

impl WatchedTokens {
    /// Marks the earlier tokens that have expired; returns whether there is a new one.
    pub(super) fn end_expired(&mut self, now: SystemTime) -> bool {
        self.end_earlier(Ending::TokenExpired, |token| is_over(token, now))
    }

    /// Marks the earlier tokens that have ended; returns whether there is a new one.
    pub(super) fn end_earlier(
        &mut self,
        ending: Ending,
        has_ended: impl Fn(&Arc<Verified>) -> bool,
    ) -> bool {
        let mut is_new = false;
        for (token, ended) in self.earlier.iter_mut().filter(|(_, ended)| ended.is_none()) {
            if has_ended(token) {
                (*ended, is_new) = (Some(ending), true);
            }
        }
        is_new
    }

    /// Removes the earlier tokens that have ended.
    #[cfg(feature = "websocket")]
    pub(super) fn take_ended(&mut self) -> Vec<(Arc<Verified>, Ending)> {
        let ended = self.earlier.extract_if(.., |(_, ended)| ended.is_some());
        ended
            .filter_map(|(token, ending)| Some((token, ending?)))
            .collect()
    }

    /// Returns the tokens that have not ended.
    pub(super) fn open(&self) -> impl Iterator<Item = &Arc<Verified>> {
        let earlier = self
            .earlier
            .iter()
            .filter(|(_, ended)| ended.is_none())
            .map(|(token, _)| token);
        self.current.iter().chain(earlier)
    }
}

/// Whether a token has expired.
pub(super) fn is_over(token: &Verified, now: SystemTime) -> bool {
    token.revocable.expires_at().is_some_and(|end| end <= now)
}
