//! Detects changes of views and functions while the service runs.
//!
//! A statement that no longer fits its view reports that itself, by an error or by its result
//! types. Silent changes, such as a restored column or a function that returns different values,
//! are found by a task. It compares a fingerprint of the part of the catalog that was read, on a
//! dedicated connection.

mod loaded;
mod schema_version;

pub use schema_version::SchemaVersion;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ahash::HashSet;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

pub(super) use self::loaded::Loaded;
use super::{CheckError, Database};
use crate::DbError;
use crate::catalog::functions::FunctionSpec;
use crate::catalog::{Fingerprints, fingerprints};
use crate::driver::{DedicatedConnection, DriverError, LastChange};
use crate::row_security::Verdict;

/// The minimum time between the starts of two checks: clients that send requests repeatedly must
/// not make us check all the time. A check without an open connection costs much more.
const SPACING: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(200)];

/// The state kept between two checks of the database.
#[derive(Debug)]
pub struct Changes {
    poll: Mutex<Poll>,
    /// The last check after which the database was read; `None` while required policies do not
    /// bind.
    known: std::sync::Mutex<Option<Look>>,
    /// Whether a check since then has found other rules or policies. Connections opened meanwhile
    /// may have plans that are wrong even if the change was undone before the database was read.
    differs: AtomicBool,
    last: LastChange,
    /// Notifies subscribers of a detected change.
    told: watch::Sender<()>,
    /// Whether the connection is kept for the next check.
    keeps_connection: bool,
}

#[derive(Debug, Default)]
struct Poll {
    connection: Option<DedicatedConnection>,
    /// When the last check began.
    looked: Option<Instant>,
    /// The snapshot that matches the loaded state, and the number of functions loaded by then.
    known_at: Option<(String, usize)>,
}

/// The findings of a check of the database.
#[derive(Debug, PartialEq, Eq)]
struct Look {
    /// The fingerprint of the part of the catalog that is read.
    fingerprint: String,
    /// The fingerprint of everything that decides which rows a read returns, if responses are
    /// cached; else empty.
    rules: String,
    /// The policies that do not bind. They are read rather than derived from a fingerprint, as they
    /// depend on views, their owners and options, tables, policies, partitions, roles, memberships
    /// and functions.
    verdict: Verdict,
}

impl Changes {
    pub(crate) fn new(keeps_connection: bool) -> Self {
        Self {
            poll: Mutex::default(),
            known: std::sync::Mutex::default(),
            differs: AtomicBool::new(false),
            last: LastChange::default(),
            told: watch::Sender::default(),
            keeps_connection,
        }
    }

    fn spacing(&self) -> Duration {
        SPACING[usize::from(!self.keeps_connection)]
    }

    /// Whether a check finds the database as it was read, and whether it finds the same rules.
    fn compare(&self, look: &Look) -> (bool, bool) {
        let known = self.known();
        let Some(known) = known.as_ref() else {
            return (false, false);
        };

        let has_rules = known.rules == look.rules;
        if !has_rules || known.verdict != look.verdict {
            self.differs.store(true, Ordering::Release);
        }

        (
            known == look && !self.differs.load(Ordering::Acquire),
            has_rules,
        )
    }

    /// Replaces the last check. Returns whether the same policies bind as before, and the same
    /// rules decide the rows of reads, without a change in between.
    fn adopt(&self, look: Look) -> bool {
        let mut known = self.known();
        let differs = self.differs.swap(false, Ordering::AcqRel);
        let same = !differs
            && known
                .as_ref()
                .is_some_and(|known| known.verdict == look.verdict && known.rules == look.rules);
        *known = Some(look);
        same
    }

    /// Whether the database was read and its loaded state may be used.
    pub(crate) fn has_look(&self) -> bool {
        self.known().is_some()
    }

    /// Whether the last check has found these rules, and none has found others since.
    fn has_rules(&self, rules: &str) -> bool {
        !self.differs.load(Ordering::Acquire)
            && self
                .known()
                .as_ref()
                .is_some_and(|known| known.rules == rules)
    }

    /// Forgets the last check, so that the next one counts as a change.
    pub(crate) fn forget_look(&self) {
        *self.known() = None;
    }

    fn known(&self) -> MutexGuard<'_, Option<Look>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when a change was last detected.
    #[cfg(feature = "sqlx")]
    pub(crate) fn last(&self) -> LastChange {
        self.last.clone()
    }
}

impl Database {
    /// Checks for functions that may alter the session, if their fingerprint has changed.
    async fn follow_effects(
        &self,
        connection: &mut DedicatedConnection,
        fingerprint: Option<String>,
    ) -> Result<(), DriverError> {
        if self.session_reset.follow(connection, fingerprint).await? {
            // Calls considered harmless may have altered their sessions.
            self.driver.retire_connections();
        }
        Ok(())
    }

    /// Whether everything that decides the rows of reads is tracked.
    fn follows_rules(&self) -> bool {
        self.schema_version.is_some()
    }

    /// Invalidates everything cached from the database.
    pub(super) fn end_schema_version(&self) {
        self.schema_version.iter().for_each(|version| version.end());
    }

    /// The functions of the schema, and those called by resolvers.
    fn known_functions(&self) -> Vec<FunctionSpec> {
        let known = self.functions();
        self.called
            .iter()
            .chain(known.keys())
            .collect::<HashSet<_>>()
            .into_iter()
            .cloned()
            .collect()
    }

