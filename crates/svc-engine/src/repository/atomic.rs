//! The transaction of an operation whose mutations take effect together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::shared_state::SharedState;
use svc_core::schema::TypeIndex;
use svc_postgres::{
    AtomicTransaction, Database, DbError, DriverError, Effect, OpenTransaction, RequestQuota,
    Session,
};

/// The transaction of an operation with `@atomic`, and the effects that follow its commit.
#[derive(Debug, Default)]
pub struct Atomic {
    pub(crate) transaction: Arc<AtomicTransaction>,
    /// One more than the type number of a result that is a failure; 0 if there is none.
    failure: AtomicUsize,
    /// The types that the mutations write, if responses are cached.
    written: OnceLock<Vec<TypeIndex>>,
    after: Mutex<AfterCommit>,
}

/// Effects that follow a commit.
#[derive(Debug, Default)]
struct AfterCommit {
    /// The events to publish, each with its channel.
    events: Vec<(String, String)>,
    /// The types whose cached responses become invalid.
    changed: Vec<TypeIndex>,
    /// Whether the commit was sent and has ended, so that no more effects can follow it.
    is_closed: bool,
}

impl Atomic {
    /// A session with the same variables, or with none, whose statements run in the transaction
    /// while that is open.
    pub(crate) fn session(
        &self,
        session: Option<Session>,
        share: Option<Arc<RequestQuota>>,
    ) -> Session {
        Session::within(session, share, self.transaction.clone())
    }

    /// Starts an attempt at the transaction: the effects and failures of an earlier one do not
    /// count.
    pub(crate) fn begin(&self) {
        self.take_failure();
        self.planned(Effect::NotDone);
    }

    /// Records the type number of a result that is a failure, also one among the results of a list.
    pub(crate) fn note_failure(&self, ty: TypeIndex) {
        self.failure.store(ty + 1, Ordering::Relaxed);
    }

    /// Takes out the type number of a result that is a failure.
    pub(crate) fn take_failure(&self) -> Option<TypeIndex> {
        self.failure.swap(0, Ordering::Relaxed).checked_sub(1)
    }

    /// Records the types that the mutations write. Their cached responses become invalid at the
    /// commit.
    pub(crate) fn will_write(&self, types: Vec<TypeIndex>) {
        // An operation has one plan.
        let _ = self.written.set(types);
    }

    /// Publishes an event after the commit. Returns whether the commit has not ended yet.
    pub(crate) fn publish(&self, channel: &str, payload: &str) -> bool {
        self.later(|after| after.events.push((channel.to_owned(), payload.to_owned())))
    }

    /// Invalidates cached responses with rows of a type after the commit. Returns whether the commit
    /// has not ended yet.
    pub(crate) fn invalidate(&self, changed: TypeIndex) -> bool {
        self.later(|after| after.changed.push(changed))
    }

    fn later(&self, add: impl FnOnce(&mut AfterCommit)) -> bool {
        let mut after = self.after.lock().unwrap_or_else(PoisonError::into_inner);
        if after.is_closed {
            return false;
        }

        add(&mut after);
        true
    }

    /// Takes out the effects planned so far. Later ones are not planned, unless the operation was
    /// not done and may run again.
    fn planned(&self, effect: Effect) -> AfterCommit {
        let mut after = self.after.lock().unwrap_or_else(PoisonError::into_inner);
        let left = AfterCommit {
            is_closed: effect != Effect::NotDone,
            ..AfterCommit::default()
        };
        std::mem::replace(&mut *after, left)
    }

    /// Takes the steps that follow a commit with this effect.
    pub(crate) async fn follow(&self, app: &SharedState, effect: Effect) {
        let AfterCommit {
            events,
            mut changed,
            ..
        } = self.planned(effect);
        changed.extend(self.written.get().into_iter().flatten());

        if let (Some(responses), true) = (&app.responses, effect != Effect::NotDone) {
            responses.invalidate(&changed);
            if effect == Effect::Unknown {
                responses.invalidate_later(changed);
            }
        }

        if effect != Effect::Done || events.is_empty() {
            return;
        }

        // In a task, because a panic of a source must not hide that the commit has succeeded.
        let hub = app.events.clone();
        let publishing = tokio::spawn(async move {
            for (channel, payload) in events {
                if let Err(error) = hub.publish(&channel, &payload).await {
                    let error = error.chain();
                    tracing::error!(
                        channel,
                        error,
                        "cannot publish the event of a committed mutation"
                    );
                }
            }
        });

        // A panic is in the log.
        let _ = publishing.await;
    }
}

/// A part of the transaction of an operation with `@atomic`, which alone commits it.
pub(super) struct Part {
    whole: Arc<AtomicTransaction>,
    /// Whether dropping the part undoes the whole.
    undoes: bool,
}

impl Part {
    /// Begins a part, unless another is open.
    pub(super) async fn begin(
        whole: &Arc<AtomicTransaction>,
        session: &Session,
    ) -> Result<Self, DriverError> {
        whole.begin_part(session).await?;
        Ok(Self {
            whole: whole.clone(),
            undoes: false,
        })
    }

    /// Lets the part undo the whole, unless it is kept.
    pub(super) fn undo_on_drop(&mut self) {
        self.undoes = true;
    }

    /// Ends the part. Its writes are kept with the whole transaction, and its settings are not.
    pub(super) async fn keep(
        mut self,
        open: &tokio::sync::Mutex<OpenTransaction>,
        session: &Session,
        database: &Database,
    ) -> Result<(), DbError> {
        let mut open = open.lock().await;
        if open.has_failed() {
            return Err(DbError::TransactionFailed);
        }

        let kept = open.keep_part(session).await;
        kept.map_err(|error| database.noted(error))?;
        self.undoes = false;

        // While the lock is held, so that a statement that waits for it meets no open part.
        drop(self);

        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // In this order, so that the whole is never unbroken without the part.
        if self.undoes {
            self.whole.break_off();
        }
        self.whole.end_part();
    }
}
