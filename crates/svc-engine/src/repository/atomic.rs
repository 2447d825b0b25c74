//! The transaction of an operation whose mutations take effect together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::events::{MAX_WAITING, UnpublishedEvent};
use crate::shared_state::SharedState;
use svc_core::schema::TypeIndex;
use svc_core::{Error, ErrorCode, Result};
use svc_postgres::{
    AtomicTransaction, Database, DbError, DriverError, Effect, OpenTransaction, RequestQuota,
    Session,
};

/// The transaction of an operation with `@atomic`, and the effects that follow its end.
#[derive(Debug, Default)]
pub struct Atomic {
    pub(crate) transaction: Arc<AtomicTransaction>,
    /// One more than the type number of a result that is a failure; 0 if there is none.
    failure: AtomicUsize,
    /// The types that the mutations write, if responses are cached.
    written: OnceLock<Vec<TypeIndex>>,
    after: Mutex<AfterEnd>,
}

/// Effects that follow the end of an attempt.
#[derive(Debug, Default)]
struct AfterEnd {
    /// The events to publish, in order.
    events: Vec<PlannedEvent>,
    /// The types whose cached responses become invalid after the commit.
    changed: Vec<TypeIndex>,
    stage: Stage,
}

#[derive(Debug)]
struct PlannedEvent {
    event: UnpublishedEvent,
    /// Whether it is published even if the attempt is undone.
    is_of_check: bool,
}

/// How far an operation is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No attempt runs.
    #[default]
    Idle,
    /// The fields of an attempt run.
    Running,
    /// A task commits, and takes the steps that follow.
    Committing,
    /// The commit has ended, so that no more effects can follow it.
    Closed,
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
        *self.after() = AfterEnd {
            stage: Stage::Running,
            ..AfterEnd::default()
        };
    }

    /// Records that a task commits the transaction. It calls [`follow`](Self::follow).
    pub(crate) fn commits(&self) {
        self.after().stage = Stage::Committing;
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
    ///
    /// # Errors
    /// If the operation has planned too many events.
    pub(crate) fn publish(&self, channel: &str, payload: &str) -> Result<bool> {
        let mut after = self.after();
        let is_open = after.stage != Stage::Closed;
        if is_open {
            after.plan(UnpublishedEvent::new(channel, payload), false)?;
        }
        Ok(is_open)
    }

    /// Publishes an event of the check of an object once the attempt has ended, also if it is
    /// undone: until then the operation holds its connection, and must not wait for another one.
    /// Returns whether an attempt runs.
    ///
    /// # Errors
    /// If the operation has planned too many events.
    pub(crate) fn publish_of_check(&self, channel: &str, payload: &str) -> Result<bool> {
        let mut after = self.after();
        let runs = matches!(after.stage, Stage::Running | Stage::Committing);
        if runs {
            after.plan(UnpublishedEvent::new(channel, payload), true)?;
        }
        Ok(runs)
    }

    /// Invalidates cached responses with rows of a type after the commit. Returns whether the commit
    /// has not ended yet.
    pub(crate) fn invalidate(&self, changed: TypeIndex) -> bool {
        let mut after = self.after();
        let is_open = after.stage != Stage::Closed;
        if is_open {
            after.changed.push(changed);
        }
        is_open
    }

    fn after(&self) -> MutexGuard<'_, AfterEnd> {
        self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out the effects planned so far. Later ones are not planned, unless the operation was
    /// not done and may run again.
    fn planned(&self, effect: Effect) -> AfterEnd {
        let left = AfterEnd {
            stage: match effect {
                Effect::NotDone => Stage::Idle,
                _ => Stage::Closed,
            },
            ..AfterEnd::default()
        };
        std::mem::replace(&mut *self.after(), left)
    }

    /// Rolls the transaction back and publishes the events of checks, both in the background and in
    /// any order, unless the operation has ended or a task commits it.
    pub(crate) fn abandon(&self, app: &SharedState) {
        self.transaction.abandon();
        if self.after().stage != Stage::Running {
            return;
        }

        let events = self.planned(Effect::NotDone).events_after(Effect::NotDone);
        app.events.publish_later(events);
    }

    /// Takes the steps that follow the end of an attempt with this effect. After a commit, its events
    /// have been published when this returns.
    pub(crate) async fn follow(&self, app: &SharedState, effect: Effect) {
        let mut planned = self.planned(effect);
        let mut changed = std::mem::take(&mut planned.changed);
        changed.extend(self.written.get().into_iter().flatten());

        if let (Some(responses), true) = (&app.responses, effect != Effect::NotDone) {
            responses.invalidate(&changed);
            if effect == Effect::Unknown {
                responses.invalidate_later(changed);
            }
        }

        let events = planned.events_after(effect);
        if effect != Effect::Done {
            // The response to an operation that was not done does not depend on the source, and
            // neither do the turns that it holds.
            app.events.publish_later(events);
            return;
        }

        if let Some(publishing) = app.events.publish_all(events) {
            // A panic of the source is in the log, and does not hide that the commit has succeeded.
            let _ = publishing.await;
        }
    }
}

impl AfterEnd {
    /// Adds an event, unless there are too many.
    fn plan(&mut self, event: UnpublishedEvent, is_of_check: bool) -> Result<()> {
        if self.events.len() >= MAX_WAITING {
            let message = format!("an atomic operation publishes at most {MAX_WAITING} events");
            return Err(Error::new(ErrorCode::BadUserInput, message));
        }

        self.events.push(PlannedEvent { event, is_of_check });
        Ok(())
    }

    /// The events to publish after an attempt with this effect.
    fn events_after(self, effect: Effect) -> Vec<UnpublishedEvent> {
        let is_done = effect == Effect::Done;
        let events = self.events.into_iter();
        events
            .filter(|planned| is_done || planned.is_of_check)
            .map(|planned| planned.event)
            .collect()
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
