//! Repeating log lines: the first occurrence is logged at once, further ones as one line per period
//! with their number.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A limit on how often an occurrence is logged. Clones are counted together.
///
/// ```ignore
/// static NAMELESS: LazyLock<LogThrottle> = LazyLock::new(|| LogThrottle::every(Duration::from_secs(10)));
/// NAMELESS.log(|times| tracing::warn!(times, "an event names no row"));
/// ```
#[derive(Debug, Clone)]
pub struct LogThrottle(Arc<State>);

#[derive(Debug)]
struct State {
    period: Duration,
    /// The number of occurrences not logged yet.
    unlogged: AtomicU64,
    /// Whether a task is waiting for the end of the period.
    is_waiting: AtomicBool,
}

impl LogThrottle {
    /// Returns a throttle that writes at most one line per period.
    pub fn every(period: Duration) -> Self {
        Self(Arc::new(State {
            period,
            unlogged: AtomicU64::new(0),
            is_waiting: AtomicBool::new(false),
        }))
    }

    /// Counts an occurrence. `write` is called with the number of occurrences since the last line:
    /// immediately, unless a line was written within the period, or else at its end, so that the
    /// last occurrences are logged too.
    ///
    /// Without a tokio runtime each occurrence is logged.
    pub fn log(&self, write: impl Fn(u64) + Send + 'static) {
        // Counted before the check, so that a task which is already waiting logs it.
        self.0.unlogged.fetch_add(1, Ordering::Relaxed);
        let Some(waiting) = Waiting::begin(&self.0) else {
            return;
        };

        waiting.write(&write);

        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(waiting.until_quiet(write));
            return;
        }

        let mut ended = waiting.end();
        while let Some(waiting) = ended {
            waiting.write(&write);
            ended = waiting.end();
        }
    }
}

/// The only waiting task of a throttle. However it ends, the next occurrence starts another.
struct Waiting(Arc<State>);

impl Waiting {
    /// Returns the waiting task, unless there is one already.
    fn begin(state: &Arc<State>) -> Option<Self> {
        (!state.is_waiting.swap(true, Ordering::AcqRel)).then(|| Self(state.clone()))
    }

    /// Ends the waiting. Returns the next waiting task if something has occurred since the last
    /// line: it was counted for this one.
    fn end(self) -> Option<Self> {
        let state = self.0.clone();
        drop(self);
        if state.unlogged.load(Ordering::Relaxed) > 0 {
            Self::begin(&state)
        } else {
            None
        }
    }

    /// Writes the line of each period, until one passes without an occurrence.
    async fn until_quiet(self, write: impl Fn(u64)) {
        let mut waiting = self;
        loop {
            tokio::time::sleep(waiting.0.period).await;
            if waiting.write(&write) {
                continue;
            }

            let Some(next) = waiting.end() else { return };
            waiting = next;
        }
    }

    /// Logs the occurrences not logged yet, and returns whether there were any.
    fn write(&self, write: &impl Fn(u64)) -> bool {
        let times = self.0.unlogged.swap(0, Ordering::Relaxed);
        if times > 0 {
            write(times);
        }
        times > 0
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // A swap also reads: the count of an occurrence that saw `true` is visible from now on.
        self.0.is_waiting.swap(false, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u64>>>);

    impl Lines {
        fn occur(&self, throttle: &LogThrottle) {
            let lines = self.clone();
            throttle.log(move |times| lines.0.lock().unwrap().push(times));
        }

        fn read(&self) -> Vec<u64> {
            self.0.lock().unwrap().clone()
        }
    }

    /// Waits until a condition holds.
    async fn until(mut holds: impl FnMut() -> bool) {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn the_first_occurrence_is_logged_at_once_and_others_are_counted() {
        let (throttle, lines) = (
            LogThrottle::every(Duration::from_millis(20)),
            Lines::default(),
        );
        (0..1_000).for_each(|_| lines.occur(&throttle));
        assert_eq!(lines.read(), [1]);

        until(|| lines.read() == [1, 999]).await;
        until(|| !throttle.0.is_waiting.load(Ordering::Acquire)).await;
        lines.occur(&throttle);

        assert_eq!(
            lines.read(),
            [1, 999, 1],
            "a quiet period makes the next the first again"
        );
    }

    #[test]
    fn an_occurrence_while_a_line_is_written_is_not_left_over() {
        let (throttle, lines) = (
            LogThrottle::every(Duration::from_secs(10)),
            Lines::default(),
        );
        let (same, written) = (throttle.clone(), lines.clone());
        throttle.log(move |times| {
            if written.read().is_empty() {
                written.occur(&same);
            }
            written.0.lock().unwrap().push(times);
        });

        assert_eq!(lines.read(), [1, 1]);
    }

    #[test]
    fn an_occurrence_at_the_end_of_the_last_period_is_not_left_over() {
        let (throttle, lines) = (
            LogThrottle::every(Duration::from_secs(10)),
            Lines::default(),
        );
        let waiting = Waiting::begin(&throttle.0).unwrap();
        assert!(!waiting.write(&|_| ()));
        lines.occur(&throttle);
        let next = waiting.end().unwrap();
        assert!(next.write(&|times| assert_eq!(times, 1)));

        assert!(next.end().is_none());
        lines.occur(&throttle);
        assert_eq!(lines.read(), [1]);
    }

    #[test]
    fn no_occurrence_is_lost_when_a_runtime_ends() {
        let (throttle, lines) = (
            LogThrottle::every(Duration::from_secs(10)),
            Lines::default(),
        );
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async { (0..3).for_each(|_| lines.occur(&throttle)) });
        }

        assert_eq!(lines.read(), [1, 3]);
        (0..2).for_each(|_| lines.occur(&throttle));

        assert_eq!(lines.read(), [1, 3, 3, 1]);
    }
}
