//! The connection pools, and the catalog data that is read before any statement.

mod call;
mod changes;
mod check;
mod describe;
mod health;
mod pattern_error;
mod reader;
mod retries;
#[cfg(feature = "native-auth")]
mod routines;
mod settings;
mod setup;
mod shared_reads;
#[cfg(feature = "sqlx")]
mod sqlx;
mod statements;

#[cfg(feature = "sqlx")]
pub(super) use self::sqlx::fetch_by_sqlx;
pub use call::{Call, Called, Caller, Written, has_nul};
pub use changes::SchemaVersion;
pub use reader::Reader;
pub use retries::Retries;
#[cfg(feature = "native-auth")]
pub use routines::Routines;
pub use shared_reads::{Participant, SharedReads};

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use ahash::HashMap;
use arc_swap::{ArcSwapOption, Guard};
use tokio::sync::{Mutex, Notify, watch};

use self::changes::{Changes, follow_changes};
pub(super) use self::health::Health;
use self::health::watch_over;
pub use self::settings::Settings;
use self::setup::Setup;
use crate::catalog::Catalog;
use crate::catalog::functions::{Function, FunctionSpec, Functions};
use crate::connect::ConnectConfig;
use crate::driver::{Driver, DriverError};
use crate::row_security::Unbound;
use crate::session_effects::SessionReset;
#[cfg(feature = "sqlx")]
use crate::sqlx_pool::SqlxPool;
use crate::{ColumnType, Columns, DbError, RequestQuota, RowSecurity};
use svc_telemetry::metrics::{PoolStatus, Pools};

/// The columns of statements, or why PostgreSQL rejects one.
type Described = HashMap<&'static str, Result<Columns, String>>;

/// The database objects that an application uses.
#[derive(Debug, Default)]
pub struct Needs {
    /// The views and tables.
    pub sources: Vec<String>,
    /// The functions that fields call or read from.
    pub functions: Vec<FunctionSpec>,
    /// The statements that fields read rows from.
    pub statements: Vec<&'static str>,
    /// The channels that the database should notify.
    pub channels: Vec<String>,
}

/// The database of an application.
pub struct Database {
    /// Runs planned reads.
    pub(super) driver: Driver,
    /// For the application's own statements.
    #[cfg(feature = "sqlx")]
    pub(super) sqlx: SqlxPool,
    place: String,
    pub(super) acquire_timeout: Duration,
    /// The time to wait for the response to a statement.
    pub(super) deadline: Duration,
    pub retries: u32,
    /// The maximum number of connections that one request uses at the same time.
    connections_of_one: u32,
    pub(super) sources: Vec<String>,
    /// The channels that the database should notify.
    pub channels: Vec<String>,
    pub(super) called: Vec<FunctionSpec>,
    /// The statements that fields read rows from.
    pub statements: Vec<&'static str>,
    /// Their columns, as they were last described.
    described: std::sync::Mutex<Described>,
    pub catalog: ArcSwapOption<Catalog>,
    pub changes: Changes,
    pub schema_version: Option<Arc<SchemaVersion>>,
    /// Notified when a request has found a sign that the database is unreachable.
    pub(super) suspected: Arc<Notify>,
    functions: std::sync::Mutex<Functions>,
    pub health: watch::Sender<Health>,
    /// Whether a statement has met a read-only database: another server may accept writes by now.
    pub(super) is_read_only: AtomicBool,
    /// Whether `health` is `Up`. It is kept separately because each request checks it, and a
    /// channel takes a lock.
    pub is_up: AtomicBool,
    /// Why it could not be used at the last check.
    reason: std::sync::Mutex<Option<String>>,
    /// The configuration of the role that runs the set-up, if it is not the service's own.
    pub(super) owner: Option<ConnectConfig>,
    setup: Mutex<Setup>,
    pub(super) tells_reason: bool,
    pub(super) row_security: RowSecurity,
    /// Whether access rules of the application may hide rows.
    pub(super) hides_rows: bool,
    pub(super) session_reset: SessionReset,
}

impl Database {
    /// Creates the pools, which connect on first use. A task watches the database for as long as
    /// the value exists.
    ///
    /// # Errors
    /// When sqlx needs a local socket and the system cannot provide one.
    pub fn new(settings: Settings, needs: Needs) -> std::io::Result<Arc<Self>> {
        let Needs {
            mut sources,
            functions: called,
            statements,
            channels,
        } = needs;

        sources.sort();
        sources.dedup();
        let bounds = settings.bounds();
        let place = settings.connect.place();
        let config = statement_config(&settings);
        let reset_session = settings.reset_session != Some(false);
        let changes = Changes::new(settings.catalogue_poll.is_some());
        let database = Arc::new(Self {
            driver: Driver::new(&config, bounds)
                .statement_cache(settings.statement_cache)
                .reset_session(reset_session),
            session_reset: SessionReset::new(settings.reset_session),
            #[cfg(feature = "sqlx")]
            sqlx: SqlxPool::new(
                &settings.connect,
                &config,
                bounds,
                reset_session,
                changes.last(),
            )?,
            place,
            acquire_timeout: bounds.acquire_timeout,
            deadline: bounds.deadline,
            retries: settings.retries,
            connections_of_one: settings
                .connections_of_one
                .unwrap_or_else(|| bounds.size.div_ceil(2)),
            sources,
            channels,
            called,
            statements,
            described: std::sync::Mutex::default(),
            catalog: ArcSwapOption::empty(),
            suspected: Arc::default(),
            changes,
            schema_version: settings.schema_version,
            functions: std::sync::Mutex::default(),
            health: watch::Sender::new(Health::Unknown),
            is_read_only: AtomicBool::new(false),
            is_up: AtomicBool::new(false),
            reason: std::sync::Mutex::default(),
            owner: settings.owner,
            setup: Mutex::new(Setup::new(settings.setup)),
            tells_reason: settings.tells_reason,
            row_security: settings.row_security,
            hides_rows: settings.hides_rows,
        });

        database.start_tasks(settings.catalogue_poll);

        Ok(database)
    }

