//! The statements that run while somebody records them, for an explanation of a request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use super::{Param, RowSink, Statement};

/// The most statements that are recorded of one root field; the others are counted.
const MOST: usize = 20;

tokio::task_local! {
    static RECORDER: Arc<Recorder>;
}

/// The number of futures that are recorded, so that nobody looks for a recorder where there is none.
static RECORDING: AtomicUsize = AtomicUsize::new(0);

/// The statements of a future, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    statements: Vec<Recorded>,
    unrecorded: usize,
    elapsed: Duration,
}

/// A statement that ran, or runs.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) statement: Statement,
    pub(crate) kind: StatementKind,
    /// Its outcome; `None` where it was never answered.
    pub(crate) outcome: Option<Outcome>,
}

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementKind {
    Read,
    /// A statement that may write, which is never planned again.
    Write,
}

/// The outcome of a statement that was answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// `None` where it failed.
    pub(crate) rows: Option<usize>,
    /// From asking for a connection to the last row, without the completion of rows meanwhile.
    pub(crate) elapsed: Duration,
}

/// A statement that is recorded while it runs.
pub(in crate::postgres) struct Recording {
    recorder: Arc<Recorder>,
    /// Its place, if it has one.
    index: Option<usize>,
    began: Instant,
}

/// A statement begins; `None` where nobody records it.
pub(in crate::postgres) fn begin(statement: &Statement, kind: StatementKind) -> Option<Recording> {
    if RECORDING.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let recorder = RECORDER.try_with(Arc::clone).ok()?;
    let index = recorder.add(statement, kind);
    Some(Recording { recorder, index, began: Instant::now() })
}

impl Recorder {
    /// Runs a future, whose statements are recorded.
    pub(crate) async fn around<F: Future>(self: Arc<Self>, work: F) -> F::Output {
        /// Counts for as long as it lives: the future may be dropped half-way.
        struct Counted;
        impl Drop for Counted {
            fn drop(&mut self) {
                RECORDING.fetch_sub(1, Ordering::Relaxed);
            }
        }
        RECORDING.fetch_add(1, Ordering::Relaxed);
        let _counted = Counted;
        RECORDER.scope(self, work).await
    }

    /// The statements that are recorded, and the number of the others.
    pub(crate) fn statements(&self) -> (Vec<Recorded>, usize) {
        let state = self.state();
        (state.statements.clone(), state.unrecorded)
    }

    /// The time that all statements took together.
    pub(crate) fn elapsed(&self) -> Duration {
        self.state().elapsed
    }

    fn add(&self, statement: &Statement, kind: StatementKind) -> Option<usize> {
        let mut state = self.state();
        let index = state.statements.len();
        if index == MOST {
            state.unrecorded += 1;
            return None;
        }
        state.statements.push(Recorded { statement: statement.clone(), kind, outcome: None });
        Some(index)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// A read has ended, whose rows came here.
    pub(super) fn read(&self, is_read: bool, sink: &TimedSink<'_>) {
        self.end(is_read.then_some(sink.rows), sink.completing);
    }

    /// The statement has ended, with so many rows unless it failed.
    pub(in crate::postgres) fn ended(&self, rows: Option<usize>) {
        self.end(rows, Duration::ZERO);
    }

    fn end(&self, rows: Option<usize>, completing: Duration) {
        let elapsed = self.began.elapsed().saturating_sub(completing);
        let mut state = self.recorder.state();
        state.elapsed += elapsed;
        if let Some(recorded) = self.index.and_then(|index| state.statements.get_mut(index)) {
            recorded.outcome = Some(Outcome { rows, elapsed });
        }
    }
}

impl Recorded {
    /// The types of its values, never the values: the type as which the statement reads one, where it says so.
    pub(crate) fn types(&self) -> Vec<String> {
        let casts = self.statement.text.casts();
        let cast = |number: usize| casts.iter().find(|(of, _)| *of == number).map(|(_, cast)| cast);
        let params = self.statement.params.iter().enumerate();
        let types = params.map(|(index, param)| match (cast(index + 1), param) {
            (Some(cast), Param::Texts(_)) => format!("{cast}[]"),
            (Some(cast), _) => cast.clone(),
            (None, param) => param.type_name().to_owned(),
        });
        types.collect()
    }
}

/// Measures how long rows take that are completed as they arrive.
pub(super) struct TimedSink<'a> {
    sink: &'a mut dyn RowSink,
    rows: usize,
    completing: Duration,
}

impl<'a> TimedSink<'a> {
    pub(super) fn new(sink: &'a mut dyn RowSink) -> Self {
        Self { sink, rows: 0, completing: Duration::ZERO }
    }
}

impl RowSink for TimedSink<'_> {
    fn row(&mut self, row: Row) {
        let began = Instant::now();
        self.sink.row(row);
        self.rows += 1;
        self.completing += began.elapsed();
    }

    fn restart(&mut self) {
        self.rows = 0;
        self.sink.restart();
    }
}
