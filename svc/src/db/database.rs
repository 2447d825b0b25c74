//! The pool and the health of the database.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::{ArcSwapOption, Guard};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use tokio::sync::{Mutex, Notify, watch};

use super::catalogue::Catalogue;
use super::connect::ConnectConfig;
use super::driver::{Driver, Proxy};
use super::functions::{self, FunctionSpec, Functions};
use super::{DbError, RowSecurity, RowSink, Rows, Session, Statement};
use crate::mutation::Constraints;

/// How often a database that is away is tried again, at first and at last.
const RETRY: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// How much longer than for a connection is waited for an answer to whether the database is there.
const ANSWER: Duration = Duration::from_secs(1);

/// How often a read is run again because its connection had died.
const TRIES: u32 = 3;

/// How the pools are set up.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) connect: ConnectConfig,
    /// Where the pool of sqlx connects, if not to the server.
    pub(crate) proxy: Option<Proxy>,
    pub(crate) max_connections: u32,
    pub(crate) acquire_timeout: Duration,
    pub(crate) statement_timeout: Duration,
    /// As whom the set-up is run, if not as the service.
    pub(crate) owner: Option<ConnectConfig>,
    /// Run once, when the database is first reached.
    pub(crate) setup: Option<Cow<'static, str>>,
    /// What clients are told when a mutation breaks a constraint.
    pub(crate) constraints: Constraints,
    /// Whether policies are looked at.
    pub(crate) row_security: RowSecurity,
}

/// Whether the database answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// Not tried yet.
    Unknown,
    Up,
    Away,
}

/// The database of an application.
pub(crate) struct Database {
    /// Runs planned reads.
    pub(super) driver: Driver,
    /// For statements of the application's own.
    pool: PgPool,
    pub(super) connect: PgConnectOptions,
    _proxy: Option<Proxy>,
    place: String,
    acquire_timeout: Duration,
    sources: Vec<String>,
    called: Vec<FunctionSpec>,
    catalogue: ArcSwapOption<Catalogue>,
    functions: std::sync::Mutex<Functions>,
    constraints: Constraints,
    pub(super) health: watch::Sender<Health>,
    /// Whether `health` says so: each request asks, and a channel is shared with a lock.
    is_up: AtomicBool,
    /// As whom the set-up is run, if not as the service.
    owner: Option<PgConnectOptions>,
    setup: Mutex<Option<Cow<'static, str>>>,
    row_security: RowSecurity,
}

impl Database {
    /// A pool that connects when it is first used. A task watches the database for as long as the value lives.
    pub(crate) fn new(settings: Settings, mut sources: Vec<String>, called: Vec<FunctionSpec>) -> Arc<Self> {
        sources.sort();
        sources.dedup();
        let timeout = settings.statement_timeout.as_millis().to_string();
        let place = settings.connect.place();
        let config = settings.connect.setting("statement_timeout", &timeout);
        let folder = settings.proxy.as_ref().map(Proxy::folder);
        let connect = config.pool_options(folder).disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(settings.max_connections)
            .acquire_timeout(settings.acquire_timeout)
            .test_before_acquire(false)
            .connect_lazy_with(connect.clone());
        let database = Arc::new(Self {
            driver: Driver::new(&config, settings.max_connections, settings.acquire_timeout),
            pool,
            connect,
            _proxy: settings.proxy,
            place,
            acquire_timeout: settings.acquire_timeout,
            sources,
            called,
            catalogue: ArcSwapOption::empty(),
            functions: std::sync::Mutex::default(),
            constraints: settings.constraints,
            health: watch::Sender::new(Health::Unknown),
            is_up: AtomicBool::new(false),
            owner: settings.owner.map(|owner| owner.pool_options(None).disable_statement_logging()),
            setup: Mutex::new(settings.setup),
            row_security: settings.row_security,
        });
        tokio::spawn(watch_over(Arc::downgrade(&database)));
        database
    }

