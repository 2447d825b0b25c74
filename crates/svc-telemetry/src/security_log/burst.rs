//! Bounds the security events in the service's own log: a client that ignores its limit would fill
//! it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of lines in a window; the others are only counted.
const MAX_LINES: u32 = 100;
const WINDOW: Duration = Duration::from_secs(60);

/// A bound on the number of events shown. The security log itself contains all of them.
#[derive(Debug)]
pub(super) struct Burst(Mutex<Option<Window>>);

#[derive(Debug, Clone, Copy)]
struct Window {
    since: Instant,
    shown: u32,
    hidden: u64,
}

impl Burst {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Counts an event. Returns whether it is shown, and the number of events that were hidden in
    /// the previous window.
    pub(super) fn shows(&self, now: Instant) -> (bool, u64) {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over =
            window.is_none_or(|window| now.saturating_duration_since(window.since) >= WINDOW);
        if is_over {
            let hidden = window.map_or(0, |window| window.hidden);
            *window = Some(Window {
                since: now,
                shown: 1,
                hidden: 0,
            });
            return (true, hidden);
        }

        let Some(window) = window.as_mut() else {
            return (true, 0);
        };

        if window.shown < MAX_LINES {
            window.shown += 1;
            return (true, 0);
        }

        window.hidden += 1;

        (false, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_shows_its_first_events_and_counts_the_others() {
        let (burst, start) = (Burst::new(), Instant::now());
        let shown = (0..1_000).filter(|_| burst.shows(start).0).count();
        assert_eq!(shown, 100);
        assert_eq!(burst.shows(start + WINDOW), (true, 900));
        assert_eq!(burst.shows(start + WINDOW), (true, 0));
    }
}
