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
pub(crate) struct LogThrottle(Arc<State>);

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
    pub(crate) fn every(period: Duration) -> Self {
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
    pub(crate) fn log(&self, write: impl Fn(u64) + Send + 'static) {
        // Counted before the check, so that a task which is already waiting logs it.
        self.0.unlogged.fetch_add(1, Ordering::Relaxed);
        if self.0.is_waiting.swap(true, Ordering::AcqRel) {
            return;
        }

        let waiting = Waiting(self.0.clone());
        waiting.write(&write);

        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(waiting.until_quiet(write));
        }
    }
}

/// The only waiting task of a throttle. However it ends, the next occurrence starts another.
struct Waiting(Arc<State>);

impl Waiting {
    /// Writes the line of each period, until one passes without an occurrence.
    async fn until_quiet(self, write: impl Fn(u64)) {
        loop {
            tokio::time::sleep(self.0.period).await;
            if !self.write(&write) {
                return;
            }
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
        self.0.is_waiting.store(false, Ordering::Release);
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
    async fn the_first_is_written_at_once_and_the_rest_is_counted() {
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
    fn nothing_is_lost_where_a_runtime_ends() {
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
