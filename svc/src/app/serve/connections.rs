//! The connections of a server, and the timeouts of each.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::activity::{Activity, ENOUGH, Order, Phase};
use super::seats::{Seat, Seats};
use crate::app::HttpConfig;

/// The maximum time that a rejected client may keep sending, and the maximum time without any bytes
/// from it.
const LINGERING: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(5);

/// A connection is closed for others only after this time without a request.
const BUSY: Duration = Duration::from_millis(500);

/// The time for which newcomers use the result of one scan: a flood of them must not cause a scan
/// each.
const SCAN_AGE: Duration = Duration::from_millis(10);

/// The interval between two checks of the connections; shorter if a timeout is short.
const TICK: [Duration; 2] = [Duration::from_millis(5), Duration::from_secs(1)];

/// The open connections. A connection records its phase, and this checks for how long it is in it:
/// so no request needs a timer or a clock, and a timeout may be late by a tick.
#[derive(Debug)]
pub(super) struct Connections {
    config: HttpConfig,
    open: Vec<Watched>,
    scan: Scan,
}

/// The idle connections at one time, by address, longest idle first.
#[derive(Debug, Default)]
struct Scan {
    at: Option<Instant>,
    addresses: BTreeMap<IpAddr, VecDeque<Candidate>>,
}

/// An idle connection and its state at the scan.
#[derive(Debug)]
struct Candidate {
    activity: Arc<Activity>,
    mark: u64,
}

/// A connection and its state at the last check.
#[derive(Debug)]
struct Watched {
    activity: Arc<Activity>,
    /// The client's address; for IPv6, the address of its network.
    address: IpAddr,
    mark: u64,
    /// When its state last changed.
    since: Instant,
    moved: u64,
    moved_at: Instant,
    /// The start of the current write timeout, and the number of bytes accepted by then.
    blocked: Option<(Instant, u64)>,
}

impl Connections {
    pub(super) fn new(config: HttpConfig) -> Self {
        Self {
            config,
            open: Vec::new(),
            scan: Scan::default(),
        }
    }

    /// Returns the interval between two checks.
    pub(super) fn tick(&self) -> Duration {
        let HttpConfig {
            header_timeout,
            write_timeout,
            idle_timeout,
            ..
        } = &self.config;
        let shortest = header_timeout.min(write_timeout).min(idle_timeout);
        (*shortest / 8).clamp(TICK[0], TICK[1])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn add(&mut self, activity: Arc<Activity>, address: IpAddr, now: Instant) {
        let mark = activity.mark();
        self.open.push(Watched {
            activity,
            address,
            mark,
            since: now,
            moved: 0,
            moved_at: now,
            blocked: None,
        });
    }

    /// Closes an idle connection if a newcomer exceeds a limit. Returns whether the newcomer may
    /// stay.
    pub(super) fn make_room_for(&mut self, newcomer: &Seat, seats: &Seats, now: Instant) -> bool {
        if seats.is_crowded(newcomer.address) {
            self.scan_idle(now);
            return self.scan.close_idle(newcomer.address, 1) > 0;
        }
        if newcomer.is_limited() {
            self.make_room(seats, now);
        }
        true
    }

    /// Closes idle connections of the address with most connections, for newcomers that wait.
    pub(super) fn make_room(&mut self, seats: &Seats, now: Instant) {
        self.scan_idle(now);

        while let Some(address) = self
            .scan
            .addresses
            .keys()
            .copied()
            .max_by_key(|address| seats.count(*address))
        {
            if self.scan.close_idle(address, seats.batch()) > 0 {
                return;
            }
        }
    }

    /// Searches all connections for idle ones, unless that was done just now.
    fn scan_idle(&mut self, now: Instant) {
        if self.scan.is_recent(now) {
            return;
        }

        let mut idle: Vec<_> = self
            .open
            .iter()
            .filter_map(|open| Some((open.idle_since(now)?, open)))
            .collect();

        idle.sort_by_key(|(since, _)| *since);

        let mut addresses = BTreeMap::<IpAddr, VecDeque<Candidate>>::new();
        for (_, open) in idle {
            let candidate = Candidate {
                activity: open.activity.clone(),
                mark: open.mark,
            };
            addresses
                .entry(open.address)
                .or_default()
                .push_back(candidate);
        }

        self.scan = Scan {
            at: Some(now),
            addresses,
        };
    }

    /// Removes connections that have ended, and ends connections that have timed out.
    pub(super) fn look(&mut self, now: Instant) {
        // An old scan would keep the records of connections that have ended.
        if !self.scan.is_recent(now) {
            self.scan = Scan::default();
        }

        let config = &self.config;
        self.open.retain_mut(|watched| {
            let is_open = !watched.activity.has_ended();
            if is_open && let Some(order) = watched.look(config, now) {
                watched.activity.tell(order);
            }
            is_open
        });
    }

    /// Gives the order to all connections.
    pub(super) fn tell(&self, order: Order) {
        for watched in &self.open {
            watched.activity.tell(order);
        }
    }
}

impl Scan {
    fn is_recent(&self, now: Instant) -> bool {
        self.at
            .is_some_and(|at| now.saturating_duration_since(at) < SCAN_AGE)
    }

