//! Reads shared by several requests, such as the reads of an event with many subscribers.
//!
//! Equal statements of equal sessions run once. Statements that differ only in their values, such
//! as the reads of subscribers under different policies, wait briefly for each other and become one
//! statement (`batch.rs`).

mod batch;
mod participant;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::{OnceCell, watch};
use tokio::time::{sleep, timeout};
use tokio_postgres::Row;

use self::batch::Batch;
pub use self::participant::Participant;
use crate::{Database, DbError, Param, Session, Statement, StatementText};

/// How long a batch waits for participants while none makes a request. Some may be delayed: their
/// policy queries another service, or their client is not reading at the moment.
const QUIET: Duration = Duration::from_millis(5);

/// How long rows are kept for late participants. A participant whose client is not reading makes
/// its request much later, or never, and its waiting events would keep everyone's rows in memory.
const KEPT: Duration = Duration::from_secs(1);

/// Reads shared by several requests.
pub struct SharedReads {
    state: Mutex<State>,
    /// The number of participants expected to make a request soon.
    expected: watch::Sender<usize>,
    hasher: ahash::RandomState,
}

#[derive(Default)]
struct State {
    /// Keyed by a hash of the statement and its session.
    reads: HashMap<u64, Vec<Arc<SharedRead>>>,
    /// The batches waiting for more reads, by statement text.
    batches: HashMap<StatementText, Batch, ahash::RandomState>,
    /// Whether a task is scheduled to run the batches.
    is_gathering: bool,
    /// Whether a task is scheduled to drop the reads.
    is_forgetting: bool,
    /// How many reads have been requested.
    asked: usize,
}

/// A pending, running or completed read.
#[derive(Debug)]
struct SharedRead {
    session: Option<Arc<Session>>,
    session_key: u64,
    statement: Statement,
    rows: OnceCell<Vec<Row>>,
    /// Whether its batch has run; `None` if it is in none.
    batch: Option<watch::Receiver<bool>>,
}

impl SharedReads {
    pub fn new() -> Arc<Self> {
        let (state, expected, hasher) = (
            Mutex::default(),
            watch::Sender::new(0),
            ahash::RandomState::new(),
        );

        Arc::new(Self {
            state,
            expected,
            hasher,
        })
    }

    /// Returns the read of a statement, which another participant may have requested before.
    fn join(
        self: &Arc<Self>,
        database: &Arc<Database>,
        session: Option<&Arc<Session>>,
        statement: Statement,
    ) -> Arc<SharedRead> {
        let session_key = self.session_key(session);
        let key = self.key(session_key, &statement);
        let mut state = self.state();

        state.asked += 1;
        let is_same = |known: &&Arc<SharedRead>| {
            known.statement == statement && known.session.as_ref() == session
        };

        if let Some(known) = state
            .reads
            .get(&key)
            .and_then(|alike| alike.iter().find(is_same))
        {
            return known.clone();
        }

        let mut read = SharedRead {
            session: session.cloned(),
            session_key,
            statement,
            rows: OnceCell::new(),
            batch: None,
        };

        // The caller is expected until it has joined, so a count of one is the caller itself.
        let is_alone = *self.expected.borrow() <= 1 && state.batches.is_empty();

        // A session with unknown values fails its check, and that error must not reach other
        // participants.
        if is_alone || session.is_some_and(|session| session.check().is_err()) {
            return Arc::new(read);
        }

        let batch = state
            .batches
            .entry(read.statement.text.clone())
            .or_default();
        read.batch = Some(batch.over());
        let read = Arc::new(read);
        if batch.add(read.clone()).is_full() {
            let batch = state.batches.remove(&read.statement.text);
            let database = database.clone();
            tokio::spawn(async move { join_all(batch.map(|batch| batch.run(&database))).await });
        } else if !std::mem::replace(&mut state.is_gathering, true) {
            tokio::spawn(self.clone().gather(database.clone()));
        }

        state.reads.entry(key).or_default().push(read.clone());
        if !std::mem::replace(&mut state.is_forgetting, true) {
            tokio::spawn(forget(Arc::downgrade(self)));
        }

        read
    }

    /// Runs the batches once all expected participants have made their requests, or none has for a
    /// while.
    async fn gather(self: Arc<Self>, database: Arc<Database>) {
        let mut expected = self.expected.subscribe();
        loop {
            let asked = self.state().asked;
            let all = timeout(QUIET, expected.wait_for(|expected| *expected == 0)).await;
            if all.is_ok() || self.state().asked == asked {
                break;
            }
        }

        let batches = {
            let mut state = self.state();
            state.is_gathering = false;
            std::mem::take(&mut state.batches).into_values()
        };

        join_all(batches.map(|batch| batch.run(&database))).await;
    }

    fn session_key(&self, session: Option<&Arc<Session>>) -> u64 {
        session
            .and_then(|session| session.setup())
            .map_or(0, |setup| self.key(0, setup))
    }

    /// A hash that is the same for equal statements.
    fn key(&self, session_key: u64, statement: &Statement) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        session_key.hash(&mut hasher);
        statement.text.hash(&mut hasher);

        for param in &statement.params {
            match param {
                Param::Text(text) | Param::Pattern(_, text) | Param::CursorKey(text) => {
                    text.hash(&mut hasher);
                }
                Param::Texts(texts) => texts.hash(&mut hasher),
                Param::Int(number) => number.hash(&mut hasher),
                // Equal hashes suffice here, as `join` compares the statements.
                Param::Variable(_) => {}
            }
        }

        hasher.finish()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The code under the lock cannot panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the stored reads after a while. The participants that requested them hold their own
/// references.
async fn forget(reads: Weak<SharedReads>) {
    sleep(KEPT).await;
    let Some(reads) = reads.upgrade() else { return };
    let forgotten = {
        let mut state = reads.state();
        state.is_forgetting = false;
        std::mem::take(&mut state.reads)
    };

    // Outside of the lock, as there can be many.
    drop(forgotten);
}

impl SharedRead {
    /// The rows. If the batch returns none, the first participant reads alone. If that fails, it
    /// gets the error, and the next participant tries again.
    async fn rows(&self, database: &Database) -> Result<Vec<Row>, DbError> {
        if let Some(mut batch) = self.batch.clone() {
            // An abandoned batch returns no rows either.
            let _ = batch.wait_for(|is_over| *is_over).await;
        }

        let run = || async {
            let mut rows: Vec<Row> = Vec::new();
            database
                .stream(self.session(), &self.statement, &mut rows)
                .await?;
            Ok::<_, DbError>(rows)
        };

        self.rows.get_or_try_init(run).await.cloned()
    }

    fn session(&self) -> &Session {
        self.session.as_deref().unwrap_or(Session::none())
    }
}

impl std::fmt::Debug for SharedReads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedReads")
            .field("expected", &*self.expected.borrow())
            .finish_non_exhaustive()
    }
}