    /// The pool, for statements of the application's own.
    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Tries the database now and reads its catalogue.
    pub(crate) async fn check(&self) -> Result<(), sqlx::Error> {
        let attempt = async {
            let connect = tokio::time::timeout(self.acquire_timeout, self.connect.connect());
            let mut connection = connect.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
            self.set_up(&mut connection).await?;
            self.row_security.look(&mut connection, &self.sources, &self.called).await?;
            let catalogue = Catalogue::load(&mut connection, &self.sources, self.driver.views_changed()).await?;
            let functions = functions::load(&mut connection, &self.called).await?;
            connection.close().await?;
            Ok::<_, sqlx::Error>((catalogue, functions))
        };
        let (catalogue, functions) = attempt.await?;
        self.catalogue.store(Some(Arc::new(catalogue)));
        *self.functions() = functions;
        Ok(())
    }

    /// Runs the application's own SQL, once; of several instances that start together, one after the other.
    async fn set_up(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let mut setup = self.setup.lock().await;
        if let Some(sql) = setup.as_deref() {
            let mut owner = match &self.owner {
                Some(owner) => Some(owner.connect().await?),
                None => None,
            };
            let mut transaction = owner.as_mut().unwrap_or(connection).begin().await?;
            sqlx::query(
                "SELECT set_config('statement_timeout', '0', true), set_config('client_min_messages', 'warning', true)",
            )
            .execute(&mut *transaction)
            .await?;
            sqlx::query("SELECT pg_advisory_xact_lock(hashtext('svc.setup_sql'))").execute(&mut *transaction).await?;
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *transaction).await?;
            transaction.commit().await?;
        }
        *setup = None;
        Ok(())
    }

    /// The columns of the views and tables.
    pub(crate) async fn catalogue(&self) -> Result<Arc<Catalogue>, DbError> {
        self.reached().await?;
        self.catalogue.load_full().ok_or(DbError::Away)
    }

    /// The same without counting who has it: to be looked at and dropped, not to be kept while something is awaited.
    pub(crate) async fn catalogue_now(&self) -> Result<Guard<Option<Arc<Catalogue>>>, DbError> {
        self.reached().await?;
        Ok(self.catalogue.load())
    }

    /// The views and tables of the schema that the database does not have.
    pub(crate) fn missing_sources(&self) -> Vec<String> {
        let catalogue = self.catalogue.load();
        let known = |name: &String| catalogue.as_ref().is_some_and(|catalogue| catalogue.source(name).is_some());
        self.sources.iter().filter(|name| !known(name)).cloned().collect()
    }

    /// Why functions of the schema cannot be called.
    pub(crate) fn missing_functions(&self) -> Vec<String> {
        let functions = self.functions();
        self.called.iter().filter_map(|spec| functions.get(spec)?.as_ref().err().cloned()).collect()
    }

    /// What is known of functions. The lock is held for a look-up, which cannot panic.
    pub(super) fn functions(&self) -> MutexGuard<'_, Functions> {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What clients are told when a mutation breaks a constraint.
    pub(crate) fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// Waits for the first verdict; fails at once while the database is away.
    pub(super) async fn reached(&self) -> Result<(), DbError> {
        if self.is_up() {
            return Ok(());
        }
        let mut health = self.health.subscribe();
        let verdict = health.wait_for(|health| *health != Health::Unknown);
        match tokio::time::timeout(self.acquire_timeout, verdict).await {
            Ok(Ok(health)) if *health == Health::Up => Ok(()),
            _ => Err(DbError::Away),
        }
    }

    fn tell(&self, health: Health) {
        // Under the lock of the channel, so that both always say the same.
        self.health.send_modify(|known| {
            self.is_up.store(health == Health::Up, Ordering::Release);
            *known = health;
        });
    }

    /// Runs a read, with the session variables of the request that causes it.
    pub(crate) async fn fetch(&self, session: &Session, statement: &Statement) -> Result<Rows, DbError> {
        let mut rows = Vec::new();
        self.stream(session, statement, &mut rows).await?;
        Ok(Rows::Read(rows))
    }

    /// Runs a read and gives its rows away as they arrive. A connection that has died since it was last used is
    /// replaced.
    pub(crate) async fn stream(
        &self,
        session: &Session,
        statement: &Statement,
        sink: &mut dyn RowSink,
    ) -> Result<(), DbError> {
        self.reached().await?;
        session.check()?;
        for _ in 0..TRIES {
            match self.driver.read(session, statement, sink).await {
                // Boxed, as the future that connects is large, and would be moved with each request's.
                Err(error) if error.is_connection() => Box::pin(self.replace_connections()).await?,
                Ok(()) => return Ok(()),
                Err(error) => return Err(Box::pin(self.error_of(statement, error.into())).await),
            }
            sink.restart();
        }
        Ok(self.driver.read(session, statement, sink).await?)
    }

    /// A connection has died: so have the others, or the database is away.
    async fn replace_connections(&self) -> Result<(), DbError> {
        self.driver.give_up_connections();
        if self.check().await.is_err() {
            self.tell(Health::Away);
            return Err(DbError::Away);
        }
        Ok(())
    }

    /// Whether the database answered when it was last asked.
    pub(crate) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Acquire)
    }

    /// A round trip through the pool.
    ///
    /// # Errors
    /// [`DbError::Busy`] and [`DbError::Full`] when no connection can be had, [`DbError::Away`] when nothing is answered.
    pub(crate) async fn ping(&self) -> Result<(), DbError> {
        let statement = Statement::new("SELECT 1", Vec::new());
        let patience = self.acquire_timeout.saturating_add(ANSWER);
        let done = tokio::time::timeout(patience, self.fetch(Session::none(), &statement)).await;
        done.unwrap_or(Err(DbError::Away)).map(drop)
    }

    /// The most connections there can be for planned reads and calls.
    pub(crate) fn max_connections(&self) -> u32 {
        self.driver.max_connections()
    }

    /// Where the database is, without the password.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }
}

