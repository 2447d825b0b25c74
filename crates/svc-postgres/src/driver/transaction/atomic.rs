//! A transaction that all statements of a request share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;

use super::OpenTransaction;
use crate::Session;
use crate::driver::{DriverError, RetryCause};

/// A transaction for the statements of several mutations. While it is open, it runs all statements
/// of the sessions that refer to it ([`Session::within`]), wherever the program has kept such a
/// session.
#[derive(Debug)]
pub struct AtomicTransaction {
    open: Arc<Mutex<OpenTransaction>>,
    /// The time to wait for the end of another statement.
    patience: OnceLock<Duration>,
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
            patience: OnceLock::new(),
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
    /// [`DriverError::PartOpen`] while a part is open, [`DriverError::TransactionFailed`] after a
    /// part was rolled back, because its settings are still in effect, and
    /// [`DriverError::PoolTimedOut`] if another statement does not end in time.
    pub(crate) async fn alone(&self) -> Result<MutexGuard<'_, OpenTransaction>, DriverError> {
        let open = self.locked().await?;
        if self.has_parts() {
            return Err(DriverError::PartOpen);
        }
        if self.is_broken() {
            return Err(DriverError::TransactionFailed);
        }
        Ok(open)
    }

    /// Waits until no statement runs, as long as for a connection of the pool: the program may hold
    /// the future of a statement without polling it.
    async fn locked(&self) -> Result<MutexGuard<'_, OpenTransaction>, DriverError> {
        let patience = self.patience.get().copied().unwrap_or_default();
        timeout(patience, self.open.lock())
            .await
            .map_err(|_| DriverError::PoolTimedOut)
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

        // That of an earlier attempt is the same.
        let _ = self.patience.set(open.patience());

        self.is_broken.store(false, Ordering::Relaxed);
        self.is_open.store(true, Ordering::Release);
    }

    /// Commits the transaction, or rolls it back if it must not be kept.
    ///
    /// # Errors
    /// [`DriverError::OutcomeUnknown`] when the transaction may or may not have been committed.
    /// After any other error, nothing was kept.
    pub async fn commit(&self) -> Result<(), DriverError> {
        let mut open = self.locked().await?;

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

    /// Rolls the transaction back, or lets it be rolled back in the background if a statement does
    /// not end. It does not wait for a statement that was dropped.
    pub async fn roll_back(&self) {
        match self.locked().await {
            Ok(mut open) => open.undo().await,
            Err(_) => self.abandon(),
        }
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
    ///
    /// # Errors
    /// [`DriverError::PartOpen`] while a part is open: its statements rely on its settings.
    pub async fn restore(&self, session: &Session) -> Result<(), DriverError> {
        self.alone().await?.restore(session).await
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

    /// Whether its last statement has failed, was dropped or does not end, so that it cannot be
    /// committed.
    pub async fn has_failed(&self) -> bool {
        match self.locked().await {
            Ok(open) => open.has_failed(),
            Err(_) => true,
        }
    }

    /// The reason why it may be run again, if PostgreSQL has rolled it back for one.
    pub fn retry_cause(&self) -> Option<RetryCause> {
        // A transaction with a running statement has not been rolled back.
        self.open.try_lock().ok()?.retry_cause()
    }
}
