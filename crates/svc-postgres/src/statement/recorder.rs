//! Records the statements that run, for an explanation of a request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use crate::{Param, RowSink, Statement};

/// The maximum number of statements recorded per root field; further ones are only counted.
const MAX_STATEMENTS: usize = 20;

tokio::task_local! {
    static RECORDER: Arc<Recorder>;
}

/// The number of recorded futures. While it is zero, no statement looks for a recorder.
static RECORDING: AtomicUsize = AtomicUsize::new(0);

/// The statements of a future, in the order in which they started.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    statements: Vec<Recorded>,
    unrecorded: usize,
    elapsed: Duration,
}

/// A completed or running statement.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub statement: Statement,
    pub kind: StatementKind,
    /// Its outcome; `None` if there was no response.
    pub outcome: Option<Outcome>,
}

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    Read,
    /// A statement that may write, which is never planned a second time.
    Write,
}

/// The outcome of a statement with a response.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// `None` if it failed.
    pub rows: Option<usize>,
    /// From requesting a connection to the last row, without the time spent completing rows.
    pub elapsed: Duration,
}

/// A recorded statement while it runs.
pub(crate) struct Recording {
    recorder: Arc<Recorder>,
    /// Its index, if it was recorded.
    index: Option<usize>,
    began: Instant,
}

/// Records the start of a statement; `None` if there is no recorder.
pub(crate) fn begin(statement: &Statement, kind: StatementKind) -> Option<Recording> {
    if RECORDING.load(Ordering::Relaxed) == 0 {
        return None;
    }

    let recorder = RECORDER.try_with(Arc::clone).ok()?;
    let index = recorder.add(statement, kind);
    Some(Recording {
        recorder,
        index,
        began: Instant::now(),
    })
}

impl Recorder {
    /// Runs a future and records its statements.
    pub async fn around<F: Future>(self: Arc<Self>, work: F) -> F::Output {
        /// Counts while it exists: the future may be dropped half-way.
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

    /// The recorded statements, and the number of the others.
    pub fn statements(&self) -> (Vec<Recorded>, usize) {
        let state = self.state();
        (state.statements.clone(), state.unrecorded)
    }

    /// The total time of all statements.
    pub fn elapsed(&self) -> Duration {
        self.state().elapsed
    }

    fn add(&self, statement: &Statement, kind: StatementKind) -> Option<usize> {
        let mut state = self.state();
        let index = state.statements.len();
        if index == MAX_STATEMENTS {
            state.unrecorded += 1;
            return None;
        }

        state.statements.push(Recorded {
            statement: statement.clone(),
            kind,
            outcome: None,
        });

        Some(index)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The code under the lock cannot panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// Records the end of a read whose rows went to `sink`.
    pub(crate) fn read(&self, is_read: bool, sink: &TimedSink<'_>) {
        self.end(is_read.then_some(sink.rows), sink.completing);
    }

    /// Records the end of a statement, with its number of rows unless it failed.
    pub(crate) fn ended(&self, rows: Option<usize>) {
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
    /// The types of its values, never the values: the type that the statement casts each to, if it
    /// has a cast.
    pub fn types(&self) -> Vec<String> {
        let casts = self.statement.text.casts();
        let cast = |number: usize| {
            casts
                .iter()
                .find(|(of, _)| *of == number)
                .map(|(_, cast)| cast)
        };

        let params = self.statement.params.iter().enumerate();
        let types = params.map(|(index, param)| match (cast(index + 1), param) {
            (Some(cast), Param::Texts(_)) => format!("{cast}[]"),
            (Some(cast), _) => cast.clone(),
            (None, param) => param.type_name().to_owned(),
        });

        types.collect()
    }
}

/// Measures how long rows take to complete as they arrive.
pub(crate) struct TimedSink<'a> {
    sink: &'a mut dyn RowSink,
    rows: usize,
    completing: Duration,
}

impl<'a> TimedSink<'a> {
    pub(crate) fn new(sink: &'a mut dyn RowSink) -> Self {
        Self {
            sink,
            rows: 0,
            completing: Duration::ZERO,
        }
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
        // `completing` stays, as the time of the first attempt is part of the total too.
        self.rows = 0;
        self.sink.restart();
    }
}