/// Shows where the database is: what sqlx shows of a connection has the password.
impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("place", &self.place).field("is_up", &self.is_up).finish_non_exhaustive()
    }
}

/// Tries a database that is away until it answers; says so once when it goes and once when it comes back. Reads the
/// catalogue again when views have changed.
async fn watch_over(database: Weak<Database>) {
    let mut pause = RETRY[0];
    let mut said = false;
    let mut known_missing = Vec::new();
    loop {
        let Some(strong) = database.upgrade() else { return };
        let result = strong.check().await;
        let health = strong.health.subscribe();
        match result {
            Ok(()) => {
                let missing = strong.missing_sources();
                if !missing.is_empty() && missing != known_missing {
                    tracing::warn!(?missing, "views of the schema do not exist in the database");
                }
                for why in strong.missing_functions() {
                    tracing::warn!(why, "a function of the schema cannot be called");
                }
                known_missing = missing;
                if said {
                    tracing::info!(database = strong.place(), "the database is back");
                }
                (said, pause) = (false, RETRY[0]);
                strong.tell(Health::Up);
                let changed = strong.driver.views_changed().clone();
                drop(strong);
                if wait_for_a_reason(health, &changed).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                if !said {
                    let place = strong.place();
                    tracing::warn!(database = place, %error, "the database cannot be used; trying again until it can");
                    said = true;
                }
                strong.tell(Health::Away);
                drop(strong);
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(RETRY[1]);
            }
        }
    }
}

/// Waits until the database is away or views have changed.
async fn wait_for_a_reason(
    mut health: watch::Receiver<Health>,
    changed: &Notify,
) -> Result<(), watch::error::RecvError> {
    let changed = async {
        // Clients that ask again and again must not make us read the catalogue again and again.
        tokio::time::sleep(RETRY[1]).await;
        changed.notified().await;
    };
    tokio::select! {
        away = health.wait_for(|health| *health == Health::Away) => away.map(drop),
        () = changed => Ok(()),
    }
}
