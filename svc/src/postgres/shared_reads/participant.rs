//! Those who share reads, and for whom the others wait a little.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Row;

use super::SharedReads;
use crate::postgres::{Database, DbError, Session, Statement};

/// One of those who share reads, who is expected to ask until it has asked, or is dropped.
#[derive(Debug)]
pub(crate) struct Participant {
    reads: Arc<SharedReads>,
    is_expected: AtomicBool,
    /// Whether it is expected again as soon as it has an answer.
    asks_often: bool,
}

impl SharedReads {
    /// Adds one who asks once.
    pub(crate) fn participant(self: &Arc<Self>) -> Participant {
        Participant::new(self, false)
    }

    /// Adds one who asks for one row after the other.
    pub(crate) fn frequent_participant(self: &Arc<Self>) -> Participant {
        Participant::new(self, true)
    }
}

impl Participant {
    fn new(reads: &Arc<SharedReads>, asks_often: bool) -> Self {
        let participant = Self { reads: reads.clone(), is_expected: AtomicBool::new(false), asks_often };
        participant.come();
        participant
    }

    /// The rows of a read.
    pub(crate) async fn rows(
        &self,
        database: &Arc<Database>,
        session: Option<&Arc<Session>>,
        statement: Statement,
    ) -> Result<Vec<Row>, DbError> {
        let read = self.reads.join(database, session, statement);
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
                // Nobody waits for one more.
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