    /// Starts the tasks that watch the database and follow its changes.
    fn start_tasks(self: &Arc<Self>, catalogue_poll: Option<Duration>) {
        tokio::spawn(watch_over(Arc::downgrade(self)));
        tokio::spawn(follow_changes(Arc::downgrade(self), catalogue_poll));
    }

    /// The columns of the views and tables.
    pub async fn catalog(&self) -> Result<Arc<Catalog>, DbError> {
        self.reached().await?;
        self.catalog.load_full().ok_or(DbError::Unreachable)
    }

    /// The same without a reference count: a guard to inspect and drop, not to hold across an
    /// `await`.
    pub async fn catalog_now(&self) -> Result<Guard<Option<Arc<Catalog>>>, DbError> {
        self.reached().await?;
        Ok(self.catalog_at_hand())
    }

    /// The same without waiting for a verdict about the database.
    pub fn catalog_at_hand(&self) -> Guard<Option<Arc<Catalog>>> {
        self.catalog.load()
    }

    /// Whether a view has a column, according to the loaded catalog.
    pub fn has_column(&self, source: &str, column: &str) -> bool {
        let catalog = self.catalog.load();
        catalog
            .as_ref()
            .and_then(|catalog| catalog.source(source))
            .is_some_and(|source| source.columns.contains_key(column))
    }

    /// Returns the type of a view's column, according to the loaded catalog.
    pub fn known_column(&self, source: &str, column: &str) -> Option<ColumnType> {
        let catalog = self.catalog.load();
        catalog
            .as_ref()?
            .source(source)?
            .columns
            .get(column)
            .cloned()
    }

    /// The views and tables of the schema that are missing from the database.
    pub fn missing_sources(&self) -> Vec<String> {
        let catalog = self.catalog.load();
        let known = |name: &String| {
            catalog
                .as_ref()
                .is_some_and(|catalog| catalog.source(name).is_some())
        };

        self.sources
            .iter()
            .filter(|name| !known(name))
            .cloned()
            .collect()
    }

    /// Returns why a function of the schema cannot be called.
    pub fn function_fault(&self, spec: &FunctionSpec) -> Option<String> {
        self.functions().get(spec)?.as_ref().err().cloned()
    }

    /// A function of the schema, if it can be called.
    pub fn known_function(&self, spec: &FunctionSpec) -> Option<Arc<Function>> {
        self.functions().get(spec)?.as_ref().ok().cloned()
    }

    /// The columns of a statement that fields read rows from, or why PostgreSQL rejects it.
    pub fn described(&self, statement: &str) -> Option<Result<Columns, String>> {
        self.descriptions().get(statement).cloned()
    }

    /// Returns the loaded descriptions. The lock is held for a look-up, which cannot panic.
    pub(super) fn descriptions(&self) -> MutexGuard<'_, Described> {
        self.described
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the loaded functions. The lock is held for a look-up, which cannot panic.
    pub(super) fn functions(&self) -> MutexGuard<'_, Functions> {
        self.functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The share of the pool available to one request.
    pub fn share(&self) -> Arc<RequestQuota> {
        Arc::new(RequestQuota::new(self.connections_of_one))
    }

    /// The share of a request whose only operation runs in one transaction. Its statements outside
    /// of the transaction may use one connection in addition to the share, so that the request uses
    /// as many as any other, and at least two.
    pub fn share_with_operation(&self) -> Arc<RequestQuota> {
        let connections = self.connections_of_one.saturating_sub(1);
        Arc::new(RequestQuota::new(connections))
    }

    /// Whether no statement can leave lasting effects in its session.
    pub fn leaves_session(&self) -> bool {
        self.session_reset.can_be_left_out()
    }

    /// The maximum number of connections for planned reads and calls.
    pub fn max_connections(&self) -> u32 {
        self.driver.max_connections()
    }

    /// Returns the location of the database, without the password.
    pub fn place(&self) -> &str {
        &self.place
    }
}

/// Returns the configuration of the connections for the application's statements.
fn statement_config(settings: &Settings) -> ConnectConfig {
    let timeout = settings.statement_timeout.as_millis().to_string();
    settings
        .connect
        .clone()
        .setting("statement_timeout", &timeout)
}

impl Pools for Database {
    fn pools(&self) -> Vec<PoolStatus> {
        vec![
            self.driver.status(),
            #[cfg(feature = "sqlx")]
            self.sqlx.status(),
        ]
    }
}

/// Shows the location only: sqlx's output for a connection includes the password.
impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database")
            .field("place", &self.place)
            .field("is_up", &self.is_up)
            .finish_non_exhaustive()
    }
}

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{}", .0.with_sources())]
    Driver(#[from] DriverError),
    #[error(transparent)]
    Unbound(#[from] Unbound),
}
