//! The record of a request: the data collected for it so far.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::notes::{End, Notes, OperationNote, Spent};
use super::slow::Statements;
use super::{Wanted, is_on, line, slow};
use svc_core::request_id::RequestId;

tokio::task_local! {
    static CURRENT: Arc<Record>;
}

/// The maximum length, in characters, of a name chosen by a client or by an issuer of tokens.
const MAX_NAME_LENGTH: usize = 200;

/// The record of a request, or of one operation of a batch or a connection.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) wanted: Arc<Wanted>,
    pub(super) began: Instant,
    pub(super) transport: &'static str,
    notes: Mutex<Notes>,
    statements: AtomicU32,
    /// In microseconds, like `gate`.
    sql: AtomicU64,
    gate: AtomicU64,
    ran: Mutex<Statements>,
    has_ended: AtomicBool,
}

impl Record {
    pub(super) fn new(wanted: Arc<Wanted>, transport: &'static str) -> Self {
        let notes = Notes {
            request_id: RequestId::current(),
            ..Notes::default()
        };

        Self {
            wanted,
            began: Instant::now(),
            transport,
            notes: Mutex::new(notes),
            statements: AtomicU32::new(0),
            sql: AtomicU64::new(0),
            gate: AtomicU64::new(0),
            ran: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Returns the record of the request that this task handles.
    pub(super) fn current() -> Option<Arc<Self>> {
        if is_on() {
            CURRENT.try_with(Arc::clone).ok()
        } else {
            None
        }
    }

    /// Runs a function of the request.
    pub(super) fn within<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self.clone(), work)
    }

    /// Runs a future of the request, and ends the record.
    pub(super) async fn around<F: Future>(self: &Arc<Self>, work: F) -> F::Output {
        let mut work = pin!(work);
        let output = poll_fn(|cx| self.within(|| work.as_mut().poll(cx))).await;
        self.end(End::Shared);
        output
    }

    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the request.
    pub(super) fn end(&self, end: End) {
        // Both the response and the drop end the record; the first of them writes the line.
        if self.has_ended.swap(true, Ordering::Relaxed) {
            return;
        }

        let spent = self.spent();
        let notes = self.notes().clone();
        if self.wanted.requests {
            line::write(self.transport, &notes, spent, end);
        }

        if self.wanted.slow.is_some_and(|slow| spent.total >= slow) {
            let ran = std::mem::take(&mut *self.ran.lock().unwrap_or_else(PoisonError::into_inner));
            slow::warn(self.transport, &notes, spent, &ran);
        }
    }

    fn spent(&self) -> Spent {
        let micros = |counter: &AtomicU64| Duration::from_micros(counter.load(Ordering::Relaxed));
        let statements = self.statements.load(Ordering::Relaxed);
        Spent {
            total: self.began.elapsed(),
            gate: micros(&self.gate),
            sql: micros(&self.sql),
            statements,
        }
    }

    /// Adds the times and statements of an operation of this batch.
    fn add(&self, operation: &Self) {
        let add = |to: &AtomicU64, from: &AtomicU64| {
            to.fetch_add(from.load(Ordering::Relaxed), Ordering::Relaxed)
        };

        add(&self.sql, &operation.sql);
        add(&self.gate, &operation.gate);

        self.statements.fetch_add(
            operation.statements.load(Ordering::Relaxed),
            Ordering::Relaxed,
        );
    }
}

/// A record dropped before its end belongs to a client that has disconnected.
impl Drop for Record {
    fn drop(&mut self) {
        self.end(End::Gone);
    }
}

/// Runs one operation of a batch with a separate record.
pub async fn in_batch<F: Future>(operation: F) -> F::Output {
    let Some(batch) = Record::current() else {
        return operation.await;
    };
    batch.notes().operations += 1;
    let record = Arc::new(Record::new(batch.wanted.clone(), "batch"));
    let output = record.around(operation).await;
    batch.add(&record);
    output
}

/// Records the operation of the current request.
pub fn note_operation(operation: impl FnOnce() -> OperationNote) {
    let Some(record) = Record::current() else {
        return;
    };

    let mut operation = operation();
    operation.name = operation.name.as_deref().map(short);

    // Identifiers of users are personal data, so they are logged only on demand.
    operation.user_id = operation
        .user_id
        .as_deref()
        .filter(|_| record.wanted.users)
        .map(short);

    let mut notes = record.notes();
    notes.operation = operation;

    // The layer creates the record before the endpoint generates a missing identifier.
    notes.request_id = RequestId::current().or_else(|| notes.request_id.take());
}

/// Records the outcome of the current operation.
pub fn note_answer(code: Option<&str>, errors: usize) {
    let Some(record) = Record::current() else {
        return;
    };
    let mut notes = record.notes();
    notes.code = code.map(|code| short(code).into());
    notes.errors = errors;
}

/// Records the code of the error that the current request is rejected with.
pub fn note_code(code: &str) {
    note_answer(Some(code), 0);
}

fn short(text: &str) -> String {
    text.chars().take(MAX_NAME_LENGTH).collect()
}

/// Measures the time spent in the gate, until it is dropped.
pub struct GateTimer(Arc<Record>, Instant);

/// Starts measuring the gate for the current request.
pub fn gate_asked() -> Option<GateTimer> {
    Some(GateTimer(Record::current()?, Instant::now()))
}

impl Drop for GateTimer {
    fn drop(&mut self) {
        self.0
            .gate
            .fetch_add(micros(self.1.elapsed()), Ordering::Relaxed);
    }
}

/// A running statement of a request, until it is dropped.
pub struct RunningSql {
    record: Arc<Record>,
    began: Instant,
    /// The statement's text, if it contains no values. The outer `None` means that texts are not
    /// collected.
    sql: Option<Option<Arc<str>>>,
}

/// Starts a statement of the current request. Its text is passed if it contains no values.
pub fn statement_began(sql: impl FnOnce() -> Option<Arc<str>>) -> Option<RunningSql> {
    let record = Record::current()?;

    // Only the warning for a slow operation contains texts.
    let sql = record.wanted.slow.map(|_| sql());
    Some(RunningSql {
        record,
        began: Instant::now(),
        sql,
    })
}

impl Drop for RunningSql {
    fn drop(&mut self) {
        let time = self.began.elapsed();
        self.record.statements.fetch_add(1, Ordering::Relaxed);
        self.record.sql.fetch_add(micros(time), Ordering::Relaxed);

        if let Some(sql) = self.sql.take() {
            self.record
                .ran
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(sql, time);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
