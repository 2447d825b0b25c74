//! The watch over live connections: one task for all of them, which runs only while there are any.

use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::{Full, LiveConnections, Seat, SubscriptionsConfig};

/// The maximum number of header bytes that a connection keeps for its operations.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// The interval between two checks; shorter if a timeout is short.
const TICK: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(400)];

impl LiveConnections {
    /// Takes a seat for a connection that keeps `header_bytes` of headers, and watches over it from
    /// then on. It counts for the address, if there is one, until it is counted for a user.
    ///
    /// # Errors
    /// When the service or the address has reached its limit, or the opening request is too large
    /// to be kept.
    pub(in crate::http) fn open(
        self: &Arc<Self>,
        header_bytes: usize,
        address: Option<IpAddr>,
    ) -> Result<Seat, Full> {
        if header_bytes > MAX_HEADER_BYTES {
            return Err(Full::Head);
        }
        let (seat, is_watched) = self.take_seat(address)?;
        if !is_watched {
            tokio::spawn(Watch(Arc::downgrade(self)).run(self.tick()));
        }
        Ok(seat)
    }

    /// Returns the interval between two checks.
    fn tick(&self) -> Duration {
        let SubscriptionsConfig {
            init_timeout,
            ping_interval,
            write_timeout,
            idle_timeout,
            user_interval,
            user_outage,
            user_max_age,
            ..
        } = &self.config;

        let shortest = init_timeout
            .min(ping_interval)
            .min(write_timeout)
            .min(user_interval)
            .min(user_outage)
            .min(idle_timeout.as_ref().unwrap_or(init_timeout))
            .min(user_max_age.as_ref().unwrap_or(init_timeout));

        (*shortest / 8).clamp(TICK[0], TICK[1])
    }

    /// Checks all connections; returns whether there are any.
    fn look(&self, now: Instant) -> bool {
        let mut open = self.lock();
        for (_, watched) in &mut open.connections {
            watched.look(&self.config, now);
        }

        // Decided under the lock: a connection that comes later sees `false`, and starts another
        // task.
        open.is_watched = !open.connections.is_empty();
        open.is_watched
    }
}

/// The only task that checks connections. If it is dropped, as at the end of its runtime, the next
/// connection starts another.
struct Watch(Weak<LiveConnections>);

impl Watch {
    /// Checks connections until there are none.
    async fn run(mut self, tick: Duration) {
        #[cfg(feature = "auth")]
        let mut revocations = super::tokens::Revocations::default();
        loop {
            tokio::time::sleep(tick).await;
            let Some(list) = self.0.upgrade() else { return };
            if !list.look(Instant::now()) {
                // Another task may watch already, so nothing is left to reset.
                self.0 = Weak::new();
                return;
            }
            #[cfg(feature = "auth")]
            revocations.look(&list).await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(list) = self.0.upgrade() {
            list.lock().is_watched = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;
    use crate::rate_limit::AddressRule;

    #[test]
    fn a_watch_restarts_after_its_runtime_ended() {
        let list = LiveConnections::new(
            SubscriptionsConfig::default(),
            AddressRule::default(),
            #[cfg(feature = "auth")]
            None,
        );

        for _ in 0..2 {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let seat = runtime.block_on(async { list.open(0, None) }).unwrap();
            assert!(list.lock().is_watched);
            drop(runtime);
            assert!(!list.lock().is_watched, "no task is left");
            drop(seat);
        }
    }
}
