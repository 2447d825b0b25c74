//! The pool and the health of the database.

use std::borrow::Cow;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Arguments as _, AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use tokio::sync::{Mutex, watch};

use super::catalogue::Catalogue;
use super::functions::{self, FunctionSpec, Functions};
use super::{DbError, Param, Rows, Source, Statement};
use crate::mutation::Constraints;

/// How often a database that is away is tried again, at first and at last.
const RETRY: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// How the pool is set up.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) connect: PgConnectOptions,
    pub(crate) max_connections: u32,
    pub(crate) acquire_timeout: Duration,
    pub(crate) statement_timeout: Duration,
    /// Run once, when the database is first reached.
    pub(crate) setup: Option<Cow<'static, str>>,
    /// What clients are told when a mutation breaks a constraint.
    pub(crate) constraints: Constraints,
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
#[derive(Debug)]
pub(crate) struct Database {
    pool: PgPool,
    connect: PgConnectOptions,
    acquire_timeout: Duration,
    sources: Vec<String>,
    called: Vec<FunctionSpec>,
    catalogue: ArcSwapOption<Catalogue>,
    functions: std::sync::Mutex<Functions>,
    constraints: Constraints,
    health: watch::Sender<Health>,
    setup: Mutex<Option<Cow<'static, str>>>,
}

impl Database {
    /// A pool that connects when it is first used. A task watches the database for as long as the value lives.
    pub(crate) fn new(settings: Settings, mut sources: Vec<String>, called: Vec<FunctionSpec>) -> Arc<Self> {
        sources.sort();
        sources.dedup();
        let timeout = settings.statement_timeout.as_millis().to_string();
        let connect = settings
            .connect
            .statement_cache_capacity(1_000)
            .options([("statement_timeout", timeout.as_str())])
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(settings.max_connections)
            .acquire_timeout(settings.acquire_timeout)
            .test_before_acquire(false)
            .connect_lazy_with(connect.clone());
        let database = Arc::new(Self {
            pool,
            connect,
            acquire_timeout: settings.acquire_timeout,
            sources,
            called,
            catalogue: ArcSwapOption::empty(),
            functions: std::sync::Mutex::default(),
            constraints: settings.constraints,
            health: watch::Sender::new(Health::Unknown),
            setup: Mutex::new(settings.setup),
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
            let catalogue = Catalogue::load(&mut connection, &self.sources).await?;
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
            let mut transaction = connection.begin().await?;
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

    /// The columns of a view or table.
    pub(crate) async fn source(&self, name: &str) -> Result<Arc<Source>, DbError> {
        self.reached().await?;
        let catalogue = self.catalogue.load();
        let source = catalogue.as_ref().and_then(|catalogue| catalogue.source(name).cloned());
        source.ok_or_else(|| DbError::UnknownSource(name.to_owned()))
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
        let mut health = self.health.subscribe();
        let verdict = health.wait_for(|health| *health != Health::Unknown);
        match tokio::time::timeout(self.acquire_timeout, verdict).await {
            Ok(Ok(health)) if *health == Health::Up => Ok(()),
            _ => Err(DbError::Away),
        }
    }

    /// Runs a read. A connection that has died since it was last used is replaced.
    pub(crate) async fn fetch(&self, statement: &Statement) -> Result<Rows, DbError> {
        self.reached().await?;
        let text: Arc<str> = statement.text.as_str().into();
        let mut left = self.pool.options().get_max_connections() + 1;
        loop {
            let query = sqlx::query_with(AssertSqlSafe(text.clone()), arguments(&statement.params));
            match query.fetch_all(&self.pool).await {
                Ok(rows) => return Ok(Rows(rows)),
                Err(error) if DbError::is_connection(&error) && left > 0 => {
                    left -= 1;
                    if self.check().await.is_err() {
                        self.health.send_replace(Health::Away);
                        return Err(DbError::Away);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A round trip through the pool.
    pub(crate) async fn ping(&self) -> Result<(), DbError> {
        self.reached().await?;
        let query = sqlx::query("SELECT 1").execute(&self.pool);
        let done = tokio::time::timeout(self.acquire_timeout, query).await;
        done.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(drop).map_err(DbError::from)
    }

    /// Connections in use or idle, and the most there can be.
    pub(crate) fn pool_use(&self) -> (u32, u32) {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        (self.pool.size().saturating_sub(idle), self.pool.options().get_max_connections())
    }

    /// Where the database is, without the password.
    pub(crate) fn place(&self) -> String {
        let host = self.connect.get_socket().map_or_else(
            || format!("{}:{}", self.connect.get_host(), self.connect.get_port()),
            |socket| socket.display().to_string(),
        );
        format!("{}@{host}/{}", self.connect.get_username(), self.connect.get_database().unwrap_or_default())
    }
}

pub(super) fn arguments(params: &[Param]) -> PgArguments {
    let mut arguments = PgArguments::default();
    for param in params {
        // Encoding text, integers and lists of text cannot fail.
        let _ = match param {
            Param::Text(text) => arguments.add(text.as_str()),
            Param::Texts(texts) => arguments.add(texts.as_slice()),
            Param::Int(value) => arguments.add(*value),
        };
    }
    arguments
}

/// Tries a database that is away until it answers; says so once when it goes and once when it comes back.
async fn watch_over(database: Weak<Database>) {
    let mut pause = RETRY[0];
    let mut said = false;
    loop {
        let Some(strong) = database.upgrade() else { return };
        let result = strong.check().await;
        let health = strong.health.subscribe();
        match result {
            Ok(()) => {
                let missing = strong.missing_sources();
                if !missing.is_empty() {
                    tracing::warn!(?missing, "views of the schema do not exist in the database");
                }
                for why in strong.missing_functions() {
                    tracing::warn!(why, "a function of the schema cannot be called");
                }
                if said {
                    tracing::info!(database = strong.place(), "the database is back");
                }
                (said, pause) = (false, RETRY[0]);
                strong.health.send_replace(Health::Up);
                drop(strong);
                if wait_until_away(health).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                if !said {
                    let place = strong.place();
                    tracing::warn!(database = place, %error, "the database cannot be used; trying again until it can");
                    said = true;
                }
                strong.health.send_replace(Health::Away);
                drop(strong);
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(RETRY[1]);
            }
        }
    }
}

async fn wait_until_away(mut health: watch::Receiver<Health>) -> Result<(), watch::error::RecvError> {
    health.wait_for(|health| *health == Health::Away).await.map(drop)
}
