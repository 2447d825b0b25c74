//! The connection pools, and the catalogue data that is read before any statement.

mod changes;
mod health;
mod setup;
#[cfg(feature = "sqlx")]
mod sqlx;

#[cfg(feature = "sqlx")]
pub(super) use self::sqlx::fetch_by_sqlx;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use ahash::HashMap;
use arc_swap::{ArcSwapOption, Guard};
use tokio::sync::{Mutex, Notify, watch};
use tokio::time::timeout;
use tokio_postgres::Row;

use self::changes::{Changes, Loaded, follow_changes};
pub(super) use self::health::Health;
use self::health::watch_over;
use self::setup::Setup;
use crate::metrics::{PoolStatus, Pools};
use crate::postgres::catalogue::Catalogue;
use crate::postgres::connect::ConnectConfig;
use crate::postgres::driver::{
    Bounds, DedicatedConnection, Driver, DriverError, EachResult, Isolation, OpenTransaction,
};
use crate::postgres::functions::{Function, FunctionSpec, Functions};
use crate::postgres::recorder::{self, Recording, StatementKind, TimedSink};
use crate::postgres::row_security::Unbound;
use crate::postgres::session_effects::SessionReset;
use crate::postgres::sqlstate::is_read_only;
#[cfg(feature = "sqlx")]
use crate::postgres::sqlx_pool::SqlxPool;
use crate::postgres::{
    ColumnType, Columns, DbError, RowSecurity, RowSink, Rows, SchemaVersion, Session, Share,
    Statement,
};

/// The minimum and maximum time from the `statement_timeout` in PostgreSQL to the deadline of a
/// statement. Between them, it is a tenth of the time-out.
const MARGIN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(5)];

/// The time allowed for reading the catalogue.
const CATALOGUE: Duration = Duration::from_secs(10);

/// How often the catalogue is read again if the connection was closed meanwhile.
const TRIES: u32 = 3;

/// The columns of statements, or why PostgreSQL rejects one.
type Described = HashMap<&'static str, Result<Columns, String>>;

/// The settings of the pools.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) connect: ConnectConfig,
    pub(crate) max_connections: u32,
    pub(crate) acquire_timeout: Duration,
    pub(crate) statement_timeout: Duration,
    /// Bytes of SQL that a connection for planned reads keeps prepared.
    pub(crate) statement_cache: usize,
    /// Whether sessions are reset after writes; `None` resets them only if functions may leave
    /// lasting effects.
    pub(crate) reset_session: Option<bool>,
    /// How often a transaction is retried that PostgreSQL has rolled back because of concurrent
    /// ones.
    pub(crate) retries: u32,
    /// The maximum number of connections that one request uses at the same time; half of the pool
    /// by default.
    pub(crate) connections_of_one: Option<u32>,
    /// The time between two checks for changes of views or functions; `None` disables them.
    pub(crate) catalogue_poll: Option<Duration>,
    /// The schema version, if responses are cached: everything that decides the rows of reads is
    /// then tracked.
    pub(crate) schema_version: Option<Arc<SchemaVersion>>,
    /// The configuration of the role that runs the set-up, if it is not the service's own.
    pub(crate) owner: Option<ConnectConfig>,
    /// Run once, when the database is first reached.
    pub(crate) setup: Option<Cow<'static, str>>,
    /// Whether policies are checked.
    pub(crate) row_security: RowSecurity,
    /// Whether clients see why the database cannot be used.
    pub(crate) tells_reason: bool,
}

impl Settings {
    /// Returns the time to wait for the response to a statement. PostgreSQL cancels the statement
    /// earlier, if it can.
    fn deadline(&self) -> Duration {
        self.statement_timeout
            .saturating_add((self.statement_timeout / 10).clamp(MARGIN[0], MARGIN[1]))
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            size: self.max_connections,
            acquire_timeout: self.acquire_timeout,
            deadline: self.deadline(),
        }
    }
}

