//! A connection as tracked by the watch.

use std::sync::Arc;
use std::sync::atomic::Ordering;
#[cfg(feature = "auth")]
use std::time::SystemTime;
use std::time::{Duration, Instant};

use super::SubscriptionsConfig;
use super::notes::{Ending, Notes, Order};
#[cfg(feature = "auth")]
use super::watched_tokens::{WatchedTokens, is_over};
#[cfg(feature = "auth")]
use super::watched_user::WatchedUser;

/// A connection and its state at the last check.
#[derive(Debug)]
pub(super) struct Watched {
    notes: Arc<Notes>,
    opened: Instant,
    /// The number of messages at the last ping, and the time of that ping.
    pinged: Option<u32>,
    last_ping: Instant,
    /// Since when it has no operation.
    idle: Option<Instant>,
    /// The number of the message that waits, and since when.
    writing: Option<(u32, Instant)>,
    #[cfg(feature = "auth")]
    pub(super) tokens: WatchedTokens,
    #[cfg(feature = "auth")]
    pub(super) user: Option<Box<WatchedUser>>,
}

impl Watched {
    pub(super) fn new(notes: Arc<Notes>, now: Instant) -> Self {
        Self {
            notes,
            opened: now,
            pinged: None,
            last_ping: now,
            idle: None,
            writing: None,
            #[cfg(feature = "auth")]
            tokens: WatchedTokens::default(),
            #[cfg(feature = "auth")]
            user: None,
        }
    }

    /// Sets the watch over the user. A renewal does not extend the time of a user that a layer has
    /// identified.
    #[cfg(feature = "auth")]
    pub(super) fn watch_user(&mut self, watch: Option<WatchedUser>) {
        let ends = self.user.as_ref().and_then(|before| before.ends);
        self.user = watch.map(|watch| {
            Box::new(WatchedUser {
                ends: ends.or(watch.ends),
                ..watch
            })
        });
    }

    pub(super) fn tell(&self, order: Order) {
        self.notes.tell(order);
    }

    /// Orders the connection to end, or to ping, if one of its timeouts has expired.
    pub(super) fn look(&mut self, config: &SubscriptionsConfig, now: Instant) {
        let since = |time: Instant| now.saturating_duration_since(time);
        let notes = &self.notes;
        let is_initialised = notes.is_initialised.load(Ordering::Relaxed);
        let operations = notes.operations.load(Ordering::Relaxed);
        let writing = notes.writing.load(Ordering::Relaxed);

        self.idle = (operations == 0).then(|| self.idle.unwrap_or(now));

        // Only the same message continues a wait: a client that takes one message after the other
        // is slow, but not stuck.
        let waits = self
            .writing
            .filter(|(message, _)| *message == writing)
            .map(|(_, since)| since);
        self.writing = (writing & 1 == 1).then(|| (writing, waits.unwrap_or(now)));
        let is_over = |start: Option<Instant>, limit: Duration| {
            start.is_some_and(|start| since(start) >= limit)
        };
        #[cfg(feature = "auth")]
        if self.tokens.end_expired(SystemTime::now()) {
            notes.tell(Order::EndOperations);
        }
        #[cfg(feature = "auth")]
        if self.user.as_mut().is_some_and(|user| user.take_check(now)) {
            notes.tell(Order::CheckUser);
        }

        let ending = if !is_initialised && since(self.opened) >= config.init_timeout {
            Some(Ending::InitTimeout)
        } else if is_over(self.writing.map(|(_, start)| start), config.write_timeout) {
            Some(Ending::SlowReader)
        } else if config
            .idle_timeout
            .is_some_and(|limit| is_over(self.idle, limit))
        {
            Some(Ending::Idle)
        } else {
            self.end_of_user(now)
        };

        if let Some(ending) = ending {
            return self.tell(Order::End(ending));
        }

        if since(self.last_ping) >= config.ping_interval {
            let heard = notes.heard.load(Ordering::Relaxed);

            // Any message counts as a sign of life, not only a pong: a client that sends much may
            // answer the ping late.
            let is_silent = self.pinged.is_some_and(|before| before == heard);
            self.tell(if is_silent {
                Order::End(Ending::Silent)
            } else {
                Order::Ping
            });
            (self.pinged, self.last_ping) = (Some(heard), now);
        }
    }

    #[cfg(feature = "auth")]
    fn end_of_user(&self, now: Instant) -> Option<Ending> {
        let token = self.tokens.current.as_ref();
        if token.is_some_and(|token| is_over(token, SystemTime::now())) {
            return Some(Ending::TokenExpired);
        }

        let ends = self.user.as_ref()?.ends?;
        (now >= ends).then_some(Ending::UserTooOld)
    }

    #[cfg(not(feature = "auth"))]
    fn end_of_user(&self, _: Instant) -> Option<Ending> {
        None
    }
}
