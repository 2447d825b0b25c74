//! Reads that run together.
//!
//! The reads of one session become one statement, which reads for each list of values. The reads of
//! different sessions are pipelined on one connection, each in a transaction with its variables.

use std::sync::Arc;

use tokio::sync::watch;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::SharedRead;
use crate::{Database, DriverError, Param, Statement, cell};

/// The maximum number of reads in a batch.
const MAX_READS: usize = 200;

/// Reads with the same text that run together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    reads: Vec<Arc<SharedRead>>,
    is_over: watch::Sender<bool>,
}

impl Batch {
    pub(super) fn add(&mut self, read: Arc<SharedRead>) -> &mut Self {
        self.reads.push(read);
        self
    }

    pub(super) fn is_full(&self) -> bool {
        self.reads.len() >= MAX_READS
    }

    /// Whether it has run.
    pub(super) fn over(&self) -> watch::Receiver<bool> {
        self.is_over.subscribe()
    }

    /// Runs the reads and distributes their rows. If a statement fails because of one of its
    /// values, it is split in half and tried again. A read left without rows is run alone by its
    /// request, which thus gets only its own errors.
    pub(super) async fn run(self, database: &Database) {
        let mut groups = by_session(self.reads);
        while !groups.is_empty() {
            let reads: Vec<_> = groups
                .iter()
                .map(|group| (group.reads[0].session(), &group.statement))
                .collect();

            // An error of the connection, for example, is found by each request on its own.
            let Ok(results) = database.read_each(&reads).await else {
                break;
            };

            let mut failed = Vec::new();
            for (group, result) in groups.into_iter().zip(results) {
                match result {
                    Ok(rows) => group.hand_out(rows),
                    Err(error) if is_of_value(&error) => failed.extend(group.halves()),
                    Err(_) => {}
                }
            }

            groups = failed;
        }

        self.is_over.send_replace(true);
    }
}

/// The reads of one session, and the statement that runs them.
struct Group {
    reads: Vec<Arc<SharedRead>>,
    statement: Statement,
}

impl Group {
    /// Returns `None` if the values cannot be combined.
    fn of(reads: Vec<Arc<SharedRead>>) -> Option<Self> {
        let statement = match reads.as_slice() {
            [read] => read.statement.clone(),
            several => {
                let lists: Vec<&[Param]> =
                    several.iter().map(|read| &*read.statement.params).collect();
                several.first()?.statement.for_each(&lists)?
            }
        };

        Some(Self { reads, statement })
    }

    fn hand_out(self, rows: Vec<Row>) {
        // The cell is empty: before the batch is over, only the batch sets rows.
        if let [read] = self.reads.as_slice() {
            let _ = read.rows.set(rows);
            return;
        }

        let mut lists = vec![Vec::new(); self.reads.len()];
        for row in rows {
            // The statement has numbered all the rows.
            if let Some(list) = list_of(&row).and_then(|number| lists.get_mut(number)) {
                list.push(row);
            }
        }

        for (read, rows) in self.reads.iter().zip(lists) {
            let _ = read.rows.set(rows);
        }
    }

    /// Two groups to try. Splitting two reads is not worthwhile: each runs alone.
    fn halves(mut self) -> impl Iterator<Item = Self> {
        let count = self.reads.len();
        let second = self.reads.split_off(count / 2);
        [self.reads, second]
            .into_iter()
            .filter(move |_| count > 2)
            .filter_map(Self::of)
    }
}

fn by_session(reads: Vec<Arc<SharedRead>>) -> Vec<Group> {
    let mut groups: Vec<Vec<Arc<SharedRead>>> = Vec::new();
    for read in reads {
        let is_its = |group: &&mut Vec<Arc<SharedRead>>| {
            let first = &group[0];
            first.session_key == read.session_key && first.session == read.session
        };
        match groups.iter_mut().find(is_its) {
            Some(group) => group.push(read),
            None => groups.push(vec![read]),
        }
    }

    groups.into_iter().filter_map(Group::of).collect()
}

/// The number of the list that a row belongs to, counting from 0.
fn list_of(row: &Row) -> Option<usize> {
    let number = cell(row, row.len().checked_sub(1)?)?;
    let number = i64::from_be_bytes(number.try_into().ok()?);
    usize::try_from(number).ok()?.checked_sub(1)
}

/// Whether the cause may be a single list of values, so that the others can be read. An error that
/// shows a change or a timeout is not such an error.
fn is_of_value(error: &DriverError) -> bool {
    let is_too_late = error.code() == Some(&SqlState::QUERY_CANCELED);
    error.of_database().is_some() && !error.shows_change() && !is_too_late
}
