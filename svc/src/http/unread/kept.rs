//! Waiting responses, and the clients that have not accepted them.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::client::Client;

/// The time that every client may go without accepting bytes.
const GRACE: Duration = Duration::from_secs(1);
/// The time after which a client must have accepted responses steadily, and the minimum bytes per
/// second.
const LONG: Duration = Duration::from_secs(10);
const STEADY: f64 = 256.0 * 1024.0;
/// The number of seconds for a client to accept its whole backlog.
const TO_TAKE_ALL: f64 = 60.0;

/// A response that waits for its client to accept it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) bytes: usize,
    pub(super) client: Client,
    /// The address of the client, if available.
    pub(super) address: Option<IpAddr>,
    since: Instant,
    /// The bytes that the client had accepted before.
    taken_before: u64,
    pub(super) is_given_up: bool,
}

impl Answer {
    pub(super) fn new(bytes: usize, client: Client, address: Option<IpAddr>) -> Self {
        let (taken_before, _) = client.taken();
        Self {
            bytes,
            client,
            address,
            since: Instant::now(),
            taken_before,
            is_given_up: false,
        }
    }
}

/// The backlog of one client.
pub(super) struct Kept {
    pub(super) bytes: usize,
    /// Since when its oldest response waits, and the bytes accepted since then.
    since: Instant,
    taken: u64,
    taken_at: Option<Instant>,
    is_waited_for: bool,
}

impl Kept {
    /// Creates the backlog of a client from its first response.
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

    /// Adds another response of the client.
    pub(super) fn add(&mut self, answer: &Answer) {
        self.bytes += answer.bytes;
        if answer.since < self.since {
            self.since = answer.since;
            self.taken = answer.client.taken().0.saturating_sub(answer.taken_before);
        }
    }

    /// Returns since when the client has accepted nothing.
    pub(super) fn untouched_since(&self) -> Instant {
        self.taken_at
            .map_or(self.since, |taken_at| taken_at.max(self.since))
    }

    /// Whether the client may be dropped for others: it accepts nothing, or too little for its
    /// backlog.
    pub(super) fn is_too_slow(&self, now: Instant) -> bool {
        let age = now.saturating_duration_since(self.since);
        let steady = STEADY.max(self.bytes as f64 / TO_TAKE_ALL);
        let is_creeping = age >= LONG && (self.taken as f64) < steady * age.as_secs_f64();
        let is_untouched = now.saturating_duration_since(self.untouched_since()) >= GRACE;
        self.is_waited_for && (is_untouched || is_creeping)
    }
}
