//! Whether load is being shed, as reported by `/ready` and the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

/// The interval between two checks while load is shed.
const TICK: Duration = Duration::from_secs(1);
/// The number of consecutive checks without a rejection after which load is no longer shed.
const QUIET: u32 = 5;
/// The percentage of rejected requests at which nearly all count as rejected.
const NEARLY_ALL: u32 = 95;
/// The number of consecutive checks with nearly all rejected after which the instance is not ready.
const STUCK: u32 = 10;

/// The numbers of rejected and answered requests while load is shed.
#[derive(Debug, Default)]
pub(super) struct Shedding {
    /// Whether load is shed, and a task checks it.
    is_on: AtomicBool,
    refused: AtomicU64,
    answered: AtomicU64,
    /// The percentage of requests rejected before the last check.
    percent: AtomicU32,
    /// The number of consecutive checks with nearly all requests rejected.
    stuck: AtomicU32,
}

/// The state of a service that sheds load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct Shed {
    /// The percentage of rejected requests.
    pub(in crate::http) percent: u32,
    /// Whether nearly all requests have been rejected for so long that other instances should
    /// receive them. An instance that answers as many as it can gains nothing from receiving none.
    pub(in crate::http) is_stuck: bool,
}

impl Shedding {
    /// Records a rejection. The first one starts the task that checks them.
    pub(super) fn refused(self: &Arc<Self>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        if !self.is_on.load(Ordering::Relaxed)
            && let Ok(runtime) = Handle::try_current()
            && !self.is_on.swap(true, Ordering::AcqRel)
        {
            runtime.spawn(Watch::start(self.clone()).run());
        }
    }

    /// Records answered requests.
    pub(super) fn answered(&self, requests: u64) {
        self.answered.fetch_add(requests, Ordering::Relaxed);
    }

    /// Returns the state, while load is shed.
    pub(super) fn state(&self) -> Option<Shed> {
        self.is_on.load(Ordering::Acquire).then(|| Shed {
            percent: self.percent.load(Ordering::Relaxed),
            is_stuck: self.stuck.load(Ordering::Relaxed) >= STUCK,
        })
    }
}

/// The task that checks while load is shed, and logs the start and the end. However it ends, the
/// next rejection starts another.
struct Watch {
    shedding: Arc<Shedding>,
    since: Instant,
    /// The rejected and answered requests at the start, and at the last check.
    first: [u64; 2],
    last: [u64; 2],
    quiet: u32,
}

impl Watch {
    fn start(shedding: Arc<Shedding>) -> Self {
        tracing::warn!(
            "load shedding started: more requests than the service can handle (SVC_MAX_IN_FLIGHT, \
             SVC_SHED_AFTER); rejecting some with 503"
        );

        // The rejection that started the task is already counted, and belongs to this period.
        let counts = [
            shedding.refused.load(Ordering::Relaxed) - 1,
            shedding.answered.load(Ordering::Relaxed),
        ];
        shedding.percent.store(0, Ordering::Relaxed);
        shedding.stuck.store(0, Ordering::Relaxed);

        Self {
            shedding,
            since: Instant::now(),
            first: counts,
            last: counts,
            quiet: 0,
        }
    }

    async fn run(mut self) {
        while self.quiet < QUIET {
            tokio::time::sleep(TICK).await;
            self.look();
        }

        let [refused, answered] = self.last;
        tracing::warn!(
            refused = refused - self.first[0],
            answered = answered - self.first[1],
            seconds = self.since.elapsed().as_secs(),
            "load shedding ended: no request has been rejected for some seconds"
        );
    }

    fn look(&mut self) {
        let shedding = &self.shedding;
        let counts = [
            shedding.refused.load(Ordering::Relaxed),
            shedding.answered.load(Ordering::Relaxed),
        ];
        let [refused, answered] = [counts[0] - self.last[0], counts[1] - self.last[1]];
        self.last = counts;

        self.quiet = if refused == 0 { self.quiet + 1 } else { 0 };
        let percent = percent_of(refused, answered);
        shedding.percent.store(percent, Ordering::Relaxed);
        let stuck = if percent >= NEARLY_ALL {
            shedding.stuck.load(Ordering::Relaxed) + 1
        } else {
            0
        };

        shedding.stuck.store(stuck, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shedding.is_on.store(false, Ordering::Release);
    }
}

/// Returns the percentage of rejected requests.
fn percent_of(refused: u64, answered: u64) -> u32 {
    let all = (refused + answered).max(1);
    u32::try_from(refused * 100 / all).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(shedding: &Arc<Shedding>, watch: &mut Watch, refused: u64, answered: u64) -> Shed {
        shedding.refused.fetch_add(refused, Ordering::Relaxed);
        shedding.answered(answered);
        watch.look();
        Shed {
            percent: shedding.percent.load(Ordering::Relaxed),
            is_stuck: shedding.stuck.load(Ordering::Relaxed) >= STUCK,
        }
    }

    #[test]
    fn a_task_that_is_dropped_with_its_runtime_is_replaced() {
        let shedding = Arc::<Shedding>::default();
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async { shedding.refused() });
            assert!(shedding.state().is_some());
            drop(runtime);
            assert_eq!(shedding.state(), None);
        }
    }

    #[test]
    fn an_instance_that_answers_some_stays_ready() {
        let shedding = Arc::<Shedding>::default();
        shedding.refused.store(1, Ordering::Relaxed);
        let mut watch = Watch::start(shedding.clone());
        for _ in 0..30 {
            let state = look(&shedding, &mut watch, 90, 10);
            assert!(!state.is_stuck && state.percent >= 90, "{state:?}");
        }
    }

    #[test]
    fn ten_looks_with_refusals_are_stuck_and_one_without_recovers() {
        let shedding = Arc::<Shedding>::default();
        shedding.refused.store(1, Ordering::Relaxed);
        let mut watch = Watch::start(shedding.clone());
        let stuck: Vec<bool> = (0..12)
            .map(|_| look(&shedding, &mut watch, 10, 0).is_stuck)
            .collect();
        assert_eq!(stuck.iter().position(|stuck| *stuck), Some(9));
        assert!(!look(&shedding, &mut watch, 10, 10).is_stuck);
        assert_eq!(watch.quiet, 0);
        look(&shedding, &mut watch, 0, 10);

        assert_eq!(watch.quiet, 1);
    }
}
