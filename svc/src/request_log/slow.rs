//! The warning of a slow operation, with its statements.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::notes::{Notes, Spent, milliseconds};
use crate::request_id::RequestId;
use crate::trace::trace_id;

/// The most statements that a warning tells apart.
const STATEMENTS: usize = 10;

/// The most characters of a statement.
const TEXT: usize = 1_000;

/// The statements of a request, as far as they are told apart.
#[derive(Debug, Default)]
pub(super) struct Statements(Vec<Ran>);

/// A statement that ran so many times, for so long in all.
#[derive(Debug)]
struct Ran {
    /// `None` for SQL of the program's own, which may have values in its text.
    sql: Option<Arc<str>>,
    times: u32,
    time: Duration,
}

impl Statements {
    pub(super) fn add(&mut self, sql: Option<Arc<str>>, time: Duration) {
        if let Some(ran) = self.0.iter_mut().find(|ran| ran.sql == sql) {
            ran.times += 1;
            ran.time += time;
        } else if self.0.len() < STATEMENTS {
            self.0.push(Ran { sql, times: 1, time });
        } else if let Some(shortest) = self.0.iter_mut().min_by_key(|ran| ran.time)
            && shortest.time < time
        {
            *shortest = Ran { sql, times: 1, time };
        }
    }

    /// Their texts, with their times. Those of SQL of the program's own are not told.
    fn shown(&self) -> String {
        let mut shown = String::new();
        for Ran { sql, times, time } in &self.0 {
            let begin = if shown.is_empty() { "" } else { "; " };
            // Writing to a string does not fail.
            let _ = write!(shown, "{begin}{times}x {:.1} ms: ", milliseconds(*time));
            match sql {
                None => shown.push_str("SQL of the program's own"),
                Some(sql) => shown.extend(sql.chars().take(TEXT)),
            }
        }
        shown
    }
}

/// Warns of an operation that was slow.
pub(super) fn warn(transport: &'static str, notes: &Notes, spent: Spent, ran: &Statements) {
    let trace_id = trace_id();
    tracing::warn!(
        target: "svc::slow",
        request_id = notes.request_id.as_ref().map(RequestId::as_str),
        trace_id,
        transport,
        kind = notes.operation.kind,
        operation = notes.operation.name,
        duration_ms = milliseconds(spent.total),
        gate_ms = milliseconds(spent.gate),
        sql_ms = milliseconds(spent.sql),
        statements = spent.statements,
        sql = ran.shown(),
        "a slow operation"
    );
}
