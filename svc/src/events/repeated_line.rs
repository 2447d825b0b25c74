//! Lines of the log that strangers can cause, counted.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two lines.
const PAUSE: Duration = Duration::from_secs(1);

/// A line of the log that is written once in a while, with the number of its causes.
pub(super) struct RepeatedLine(Mutex<Counted>);

struct Counted {
    written: Option<Instant>,
    causes: u64,
}

impl RepeatedLine {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Counted { written: None, causes: 0 }))
    }

    /// Counts a cause; returns the number of causes since the last line where it is time for the next.
    pub(super) fn count(&self) -> Option<u64> {
        self.count_at(Instant::now())
    }

    fn count_at(&self, now: Instant) -> Option<u64> {
        // Nothing under the lock can panic half-way.
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.causes += 1;
        if counted.written.is_some_and(|written| now.saturating_duration_since(written) < PAUSE) {
            return None;
        }
        counted.written = Some(now);
        Some(std::mem::take(&mut counted.causes))
    }
}

#[cfg(test)]
mod tests {
    use super::{PAUSE, RepeatedLine};

    #[test]
    fn a_line_tells_how_many_causes_there_were() {
        let (line, start) = (RepeatedLine::new(), std::time::Instant::now());
        assert_eq!(line.count_at(start), Some(1));
        for _ in 0..5 {
            assert_eq!(line.count_at(start + PAUSE / 2), None);
        }
        assert_eq!(line.count_at(start + PAUSE), Some(6));
    }
}
