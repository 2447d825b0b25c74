//! The tracker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch;
use uuid::Uuid;

use super::context::ErrorContext;
use super::exception::Exception;
use super::group::{ErrorGroup, ErrorOccurrence, ErrorState, group, occurrence};
use super::standing::{ErrorTrackerStatus, Standing};
use super::worker::{Worker, work};
use svc_core::error::{ErrorIds, ErrorLocation};
use svc_core::{Error, Result};

/// The maximum number of errors that wait to be written.
const WAITING: usize = 1_024;

/// An error tracker; cheap to clone. [`init_error_tracker`](super::init_error_tracker) creates that
/// of the process.
///
/// ```no_run
/// use svc::error_tracker::{ErrorContext, ErrorState};
/// use svc::get_error_tracker;
///
/// # async fn f(error: std::io::Error) -> svc::Result<()> {
/// let Some(tracker) = get_error_tracker() else { return Ok(()) };
/// let id = tracker.capture_exception(&error, ErrorContext::new().function("nightly_report"));
/// for group in tracker.groups(Some(ErrorState::Unresolved), 20).await? {
///     println!("{} {}:{} {} times", group.error_type, group.file, group.line, group.occurrences);
///     tracker.resolve(group.id).await?;
/// }
/// # let _ = id;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct ErrorTracker(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    pool: PgPool,
    queue: Sender<Exception>,
    standing: Arc<Standing>,
    /// The number of errors accepted since the start.
    accepted: AtomicU64,
    done: watch::Receiver<u64>,
}

impl ErrorTracker {
    /// Starts the writing task.
    pub(super) fn start(pool: PgPool, environment: String, release_version: String) -> Self {
        let (queue, waiting) = channel(WAITING);
        let (told, done) = watch::channel(0);
        let standing = Arc::<Standing>::default();
        let worker = Worker {
            pool: pool.clone(),
            environment,
            release_version,
            standing: standing.clone(),
            told,
        };

        tokio::spawn(work(worker, waiting));

        Self(Arc::new(Shared {
            pool,
            queue,
            standing,
            accepted: AtomicU64::new(0),
            done,
        }))
    }

    /// Captures an error and returns its identifier. It never waits and never fails: if too many
    /// errors wait already, this one is counted as dropped.
    ///
    /// Its location is the caller's. The request and the trace of this task are recorded.
    #[track_caller]
    pub fn capture_exception<E: std::error::Error + ?Sized>(
        &self,
        error: &E,
        context: ErrorContext,
    ) -> Uuid {
        let raised = ErrorLocation::here(std::any::type_name::<E>());
        let mut message = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            message = format!("{message}: {cause}");
            next = cause.source();
        }
        self.capture(&raised, &message, context)
    }

    /// Like [`capture_exception`](Self::capture_exception), for an error of svc, whose location is
    /// where it was raised.
    pub fn capture_error(&self, error: &Error, context: ErrorContext) -> Uuid {
        self.capture(error.raised(), &error.chain(), context)
    }

    fn capture(&self, raised: &ErrorLocation, message: &str, mut context: ErrorContext) -> Uuid {
        let ids = ErrorIds::new();
        let function = context.function.take().unwrap_or_default();
        self.push(|| Exception::new(&ids, raised, &function, message).within(context));
        ids.error
    }

    /// Adds an error to the queue, if there is room.
    pub(super) fn push(&self, exception: impl FnOnce() -> Exception) {
        // The place is reserved first, so that errors beyond a full queue cost almost nothing.
        match self.0.queue.try_reserve() {
            Ok(place) => {
                // Counted before it is sent, so that the number of finished errors never exceeds
                // this one.
                self.0.accepted.fetch_add(1, Ordering::Relaxed);
                place.send(exception());
            }
            Err(_) => self.0.standing.drop_errors(1),
        }
    }

    /// Returns the state of the tracker.
    pub fn status(&self) -> ErrorTrackerStatus {
        let (accepted, done) = (
            self.0.accepted.load(Ordering::Relaxed),
            *self.0.done.borrow(),
        );

        // `done` is read later, so it may include errors that `accepted` does not.
        self.0.standing.status(accepted.saturating_sub(done))
    }

    /// Waits until all errors captured before are written, and returns whether they were written in
    /// time.
    pub async fn flush(&self, patience: Duration) -> bool {
        // Read once: errors that are captured during the wait do not prolong it.
        let accepted = self.0.accepted.load(Ordering::Relaxed);
        let mut done = self.0.done.clone();
        let written = done.wait_for(|done| *done >= accepted);
        tokio::time::timeout(patience, written)
            .await
            .is_ok_and(|written| written.is_ok())
    }

    /// Returns groups, last seen first, in one state or in all.
    ///
    /// # Errors
    /// Fails if the database cannot be queried.
    pub async fn groups(&self, state: Option<ErrorState>, most: u32) -> Result<Vec<ErrorGroup>> {
        let query = sqlx::query("SELECT * FROM svc_errors.groups($1, $2)")
            .bind(state.map(ErrorState::as_str));
        let rows = query
            .bind(i32::try_from(most).unwrap_or(i32::MAX))
            .fetch_all(&self.0.pool)
            .await?;
        Ok(rows.iter().map(group).collect::<Result<_, _>>()?)
    }

    /// Returns the last occurrences of a group, newest first.
    ///
    /// # Errors
    /// Fails if the database cannot be queried.
    pub async fn occurrences(&self, group: Uuid, most: u32) -> Result<Vec<ErrorOccurrence>> {
        let query = sqlx::query("SELECT * FROM svc_errors.occurrences($1, $2)").bind(group);
        let rows = query
            .bind(i32::try_from(most).unwrap_or(i32::MAX))
            .fetch_all(&self.0.pool)
            .await?;
        Ok(rows.iter().map(occurrence).collect::<Result<_, _>>()?)
    }

    /// Returns the occurrence with an `errorId` reported by a client; `None` if it was not stored,
    /// or has been removed.
    ///
    /// # Errors
    /// Fails if the database cannot be queried.
    pub async fn find(&self, error_id: Uuid) -> Result<Option<ErrorOccurrence>> {
        let query = sqlx::query("SELECT * FROM svc_errors.find($1)").bind(error_id);
        Ok(query
            .fetch_optional(&self.0.pool)
            .await?
            .as_ref()
            .map(occurrence)
            .transpose()?)
    }

    /// Marks a group as fixed; the next occurrence makes it unresolved again. Returns whether the
    /// group exists.
    ///
    /// # Errors
    /// Fails if the database cannot be queried.
    pub async fn resolve(&self, group: Uuid) -> Result<bool> {
        self.set_state(group, ErrorState::Resolved).await
    }

    /// Marks a group as ignored. Returns whether the group exists.
    ///
    /// # Errors
    /// Fails if the database cannot be queried.
    pub async fn ignore(&self, group: Uuid) -> Result<bool> {
        self.set_state(group, ErrorState::Ignored).await
    }

    /// Makes a group unresolved. Returns whether the group exists.
    ///
    /// # Errors
    /// Fails if the database cannot be queried.
    pub async fn reopen(&self, group: Uuid) -> Result<bool> {
        self.set_state(group, ErrorState::Unresolved).await
    }

    async fn set_state(&self, group: Uuid, state: ErrorState) -> Result<bool> {
        let query = sqlx::query_scalar("SELECT svc_errors.set_state($1, $2)")
            .bind(group)
            .bind(state.as_str());
        Ok(query.fetch_one(&self.0.pool).await?)
    }
}
