//! Participants in shared reads; the others wait briefly for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Row;

use super::SharedReads;
use crate::{Database, DbError, Session, Statement};

/// A participant in shared reads. It is expected to make a request until it has made one or is
/// dropped.
#[derive(Debug)]
pub struct Participant {
    reads: Arc<SharedReads>,
    is_expected: AtomicBool,
    /// Whether it is expected again as soon as it has its rows.
    asks_often: bool,
}

impl SharedReads {
    /// Adds a participant that makes one request.
    pub fn participant(self: &Arc<Self>) -> Participant {
        Participant::new(self, false)
    }

    /// Adds a participant that requests one row after the other.
    pub fn frequent_participant(self: &Arc<Self>) -> Participant {
        Participant::new(self, true)
    }
}

impl Participant {
    fn new(reads: &Arc<SharedReads>, asks_often: bool) -> Self {
        let participant = Self {
            reads: reads.clone(),
            is_expected: AtomicBool::new(false),
            asks_often,
        };
        participant.come();
        participant
    }

    /// The rows of a read.
    pub async fn rows(
        &self,
        database: &Arc<Database>,
        session: Option<&Arc<Session>>,
        statement: Statement,
    ) -> Result<Vec<Row>, DbError> {
        let read = self.reads.join(database, session, statement);

        // Before the wait for the rows: the batch must not wait for participants that wait for the
        // batch.
        self.leave();
        let rows = read.rows(database).await;
        if self.asks_often {
            self.come();
        }
        rows
    }

    fn come(&self) {
        if !self.is_expected.swap(true, Ordering::Relaxed) {
            self.reads.expected.send_if_modified(|expected| {
                *expected += 1;
                // An increase needs no notification.
                false
            });
        }
    }

    fn leave(&self) {
        if self.is_expected.swap(false, Ordering::Relaxed) {
            self.reads.expected.send_if_modified(|expected| {
                *expected -= 1;
                *expected == 0
            });
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.leave();
    }
}
