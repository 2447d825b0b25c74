//! Answers that wait, and the clients who keep them waiting.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::client::Client;

/// The time for which a client may take nothing in any case.
const GRACE: Duration = Duration::from_secs(1);
/// The time after which a client has to have taken answers steadily, and the least bytes in each of its seconds.
const LONG: Duration = Duration::from_secs(10);
const STEADY: f64 = 256.0 * 1024.0;
/// The seconds in which a client should be able to take all that it keeps waiting.
const TO_TAKE_ALL: f64 = 60.0;

/// An answer that waits until its client takes it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) bytes: usize,
    pub(super) client: Client,
    /// The address of the client, where it is known.
    pub(super) address: Option<IpAddr>,
    since: Instant,
    /// The bytes that the client had taken before.
    taken_before: u64,
    pub(super) is_given_up: bool,
}

impl Answer {
    pub(super) fn new(bytes: usize, client: Client, address: Option<IpAddr>) -> Self {
        let (taken_before, _) = client.taken();
        Self { bytes, client, address, since: Instant::now(), taken_before, is_given_up: false }
    }
}

/// All that one client keeps waiting.
pub(super) struct Kept {
    pub(super) bytes: usize,
    /// The time since which it keeps the oldest answer, and what it has taken since then.
    since: Instant,
    taken: u64,
    taken_at: Option<Instant>,
    is_waited_for: bool,
}

impl Kept {
    /// A client with its first answer.
    pub(super) fn of(answer: &Answer) -> Self {
        let (taken, taken_at) = answer.client.taken();
        Self {
            bytes: answer.bytes,
            since: answer.since,
            taken: taken.saturating_sub(answer.taken_before),
            taken_at,
            is_waited_for: answer.client.is_waited_for(),
        }
    }

    /// The same with another one.
    pub(super) fn add(&mut self, answer: &Answer) {
        self.bytes += answer.bytes;
        if answer.since < self.since {
            self.since = answer.since;
            self.taken = answer.client.taken().0.saturating_sub(answer.taken_before);
        }
    }

    /// The time since which it has taken nothing.
    pub(super) fn untouched_since(&self) -> Instant {
        self.taken_at.map_or(self.since, |taken_at| taken_at.max(self.since))
    }

    /// Whether it may be given up for others: it takes nothing, or too little for what it keeps.
    pub(super) fn is_too_slow(&self, now: Instant) -> bool {
        let age = now.saturating_duration_since(self.since);
        let steady = STEADY.max(self.bytes as f64 / TO_TAKE_ALL);
        let is_creeping = age >= LONG && (self.taken as f64) < steady * age.as_secs_f64();
        let is_untouched = now.saturating_duration_since(self.untouched_since()) >= GRACE;
        self.is_waited_for && (is_untouched || is_creeping)
    }
}
