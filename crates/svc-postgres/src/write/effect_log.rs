//! Records the writes of a mutation, as far as they are visible here.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Whether a mutation's writes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// At least one of its transactions is committed.
    Done,
    /// Nothing was kept.
    NotDone,
    /// The response to a commit never arrived.
    Unknown,
}

impl Effect {
    /// The effect of a mutation whose process was stopped in the middle: it may have made writes
    /// that are not visible here.
    pub fn of_ended_program(self) -> Self {
        match self {
            Self::NotDone => Self::Unknown,
            known => known,
        }
    }

    /// The value sent to clients.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::NotDone => "NOT_DONE",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// The writes of the running mutation, as far as they go through svc.
#[derive(Debug, Default)]
pub struct EffectLog {
    /// Whether the mutations of the operation run one by one, rather than as one statement.
    is_one_by_one: AtomicBool,
    /// Commits sent without a response yet.
    in_doubt: AtomicU32,
    committed: AtomicU32,
    /// Uses of the pool, whose transactions are not visible.
    unseen: AtomicU32,
    /// One more than the type number of the mutation's result; 0 if the result is not an object.
    result: AtomicUsize,
    /// The number of root fields that have begun, if they run one by one.
    begun: AtomicUsize,
    /// The effects of the completed root fields, in order.
    ended: Mutex<Vec<Effect>>,
    /// The effect of each mutation, by response key, if the whole response became null.
    lost: OnceLock<Vec<(String, Effect)>>,
}

impl EffectLog {
    /// Starts the next mutation of an operation whose mutations run one by one.
    pub fn begin(&self) {
        self.is_one_by_one.store(true, Ordering::Relaxed);
        for count in [&self.in_doubt, &self.committed, &self.unseen] {
            count.store(0, Ordering::Relaxed);
        }
        self.result.store(0, Ordering::Relaxed);
    }

    /// Whether a mutation of an operation whose mutations run one by one has started.
    pub fn is_one_by_one(&self) -> bool {
        self.is_one_by_one.load(Ordering::Relaxed)
    }

    /// Records that the next root field begins, which has this index.
    pub fn begin_field(&self, index: usize) {
        self.begun.store(index + 1, Ordering::Relaxed);
    }

    /// The number of root fields that have begun, if they run one by one.
    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// Completes a root field of the operation and returns its effect.
    pub fn end(&self) -> Effect {
        let effect = self.effect();
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(effect);
        effect
    }

    /// The effects of the completed root fields, in order.
    pub fn ended(&self) -> Vec<Effect> {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Records the type number of the mutation's result object.
    pub fn answered_with(&self, ty: usize) {
        self.result.store(ty + 1, Ordering::Relaxed);
    }

    /// Returns the type number of the mutation's result object.
    pub fn result(&self) -> Option<usize> {
        self.result.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Takes out the type number of the mutation's result object.
    pub fn take_result(&self) -> Option<usize> {
        self.result.swap(0, Ordering::Relaxed).checked_sub(1)
    }

    /// Records that a commit is sent.
    pub fn sent(&self) {
        self.in_doubt.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the response to a commit.
    pub fn answered(&self, committed: bool) {
        self.in_doubt.fetch_sub(1, Ordering::Relaxed);
        if committed {
            self.done();
        }
    }

    /// Records a permanent effect.
    pub fn done(&self) {
        self.committed.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that SQL may run that is not visible here.
    pub fn unseen(&self) {
        self.unseen.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the effects when the whole response becomes null.
    pub fn lose(&self, lost: Vec<(String, Effect)>) {
        // This happens only once.
        let _ = self.lost.set(lost);
    }

    /// Returns the effect of each mutation, by response key, if the whole response became null.
    pub fn lost(&self) -> Option<&[(String, Effect)]> {
        self.lost.get().map(Vec::as_slice)
    }

    /// The effect, as far as it is visible here.
    pub fn effect(&self) -> Effect {
        let any = |count: &AtomicU32| count.load(Ordering::Relaxed) > 0;
        if any(&self.in_doubt) {
            Effect::Unknown
        } else if any(&self.committed) {
            Effect::Done
        } else if any(&self.unseen) {
            Effect::Unknown
        } else {
            Effect::NotDone
        }
    }
}
