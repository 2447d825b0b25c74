//! The warning for a slow operation, with its statements.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::notes::{Notes, Spent, milliseconds};
use svc_core::request_id::RequestId;
use svc_core::trace::trace_id;

/// The maximum number of distinct statements in a warning.
const STATEMENTS: usize = 10;

/// The maximum length of a statement, in characters.
const TEXT: usize = 1_000;

/// The distinct statements of a request, limited in number.
#[derive(Debug, Default)]
pub(super) struct Statements(Vec<Ran>);

/// A statement with the number of its runs and their total time.
#[derive(Debug)]
struct Ran {
    /// `None` for SQL of the program, whose text may contain values.
    sql: Option<Arc<str>>,
    times: u32,
    time: Duration,
}

impl Statements {
    pub(super) fn add(&mut self, sql: Option<Arc<str>>, time: Duration) {
        // If there are too many, a long statement replaces the shortest, which explains less.
        if let Some(ran) = self.0.iter_mut().find(|ran| ran.sql == sql) {
            ran.times += 1;
            ran.time += time;
        } else if self.0.len() < STATEMENTS {
            self.0.push(Ran {
                sql,
                times: 1,
                time,
            });
        } else if let Some(shortest) = self.0.iter_mut().min_by_key(|ran| ran.time)
            && shortest.time < time
        {
            *shortest = Ran {
                sql,
                times: 1,
                time,
            };
        }
    }

    /// Returns the texts with their times. The text of the program's own SQL is omitted.
    fn shown(&self) -> String {
        let mut shown = String::new();
        for Ran { sql, times, time } in &self.0 {
            let begin = if shown.is_empty() { "" } else { "; " };
            // Writing to a string never fails.
            let _ = write!(shown, "{begin}{times}x {:.1} ms: ", milliseconds(*time));
            match sql {
                None => shown.push_str("SQL of the program's own"),
                Some(sql) => shown.extend(sql.chars().take(TEXT)),
            }
        }

        shown
    }
}

/// Logs a warning for a slow operation.
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
