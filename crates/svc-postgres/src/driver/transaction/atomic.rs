//! A transaction that all statements of a request share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::runtime::Handle;
use tokio::sync::{Mutex, MutexGuard};

use super::OpenTransaction;
use crate::Session;
use crate::driver::{DriverError, RetryCause};

/// A transaction for the statements of several mutations. While it is open, the statements of the
/// sessions that refer to it ([`Session::within`]) run in it, also those of other parts of the
/// program that have such a session.
#[derive(Debug)]
pub struct AtomicTransaction {
    open: Arc<Mutex<OpenTransaction>>,
    /// Whether statements belong to it. That does not end with a rollback: the statements of a task
    /// that outlives the mutations then fail, rather than take effect alone.
    is_open: AtomicBool,
    /// Whether a part of it was rolled back, so that it must not be committed.
    is_broken: AtomicBool,
    /// The number of its parts that have not ended: at most one.
    parts: AtomicUsize,
}

impl Default for AtomicTransaction {
    fn default() -> Self {
        Self {
            open: Arc::new(Mutex::new(OpenTransaction::ended())),
            is_open: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            parts: AtomicUsize::new(0),
        }
    }
}

impl AtomicTransaction {
    /// The transaction for the statements of a session, if it is open.
    pub(crate) fn of(session: &Session) -> Option<&Self> {
        session
            .enclosing::<Self>()
            .filter(|whole| whole.is_open.load(Ordering::Acquire))
    }

    /// The transaction, for a statement outside of its parts. A part has settings of its own, such
    /// as a role with fewer privileges, so no such statement runs until it has ended.
    ///
    /// # Errors
    /// [`DriverError::PartOpen`] while a part is open.
    pub(crate) async fn alone(&self) -> Result<MutexGuard<'_, OpenTransaction>, DriverError> {
        let open = self.open.lock().await;
        if self.has_parts() {
            return Err(DriverError::PartOpen);
        }
        Ok(open)
    }

    /// The transaction, from its beginning to its commit. After a rollback, its statements fail.
    pub fn running(&self) -> Option<&Arc<Mutex<OpenTransaction>>> {
        self.is_open.load(Ordering::Acquire).then_some(&self.open)
    }

    /// Starts with a transaction that has just begun.
    pub async fn start(&self, begun: OpenTransaction) {
        let mut open = self.open.lock().await;
        *open = begun;
        open.is_of_operation = true;

        self.is_broken.store(false, Ordering::Relaxed);
        self.is_open.store(true, Ordering::Release);
    }

    /// Commits the transaction, or rolls it back if it must not be kept.
    ///
    /// # Errors
    /// [`DriverError::OutcomeUnknown`] when the transaction may or may not have been committed.
    /// After any other error, nothing was kept.
    pub async fn commit(&self) -> Result<(), DriverError> {
        let mut open = self.open.lock().await;

        // In this order, as a part that is dropped breaks the transaction off before it ends.
        if open.has_failed() || self.has_parts() || self.is_broken() {
            open.undo().await;
            return Err(DriverError::TransactionFailed);
        }

        let committed = open.commit().await;
        match &committed {
            // From now on, statements of its sessions run alone.
            Ok(()) => self.is_open.store(false, Ordering::Release),
            // A failed transaction does not end with a rejected commit.
            Err(_) => open.abandon(),
        }

        committed
    }

    /// Rolls the transaction back. It does not wait for a statement that was dropped.
    pub async fn roll_back(&self) {
        self.open.lock().await.undo().await;
    }

    /// Rolls the transaction back in the background, if it has not ended.
    pub fn abandon(&self) {
        if let Ok(mut open) = self.open.try_lock() {
            open.abandon();
            return;
        }

        // A task of the program runs a statement of it. Without a runtime the program is exiting.
        if let Ok(runtime) = Handle::try_current() {
            let open = self.open.clone();
            runtime.spawn(async move {
                open.lock().await.abandon();
            });
        }
    }

    /// Gives the statements that follow the settings of the beginning.
    pub async fn restore(&self, session: &Session) -> Result<(), DriverError> {
        self.open.lock().await.restore(session).await
    }

    /// Begins a part of it, with the settings of the beginning. Only its own statements run until
    /// it has ended.
    ///
    /// # Errors
    /// [`DriverError::PartOpen`] while another part is open.
    pub async fn begin_part(&self, session: &Session) -> Result<(), DriverError> {
        let mut open = self.alone().await?;
        open.begin_part(session).await?;
        self.parts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Records that a part of it has ended.
    pub fn end_part(&self) {
        self.parts.fetch_sub(1, Ordering::Release);
    }

    /// Whether a part of it has not ended.
    pub fn has_parts(&self) -> bool {
        self.parts.load(Ordering::Acquire) > 0
    }

    /// Records that a part of it was rolled back. Its other parts cannot be kept alone.
    pub fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// Whether a part of it was rolled back.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Whether its last statement has failed or was dropped, so that it cannot be committed.
    pub async fn has_failed(&self) -> bool {
        self.open.lock().await.has_failed()
    }

    /// The reason why it may be run again, if PostgreSQL has rolled it back for one.
    pub async fn retry_cause(&self) -> Option<RetryCause> {
        self.open.lock().await.retry_cause()
    }
}