/// The database objects that an application uses.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// The views and tables.
    pub(crate) sources: Vec<String>,
    /// The functions that fields call or read from.
    pub(crate) functions: Vec<FunctionSpec>,
    /// The statements that fields read rows from.
    pub(crate) statements: Vec<&'static str>,
}

/// The database of an application.
pub(crate) struct Database {
    /// Runs planned reads.
    pub(super) driver: Driver,
    /// For the application's own statements.
    #[cfg(feature = "sqlx")]
    pub(super) sqlx: SqlxPool,
    place: String,
    pub(super) acquire_timeout: Duration,
    /// The time to wait for the response to a statement.
    pub(super) deadline: Duration,
    pub(super) retries: u32,
    /// The maximum number of connections that one request uses at the same time.
    connections_of_one: u32,
    pub(super) sources: Vec<String>,
    pub(super) called: Vec<FunctionSpec>,
    /// The statements that fields read rows from.
    pub(super) statements: Vec<&'static str>,
    /// Their columns, as they were last described.
    described: std::sync::Mutex<Described>,
    pub(super) catalogue: ArcSwapOption<Catalogue>,
    pub(super) changes: Changes,
    pub(super) schema_version: Option<Arc<SchemaVersion>>,
    /// Notified when a request has found a sign that the database is unreachable.
    pub(super) suspected: Arc<Notify>,
    functions: std::sync::Mutex<Functions>,
    pub(super) health: watch::Sender<Health>,
    /// Whether a statement has met a read-only database: another server may accept writes by now.
    pub(super) is_read_only: AtomicBool,
    /// Whether `health` is `Up`. It is kept separately because each request checks it, and a
    /// channel takes a lock.
    pub(super) is_up: AtomicBool,
    /// Why it could not be used at the last check.
    reason: std::sync::Mutex<Option<String>>,
    /// The configuration of the role that runs the set-up, if it is not the service's own.
    pub(super) owner: Option<ConnectConfig>,
    setup: Mutex<Setup>,
    pub(super) tells_reason: bool,
    pub(super) row_security: RowSecurity,
    pub(super) session_reset: SessionReset,
}

