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
use crate::error::{ErrorIds, Raised};
use crate::{Error, Result};

/// The most errors that wait to be written.
const WAITING: usize = 1_024;

/// An error tracker; cheap to clone. [`init_error_tracker`](super::init_error_tracker) makes that of the process.
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
    /// The errors that were accepted since the start.
    accepted: AtomicU64,
    done: watch::Receiver<u64>,
}

impl ErrorTracker {
    /// Starts the task that writes.
    pub(super) fn start(pool: PgPool, environment: String, release_version: String) -> Self {
        let (queue, waiting) = channel(WAITING);
        let (told, done) = watch::channel(0);
        let standing = Arc::<Standing>::default();
        let worker = Worker { pool: pool.clone(), environment, release_version, standing: standing.clone(), told };
        tokio::spawn(work(worker, waiting));
        Self(Arc::new(Shared { pool, queue, standing, accepted: AtomicU64::new(0), done }))
    }

    /// Captures an error and returns its identifier. It never waits and never fails: where too many errors wait already,
    /// this one is counted as dropped.
    ///
    /// Its place is the caller's. The request and the trace of this task are noted.
    #[track_caller]
    pub fn capture_exception<E: std::error::Error + ?Sized>(&self, error: &E, context: ErrorContext) -> Uuid {
        let raised = Raised::here(std::any::type_name::<E>());
        let mut message = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            message = format!("{message}: {cause}");
            next = cause.source();
        }
        self.capture(&raised, &message, context)
    }

    /// The same for an error of svc, whose place is where it was raised.
    pub fn capture_error(&self, error: &Error, context: ErrorContext) -> Uuid {
        self.capture(error.raised(), &error.chain(), context)
    }

    fn capture(&self, raised: &Raised, message: &str, mut context: ErrorContext) -> Uuid {
        let ids = ErrorIds::new();
        let function = context.function.take().unwrap_or_default();
        self.push(|| Exception::new(&ids, raised, &function, message).within(context));
        ids.error
    }

    /// Puts an error into the queue, if there is room.
    pub(super) fn push(&self, exception: impl FnOnce() -> Exception) {
        match self.0.queue.try_reserve() {
            Ok(place) => {
                self.0.accepted.fetch_add(1, Ordering::Relaxed);
                place.send(exception());
            }
            Err(_) => self.0.standing.drop_errors(1),
        }
    }

    /// Returns the state of the tracker.
    pub fn status(&self) -> ErrorTrackerStatus {
        let (accepted, done) = (self.0.accepted.load(Ordering::Relaxed), *self.0.done.borrow());
        self.0.standing.status(accepted.saturating_sub(done))
    }

    /// Waits until the errors are written that were captured before; whether they are in time.
    pub async fn flush(&self, patience: Duration) -> bool {
        let accepted = self.0.accepted.load(Ordering::Relaxed);
        let mut done = self.0.done.clone();
        let written = done.wait_for(|done| *done >= accepted);
        tokio::time::timeout(patience, written).await.is_ok_and(|written| written.is_ok())
    }

    /// Returns groups, those seen last first; those in one state, or all.
    ///
    /// # Errors
    /// A database that cannot be asked.
    pub async fn groups(&self, state: Option<ErrorState>, most: u32) -> Result<Vec<ErrorGroup>> {
        let query = sqlx::query("SELECT * FROM svc_errors.groups($1, $2)").bind(state.map(ErrorState::as_str));
        let rows = query.bind(i32::try_from(most).unwrap_or(i32::MAX)).fetch_all(&self.0.pool).await?;
        Ok(rows.iter().map(group).collect::<Result<_, _>>()?)
    }

    /// Returns the last occurrences of a group, the last of them first.
    ///
    /// # Errors
    /// A database that cannot be asked.
    pub async fn occurrences(&self, group: Uuid, most: u32) -> Result<Vec<ErrorOccurrence>> {
        let query = sqlx::query("SELECT * FROM svc_errors.occurrences($1, $2)").bind(group);
        let rows = query.bind(i32::try_from(most).unwrap_or(i32::MAX)).fetch_all(&self.0.pool).await?;
        Ok(rows.iter().map(occurrence).collect::<Result<_, _>>()?)
    }

    /// Returns the occurrence that a client names by its `errorId`; `None` where it is not kept, or no longer.
    ///
    /// # Errors
    /// A database that cannot be asked.
    pub async fn find(&self, error_id: Uuid) -> Result<Option<ErrorOccurrence>> {
        let query = sqlx::query("SELECT * FROM svc_errors.find($1)").bind(error_id);
        Ok(query.fetch_optional(&self.0.pool).await?.as_ref().map(occurrence).transpose()?)
    }

    /// Notes that a group is repaired; the next occurrence makes it unresolved again. Whether there is such a group.
    ///
    /// # Errors
    /// A database that cannot be asked.
    pub async fn resolve(&self, group: Uuid) -> Result<bool> {
        self.set_state(group, ErrorState::Resolved).await
    }

    /// Notes that nobody wants to look at a group. Whether there is such a group.
    ///
    /// # Errors
    /// A database that cannot be asked.
    pub async fn ignore(&self, group: Uuid) -> Result<bool> {
        self.set_state(group, ErrorState::Ignored).await
    }

    /// Makes a group unresolved. Whether there is such a group.
    ///
    /// # Errors
    /// A database that cannot be asked.
    pub async fn reopen(&self, group: Uuid) -> Result<bool> {
        self.set_state(group, ErrorState::Unresolved).await
    }

    async fn set_state(&self, group: Uuid, state: ErrorState) -> Result<bool> {
        let query = sqlx::query_scalar("SELECT svc_errors.set_state($1, $2)").bind(group).bind(state.as_str());
        Ok(query.fetch_one(&self.0.pool).await?)
    }
}
