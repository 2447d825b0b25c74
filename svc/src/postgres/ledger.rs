//! The account of what a mutation has written, as far as it is known.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Whether what a mutation wrote is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A transaction of it is committed.
    Done,
    /// Nothing of it is kept.
    NotDone,
    /// The answer to a commit never came.
    Unknown,
}

impl Effect {
    /// The effect of a mutation whose program was ended in the middle: it may have done what is not seen here.
    pub(crate) fn of_ended_program(self) -> Self {
        match self {
            Self::NotDone => Self::Unknown,
            known => known,
        }
    }

    /// The word that clients get.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::NotDone => "NOT_DONE",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// The writes of the mutation that runs, as far as they go through svc.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Commits that were sent and are not answered.
    in_doubt: AtomicU32,
    committed: AtomicU32,
    /// Uses of the pool, whose transactions are not seen.
    unseen: AtomicU32,
    /// One more than the number of the type of what the mutation answers with; 0 where that is no object.
    result: AtomicUsize,
    /// The effects of the root fields that have ended, in their order.
    ended: Mutex<Vec<Effect>>,
    /// The effect of each mutation, by its key in the answer, when the whole answer became null.
    lost: OnceLock<Vec<(String, Effect)>>,
}

impl Ledger {
    /// The next mutation of the operation begins.
    pub(crate) fn begin(&self) {
        for count in [&self.in_doubt, &self.committed, &self.unseen] {
            count.store(0, Ordering::Relaxed);
        }
        self.result.store(0, Ordering::Relaxed);
    }

    /// A root field of the operation has ended; returns what it has done.
    pub(crate) fn end(&self) -> Effect {
        let effect = self.effect();
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(effect);
        effect
    }

    /// The effects of the root fields that have ended, in their order.
    pub(crate) fn ended(&self) -> Vec<Effect> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The mutation answers with an object of a type, which has this number.
    pub(crate) fn answered_with(&self, ty: usize) {
        self.result.store(ty + 1, Ordering::Relaxed);
    }

    /// Takes out the number of the type of the object that the mutation answers with.
    pub(crate) fn take_result(&self) -> Option<usize> {
        self.result.swap(0, Ordering::Relaxed).checked_sub(1)
    }

    /// A commit is sent.
    pub(crate) fn sent(&self) {
        self.in_doubt.fetch_add(1, Ordering::Relaxed);
    }

    /// A commit that was sent is answered.
    pub(crate) fn answered(&self, committed: bool) {
        self.in_doubt.fetch_sub(1, Ordering::Relaxed);
        if committed {
            self.done();
        }
    }

    /// Something is done for good.
    pub(crate) fn done(&self) {
        self.committed.fetch_add(1, Ordering::Relaxed);
    }

    /// SQL may run that is not seen here.
    pub(crate) fn unseen(&self) {
        self.unseen.fetch_add(1, Ordering::Relaxed);
    }

    /// The whole answer becomes null.
    pub(crate) fn lose(&self, lost: Vec<(String, Effect)>) {
        // It does so once.
        let _ = self.lost.set(lost);
    }

    /// Returns the effect of each mutation, by its key in the answer, when the whole answer became null.
    pub(crate) fn lost(&self) -> Option<&[(String, Effect)]> {
        self.lost.get().map(Vec::as_slice)
    }

    /// The effect as far as it is known.
    pub(crate) fn effect(&self) -> Effect {
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