impl Database {
    /// Creates the pools, which connect on first use. A task watches the database for as long as
    /// the value exists.
    ///
    /// # Errors
    /// When sqlx needs a local socket and the system cannot provide one.
    pub(crate) fn new(settings: Settings, needs: Needs) -> std::io::Result<Arc<Self>> {
        let Needs {
            mut sources,
            functions: called,
            statements,
        } = needs;

        sources.sort();
        sources.dedup();
        let timeout = settings.statement_timeout.as_millis().to_string();
        let bounds = settings.bounds();
        let place = settings.connect.place();
        let config = settings
            .connect
            .clone()
            .setting("statement_timeout", &timeout);
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
            called,
            statements,
            described: std::sync::Mutex::default(),
            catalogue: ArcSwapOption::empty(),
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
        });

        tokio::spawn(watch_over(Arc::downgrade(&database)));
        tokio::spawn(follow_changes(
            Arc::downgrade(&database),
            settings.catalogue_poll,
        ));

        Ok(database)
    }

    /// Checks the database now and reads its catalogue. A closed connection proves nothing, so it
    /// is retried.
    pub(crate) async fn check(&self) -> Result<(), CheckError> {
        self.read_catalogue(true).await
    }

    /// The same without the set-up, which may take a while: if the set-up has to run, the database
    /// is not used until then.
    async fn read_again(&self) -> Result<(), CheckError> {
        self.read_catalogue(false).await
    }

    async fn read_catalogue(&self, sets_up: bool) -> Result<(), CheckError> {
        let mut left = TRIES;
        loop {
            match self.read_catalogue_once(sets_up).await {
                Err(CheckError::Driver(error)) if error.is_lost_connection() && left > 0 => {
                    left -= 1
                }
                // The open connections can continue; the catalogue is read again later.
                Err(CheckError::Driver(error))
                    if error.is_too_many_connections() && self.changes.has_look() =>
                {
                    self.driver.views_changed().notify_one();
                    return Ok(());
                }
                result => return result,
            }
        }
    }

    async fn read_catalogue_once(&self, sets_up: bool) -> Result<(), CheckError> {
        let mut connection = self.driver.dedicated(self.acquire_timeout).await?;
        self.driver
            .check_pooler(&mut connection, self.acquire_timeout)
            .await?;
        #[cfg(feature = "sqlx")]
        if self.driver.transaction_settings().is_some() {
            self.sqlx.leave_out_options();
        }

        if sets_up {
            self.set_up(&mut connection).await?;
        }

        let mut loaded = self.load_in_time(&mut connection).await?;
        if self.has_lost(&loaded) && self.setup.lock().await.forget() {
            tracing::warn!(
                "the views of the schema have gone from the database, all of them; the set-up is run again"
            );
            if !sets_up {
                self.wait_for_setup();
                return Ok(());
            }
            self.set_up(&mut connection).await?;
            loaded = self.load_in_time(&mut connection).await?;
        }

        connection.close();
        self.adopt(loaded);

        Ok(())
    }

    async fn load_in_time(
        &self,
        connection: &mut DedicatedConnection,
    ) -> Result<Loaded, CheckError> {
        let reading = timeout(self.deadline.min(CATALOGUE), self.load(connection));
        reading.await.unwrap_or(Err(DriverError::Unanswered.into()))
    }

    /// Whether all views that existed are gone: another database has replaced the one that was set
    /// up.
    fn has_lost(&self, loaded: &Loaded) -> bool {
        let is_known = |catalogue: &Catalogue| {
            self.sources
                .iter()
                .any(|name| catalogue.source(name).is_some())
        };

        self.catalogue
            .load()
            .as_ref()
            .is_some_and(|known| is_known(known))
            && !is_known(loaded.catalogue())
    }

    /// The columns of the views and tables.
    pub(crate) async fn catalogue(&self) -> Result<Arc<Catalogue>, DbError> {
        self.reached().await?;
        self.catalogue.load_full().ok_or(DbError::Unreachable)
    }

    /// The same without a reference count: a guard to inspect and drop, not to hold across an
    /// `await`.
    pub(crate) async fn catalogue_now(&self) -> Result<Guard<Option<Arc<Catalogue>>>, DbError> {
        self.reached().await?;
        Ok(self.catalogue.load())
    }

    /// Whether a view has a column, according to the loaded catalogue.
    pub(crate) fn has_column(&self, source: &str, column: &str) -> bool {
        let catalogue = self.catalogue.load();
        catalogue
            .as_ref()
            .and_then(|catalogue| catalogue.source(source))
            .is_some_and(|source| source.columns.contains_key(column))
    }

    /// Returns the type of a view's column, according to the loaded catalogue.
    pub(crate) fn known_column(&self, source: &str, column: &str) -> Option<ColumnType> {
        let catalogue = self.catalogue.load();
        catalogue
            .as_ref()?
            .source(source)?
            .columns
            .get(column)
            .cloned()
    }

    /// The views and tables of the schema that are missing from the database.
    pub(crate) fn missing_sources(&self) -> Vec<String> {
        let catalogue = self.catalogue.load();
        let known = |name: &String| {
            catalogue
                .as_ref()
                .is_some_and(|catalogue| catalogue.source(name).is_some())
        };

        self.sources
            .iter()
            .filter(|name| !known(name))
            .cloned()
            .collect()
    }

    /// Returns why a function of the schema cannot be called.
    pub(crate) fn function_fault(&self, spec: &FunctionSpec) -> Option<String> {
        self.functions().get(spec)?.as_ref().err().cloned()
    }

    /// A function of the schema, if it can be called.
    pub(crate) fn known_function(&self, spec: &FunctionSpec) -> Option<Arc<Function>> {
        self.functions().get(spec)?.as_ref().ok().cloned()
    }

    /// The columns of a statement that fields read rows from, or why PostgreSQL rejects it.
    pub(crate) fn described(&self, statement: &str) -> Option<Result<Columns, String>> {
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

    /// Runs a read with the session variables of its request.
    pub(crate) async fn fetch(
        &self,
        session: &Session,
        statement: &Statement,
    ) -> Result<Rows, DbError> {
        let mut rows = Vec::new();
        self.stream(session, statement, &mut rows).await?;
        Ok(Rows::Read(rows))
    }

    /// Runs a read and passes on its rows as they arrive. A connection that has died since its last
    /// use is replaced.
    pub(crate) async fn stream(
        &self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DbError> {
        self.reached().await?;
        session.check()?;
        let turn = session.turn().await;
        let read = match recorder::begin(statement, StatementKind::Read) {
            None => self.driver.read(session, statement, sink).await,
            Some(recording) => {
                Box::pin(self.read_recorded(&recording, session, statement, sink)).await
            }
        };

        drop(turn);

        match read {
            Ok(()) => Ok(()),
            Err(error) => {
                Err(Box::pin(self.error_of(statement, self.noted_of(session, error))).await)
            }
        }
    }

    async fn read_recorded(
        &self,
        recording: &Recording,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DriverError> {
        let mut timed = TimedSink::new(sink);
        let result = self.driver.read(session, statement, &mut timed).await;
        recording.read(result.is_ok(), &timed);
        result
    }

    /// Runs pipelined reads on one connection and returns a result for each. An error common to all
    /// is not examined further.
    pub(crate) async fn read_each(
        &self,
        reads: &[(&Session, &Statement)],
    ) -> Result<Vec<EachResult>, DbError> {
        self.reached().await?;
        for (session, _) in reads {
            session.check()?;
        }
        self.driver
            .read_each(reads)
            .await
            .map_err(|error| self.noted(error))
    }

    /// The share of the pool available to one request.
    pub(crate) fn share(&self) -> Arc<Share> {
        Arc::new(Share::new(self.connections_of_one))
    }

    /// Begins a transaction with the session variables of a request.
    pub(crate) async fn begin(
        &self,
        session: &Session,
        isolation: Isolation,
    ) -> Result<OpenTransaction, DbError> {
        self.reached().await?;
        session.check()?;
        self.driver
            .begin(session, isolation)
            .await
            .map_err(|error| self.noted_of(session, error))
    }

    /// Begins a transaction with its first statement, in one round trip; `rows` receives the rows
    /// that arrived.
    pub(crate) async fn begin_with(
        &self,
        session: &Session,
        isolation: Isolation,
        statement: &Statement,
        rows: &mut Vec<Row>,
    ) -> Result<OpenTransaction, DbError> {
        self.reached().await?;
        session.check()?;
        let begun = self
            .driver
            .begin_with(session, isolation, statement, rows)
            .await;
        begun.map_err(|error| self.noted_of(session, error).of_values(statement))
    }

    /// Converts a driver error of a statement that ran with a request's session variables.
    pub(super) fn noted_of(&self, session: &Session, error: DriverError) -> DbError {
        match session.blamed(error.of_database()) {
            Some(names) => DbError::BadVariable(names),
            None => match session.setup() {
                Some(setup) => self.noted(error).of_values(setup),
                None => self.noted(error),
            },
        }
    }

    /// Converts a driver error, and triggers a check if the database may be unreachable.
    pub(crate) fn noted(&self, error: DriverError) -> DbError {
        let is_read_only = error.code().is_some_and(|code| is_read_only(code.code()));
        if is_read_only {
            self.is_read_only.store(true, Ordering::Relaxed);
        }
        if error.is_sign_of_absence() || is_read_only || self.driver.notes_lost_statement(&error) {
            self.suspect();
        }
        error.into()
    }

    /// Whether no statement can leave lasting effects in its session.
    pub(crate) fn leaves_session(&self) -> bool {
        self.session_reset.can_be_left_out()
    }

    /// The maximum number of connections for planned reads and calls.
    pub(crate) fn max_connections(&self) -> u32 {
        self.driver.max_connections()
    }

    /// Returns the location of the database, without the password.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }
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
pub(crate) enum CheckError {
    #[error("{}", .0.with_sources())]
    Driver(#[from] DriverError),
    #[error(transparent)]
    Unbound(#[from] Unbound),
}
