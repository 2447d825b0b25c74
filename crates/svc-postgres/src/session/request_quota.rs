//! A request's share of the pool.

use std::pin::pin;

use futures_util::future::{Either, select};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// The connections that one request may use at the same time for reads and calls. A single document
/// can require a hundred statements, which would otherwise block all other requests. Transactions
/// are not counted: a resolver with an open transaction may read outside of it.
#[derive(Debug)]
pub struct RequestQuota(Semaphore);

impl RequestQuota {
    /// A share with this many connections.
    pub(crate) fn new(connections: u32) -> Self {
        Self(Semaphore::new(
            usize::try_from(connections)
                .unwrap_or(Semaphore::MAX_PERMITS)
                .max(1),
        ))
    }

    /// Waits until fewer are in use; the connection counts until the permit is dropped.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.0.acquire().await.ok()
    }
}

/// The turn of an operation whose statements run in one transaction, as its other statements see
/// it: they must not wait for it, because the operation may wait for them.
#[derive(Debug)]
pub(super) struct OperationTurn {
    is_held: watch::Sender<bool>,
    /// The connections of the other statements, in addition to the request's share.
    beside: RequestQuota,
}

impl Default for OperationTurn {
    fn default() -> Self {
        Self {
            is_held: watch::Sender::new(false),
            beside: RequestQuota::new(1),
        }
    }
}

impl OperationTurn {
    /// Records that the operation holds its turn until the returned value is dropped.
    pub(super) fn hold<'a>(&'a self, permit: SemaphorePermit<'a>) -> HeldTurn<'a> {
        self.is_held.send_replace(true);
        HeldTurn {
            operation: self,
            _permit: permit,
        }
    }

    /// Waits for another statement's turn: in the share of the request, or in addition to it while
    /// the operation holds its own.
    pub(super) async fn beside<'a>(
        &'a self,
        share: &'a RequestQuota,
    ) -> Option<SemaphorePermit<'a>> {
        // Dropped before the next wait, because it would take a turn that is free meanwhile.
        let turn = {
            let turn = pin!(share.turn());
            let held = pin!(self.held());
            match select(turn, held).await {
                Either::Left((turn, _)) => Some(turn),
                Either::Right(_) => None,
            }
        };

        match turn {
            Some(turn) => turn,
            None => self.beside.turn().await,
        }
    }

    /// Waits until the operation holds its turn.
    async fn held(&self) {
        let mut is_held = self.is_held.subscribe();
        // The sender lives as long as `self`.
        let _ = is_held.wait_for(|is_held| *is_held).await;
    }
}

/// The turn that an operation holds.
#[derive(Debug)]
pub struct HeldTurn<'a> {
    operation: &'a OperationTurn,
    _permit: SemaphorePermit<'a>,
}

impl Drop for HeldTurn<'_> {
    fn drop(&mut self) {
        self.operation.is_held.send_replace(false);
    }
}