    /// Closes at most `most` connections of an address that are still idle, and returns how many.
    /// If there are fewer, forgets the address.
    fn close_idle(&mut self, address: IpAddr, most: usize) -> usize {
        let Some(idle) = self.addresses.get_mut(&address) else {
            return 0;
        };

        let mut closed = 0;
        while closed < most {
            let Some(candidate) = idle.pop_front() else {
                self.addresses.remove(&address);
                break;
            };
            if candidate.is_still_idle() {
                candidate.activity.tell(Order::Close);
                closed += 1;
            }
        }

        closed
    }
}

impl Candidate {
    /// Whether nothing has happened on the connection since the scan.
    fn is_still_idle(&self) -> bool {
        let activity = &self.activity;
        !activity.has_ended() && activity.order() == Order::None && activity.mark() == self.mark
    }
}

impl Watched {
    /// Since when the client could have sent a request and has not; `None` if that time is short or
    /// the connection may not be closed for others. The rank comes first: connections that wait for
    /// another request, then connections without any.
    fn idle_since(&self, now: Instant) -> Option<(u8, Instant)> {
        let activity = &self.activity;
        let is_closing = activity.has_ended() || activity.order() != Order::None;

        // A connection that made progress since the last check was not idle.
        if is_closing
            || activity.mark() != self.mark
            || now.saturating_duration_since(self.since) < BUSY
        {
            return None;
        }

        match activity.phase() {
            Phase::Idle | Phase::Lingering => Some((0, self.since)),
            Phase::Busy if activity.is_http2() && activity.open_streams() == 0 => {
                Some((0, self.since))
            }
            Phase::Head => Some((1, self.since)),
            Phase::Busy => None,
        }
    }

    /// Returns the order for the connection, if one of its timeouts has expired.
    fn look(&mut self, config: &HttpConfig, now: Instant) -> Option<Order> {
        let (mark, moved) = (self.activity.mark(), self.activity.moved());

        // The mark of an HTTP/2 connection does not change while its streams run, although it is
        // not idle.
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
            // The application limits the time of its requests.
            Phase::Busy if !self.activity.is_http2() => None,
            // A connection that does not follow the order to finish is closed.
            Phase::Busy | Phase::Idle if waited >= config.idle_timeout + config.header_timeout => {
                Some(Order::Close)
            }
            Phase::Busy | Phase::Idle => (waited >= config.idle_timeout).then_some(Order::Finish),
            Phase::Lingering => {
                let is_silent =
                    now.saturating_duration_since(self.moved_at.max(self.since)) >= SILENCE;
                (is_silent || waited >= LINGERING).then_some(Order::Close)
            }
        }
    }

    /// Whether bytes wait for the client, and it has accepted fewer than [`ENOUGH`] of them within
    /// the timeout.
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[tokio::test]
    async fn newcomers_within_ten_milliseconds_share_a_scan() {
        let config = HttpConfig {
            max_connections_per_address: Some(1),
            ..HttpConfig::default()
        };

        let (mut connections, mut seats) = (Connections::new(config.clone()), Seats::new(&config));
        let (peer, opened) = (IpAddr::from(Ipv4Addr::LOCALHOST), Instant::now());
        let (reserved, other) = (seats.reserve().await, seats.reserve().await);
        let (_seat, newcomer) = (seats.take(reserved, peer), seats.take(other, peer));
        let idle = [(); 3].map(|()| Activity::new());
        let closed = || {
            idle.each_ref()
                .map(|activity| activity.order() == Order::Close)
        };

        let now = opened + BUSY;
        connections.add(idle[0].clone(), newcomer.address, opened);
        connections.add(idle[1].clone(), newcomer.address, opened);
        assert!(connections.make_room_for(&newcomer, &seats, now));
        assert_eq!(closed(), [true, false, false]);
        connections.add(idle[2].clone(), newcomer.address, opened);
        assert!(connections.make_room_for(&newcomer, &seats, now));
        assert!(
            !connections.make_room_for(&newcomer, &seats, now),
            "there was another scan"
        );
        assert!(connections.make_room_for(&newcomer, &seats, now + SCAN_AGE));

        assert_eq!(closed(), [true; 3]);
    }
}
