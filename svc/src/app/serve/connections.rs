//! The connections of a server, and how long each may wait for its client.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::activity::{Activity, ENOUGH, Order, Phase};
use crate::app::HttpConfig;

/// The time for which a client that was refused may go on sending, and the time for which it may send nothing.
const LINGERING: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(5);

/// The time between two looks at connections; shorter where a time-out is short.
const TICK: [Duration; 2] = [Duration::from_millis(5), Duration::from_secs(1)];

/// The open connections. A connection notes what it is at, and this sees for how long: so no request needs a timer or a
/// clock, and a time-out may be late by a tick.
#[derive(Debug)]
pub(super) struct Connections {
    config: HttpConfig,
    open: Vec<Watched>,
}

/// A connection and what was seen of it.
#[derive(Debug)]
struct Watched {
    activity: Arc<Activity>,
    mark: u64,
    /// The time since which it is as it is.
    since: Instant,
    moved: u64,
    moved_at: Instant,
    /// The time since which its client takes too little, and the bytes that had been taken then.
    blocked: Option<(Instant, u64)>,
}

impl Connections {
    pub(super) fn new(config: HttpConfig) -> Self {
        Self { config, open: Vec::new() }
    }

    /// Returns the time between two looks.
    pub(super) fn tick(&self) -> Duration {
        let HttpConfig { header_timeout, write_timeout, idle_timeout, .. } = &self.config;
        let shortest = header_timeout.min(write_timeout).min(idle_timeout);
        (*shortest / 8).clamp(TICK[0], TICK[1])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn add(&mut self, activity: Arc<Activity>, now: Instant) {
        let mark = activity.mark();
        self.open.push(Watched { activity, mark, since: now, moved: 0, moved_at: now, blocked: None });
    }

    /// Forgets what has ended, and ends what is late.
    pub(super) fn look(&mut self, now: Instant) {
        let config = &self.config;
        self.open.retain_mut(|watched| {
            let is_open = !watched.activity.has_ended();
            if is_open && let Some(order) = watched.look(config, now) {
                watched.activity.tell(order);
            }
            is_open
        });
    }

    /// Tells all of them.
    pub(super) fn tell(&self, order: Order) {
        for watched in &self.open {
            watched.activity.tell(order);
        }
    }
}

impl Watched {
    /// Returns the order for it, if it is late with something.
    fn look(&mut self, config: &HttpConfig, now: Instant) -> Option<Order> {
        let (mark, moved) = (self.activity.mark(), self.activity.moved());
        if mark != self.mark || self.activity.open_streams() > 0 {
            (self.mark, self.since) = (mark, now);
        }
        if moved != self.moved {
            (self.moved, self.moved_at) = (moved, now);
        }
        if self.takes_too_little(config.write_timeout, now) {
            return Some(Order::Reset);
        }
        let waited = now.saturating_duration_since(self.since);
        match self.activity.phase() {
            Phase::Head => (waited >= config.header_timeout).then_some(Order::Close),
            Phase::Busy if !self.activity.is_http2() => None,
            // One that takes no leave is closed.
            Phase::Busy | Phase::Idle if waited >= config.idle_timeout + config.header_timeout => Some(Order::Close),
            Phase::Busy | Phase::Idle => (waited >= config.idle_timeout).then_some(Order::Finish),
            Phase::Lingering => {
                let is_silent = now.saturating_duration_since(self.moved_at.max(self.since)) >= SILENCE;
                (is_silent || waited >= LINGERING).then_some(Order::Close)
            }
        }
    }

    /// Whether bytes wait for the client, and it has taken fewer than [`ENOUGH`] of them for the time-out.
    fn takes_too_little(&mut self, timeout: Duration, now: Instant) -> bool {
        if !self.activity.is_blocked() {
            self.blocked = None;
            return false;
        }
        let (since, before) = *self.blocked.get_or_insert((now, self.moved));
        if now.saturating_duration_since(since) < timeout {
            return false;
        }
        self.blocked = Some((now, self.moved));
        self.moved.wrapping_sub(before) < ENOUGH
    }
}