    /// A receiver that is notified when views or functions have changed, and closed with the
    /// database.
    pub fn told_of_changes(&self) -> watch::Receiver<()> {
        self.changes.told.subscribe()
    }

    /// Requests a check of the views soon, because a statement did not fit.
    pub fn may_have_changed(&self) {
        self.driver.views_changed().notify_one();
    }

    /// Runs a read, and once more if the views may have changed since it was planned.
    pub async fn following<T, F>(&self, read: impl Fn() -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        match read().await {
            Err(error) if error.shows_change() => {
                Box::pin(self.look()).await;
                read().await
            }
            result => result,
        }
    }

    /// Checks whether views or functions have changed, and reads them again if so. Concurrent
    /// callers share a check.
    pub async fn look(&self) {
        // Taken before the lock, so that a check which begins during the wait serves this caller
        // too. An earlier one may have missed the change that the caller has met.
        let asked = Instant::now();
        let mut poll = self.changes.poll.lock().await;
        if let Some(looked) = poll.looked {
            if looked >= asked {
                return;
            }
            tokio::time::sleep_until(looked + self.changes.spacing()).await;
        }

        poll.looked = Some(Instant::now());

        if let Err(error) = self.look_with(&mut poll).await {
            tracing::debug!(%error, "the database could not be asked whether views have changed");
            // A change would have been missed.
            self.end_schema_version();
        }
    }

    /// The same, unless the last check is more recent than `recent`.
    pub async fn look_unless(&self, recent: Duration) {
        let looked = self.changes.poll.lock().await.looked;
        if looked.is_none_or(|looked| looked.elapsed() >= recent) {
            self.look().await;
        }
    }

    async fn look_with(&self, poll: &mut Poll) -> Result<(), CheckError> {
        let specs = self.known_functions();

        // Taken out, so that it is unset if this check fails. A function looked up since then is
        // not covered by that snapshot.
        let known_at = poll
            .known_at
            .take()
            .filter(|(_, functions)| *functions == specs.len());
        let known_at = known_at.map(|(snapshot, _)| snapshot).unwrap_or_default();

        // Dropped, and so closed, on failure or cancellation.
        let mut connection = match poll.connection.take() {
            Some(connection) => connection,
            None => self.driver.dedicated(self.acquire_timeout).await?,
        };

        let comparing = self.compare(&mut connection, &known_at, &specs);
        let compared = tokio::time::timeout(self.acquire_timeout, comparing).await;
        let (snapshot, found) = compared.unwrap_or(Err(DriverError::Unanswered))?;

        if self.changes.keeps_connection {
            poll.connection = Some(connection);
        } else {
            connection.close();
        }

        match found {
            Compared::Same => poll.known_at = Some((snapshot, specs.len())),
            // It has deadlines of its own: reading a large catalog takes longer than a
            // comparison.
            Compared::Changed => self.read_again().await?,
            // The task that watches the database logs the reason, and decides when the database is
            // used again.
            Compared::Unbound => self.stop_using(),
        }

        Ok(())
    }

    /// The snapshot of the check, and whether the database is unchanged since the last read.
    async fn compare(
        &self,
        connection: &mut DedicatedConnection,
        known_at: &str,
        specs: &[FunctionSpec],
    ) -> Result<(String, Compared), DriverError> {
        let found = fingerprints(
            connection,
            known_at,
            &self.sources,
            specs,
            self.follows_rules(),
        )
        .await?;

        let Fingerprints {
            snapshot,
            catalog,
            effects,
            rules,
        } = found;

        self.follow_effects(connection, effects).await?;
        let Some(fingerprint) = catalog else {
            return Ok((snapshot, Compared::Same));
        };

        let verdict = self
            .row_security
            .verdict(connection, &self.sources, &self.called)
            .await?;
        if self.row_security.refuses(&verdict) {
            return Ok((snapshot, Compared::Unbound));
        }

        let look = Look {
            fingerprint,
            rules: rules.unwrap_or_default(),
            verdict,
        };

        let (is_known, has_rules) = self.changes.compare(&look);
        if !has_rules {
            // Before the catalog is read, which may take a while, or fail.
            self.end_schema_version();
        }

        if !is_known {
            return Ok((snapshot, Compared::Changed));
        }

        // It has ended if the previous check failed.
        self.schema_version
            .iter()
            .for_each(|version| version.note(&look.rules));

        Ok((snapshot, Compared::Same))
    }
}

/// The database compared with the loaded state.
enum Compared {
    Same,
    Changed,
    /// Required policies do not bind.
    Unbound,
}

/// Checks whenever there is a reason, and at intervals, for as long as the database exists.
pub(crate) async fn follow_changes(database: Weak<Database>, interval: Option<Duration>) {
    loop {
        let Some(strong) = database.upgrade() else {
            return;
        };

        let (reason, mut health) = (
            strong.driver.views_changed().clone(),
            strong.health.subscribe(),
        );
        drop(strong);
        let tick = async {
            match interval {
                Some(interval) => tokio::time::sleep(interval).await,
                None => std::future::pending().await,
            }
        };

        // The channel closes with the database.
        let gone = async { health.wait_for(|_| false).await.is_err() };
        tokio::select! {
            () = tick => {}
            () = reason.notified() => {}
            _ = gone => return,
        }

        let Some(strong) = database.upgrade() else {
            return;
        };

        if strong.is_up() {
            strong.look().await;
        }
    }
}
