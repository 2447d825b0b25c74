//! Databases of single tests.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgPoolOptions, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, FromRow, PgConnection, PgPool, Postgres};
use tokio::sync::Mutex;

use crate::sessions::{self, administer, administrative};
use crate::swept::{drop_after_test, forget_statements};
use crate::{cluster, pooled};

/// Statements whose settings apply to new sessions only.
const FOR_NEW_SESSIONS: [&str; 4] = ["ALTER DATABASE", "ALTER ROLE", "ALTER SYSTEM", "ALTER USER"];

/// A database of a test's own.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
    /// The session of statements, while it is not in use.
    session: std::sync::Mutex<Option<PgConnection>>,
}

impl TestDatabase {
    /// An empty database, in which `sql` is run.
    pub async fn new(sql: &str) -> Self {
        let database = Self::create(next_name(), "template1").await;
        if !sql.is_empty() {
            database.execute(sql).await;
        }
        database
    }

    /// A copy of a database that is made once in the test program, by running `sql`.
    pub async fn copy_of(template: &str, sql: &str) -> Self {
        let template = Self::once("template", template, sql).await;
        Self::create(next_name(), &template).await
    }

    /// The URL of a database that is made once in the test program, by running `sql`. It is for
    /// services that only read, because all tests share it.
    pub async fn shared(name: &str, sql: &str) -> String {
        url_of(&Self::once("shared", name, sql).await)
    }

    /// The URL of an empty database that all tests share, for services without views, tables and
    /// functions.
    pub async fn empty() -> String {
        Self::shared("empty", "").await
    }

    /// The same, without statistics of what will run: thousands of statements would push out those
    /// that others count.
    pub async fn uncounted(self) -> Self {
        self.execute(&format!(
            "ALTER DATABASE {} SET pg_stat_statements.track = none",
            self.name
        ))
        .await;
        self
    }

    /// The name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL of the database for services: through PgBouncer where the test program has one.
    pub fn url(&self) -> String {
        url_of(&self.name)
    }

    /// The URL of the database, past any pooler.
    pub fn direct_url(&self) -> String {
        cluster().url_for(&self.name)
    }

    /// Runs SQL, in one transaction; again where it was chosen to end a deadlock with statements of
    /// others.
    pub async fn execute(&self, sql: &str) {
        let mut session = self.take_session().await;
        let is_deadlock = |error: &sqlx::Error| {
            error
                .as_database_error()
                .is_some_and(|error| error.code().as_deref() == Some("40P01"))
        };
        let mut done = sessions::run(&mut session, sql).await;
        while done.as_ref().is_err_and(is_deadlock) {
            done = sessions::run(&mut session, sql).await;
        }
        done.expect("the SQL of the test");
        self.keep(session, sql).await;
    }

    /// The rows of a query.
    pub async fn rows<T>(&self, sql: &str) -> Vec<T>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let mut session = self.take_session().await;
        // `DISCARD ALL` would end a statement that stays prepared.
        let query = sqlx::query_as::<Postgres, T>(AssertSqlSafe(sql)).persistent(false);
        let rows = query
            .fetch_all(&mut session)
            .await
            .expect("the query of the test");
        self.keep(session, sql).await;
        rows
    }

    /// The value of a query of one row and one column.
    pub async fn value<T>(&self, sql: &str) -> T
    where
        (T,): for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let mut rows = self.rows::<(T,)>(sql).await;
        let (value,) = rows.pop().expect("a row");
        value
    }

    /// Makes a database once in the test program, and returns its name.
    async fn once(kind: &str, name: &str, sql: &str) -> String {
        static MADE: Mutex<Option<HashSet<String>>> = Mutex::const_new(None);
        let name = format!("{kind}_{}_{name}", std::process::id());
        let mut made = MADE.lock().await;
        if made.get_or_insert_default().insert(name.clone()) {
            let database = Self::create(name.clone(), "template1").await;
            if !sql.is_empty() {
                database.execute(sql).await;
            }
            database.close().await;
            administer(&[forget_statements(&name)])
                .await
                .expect("the statistics");
        }
        name
    }

    async fn create(name: String, template: &str) -> Self {
        let create = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\"");
        administer(&[create]).await.expect("a database");
        Self {
            name,
            session: std::sync::Mutex::default(),
        }
    }

    /// Returns the session that was kept, or a new one: another statement may be running.
    async fn take_session(&self) -> PgConnection {
        let kept = self.kept().take();
        if let Some(mut session) = kept
            && session.ping().await.is_ok()
        {
            return session;
        }
        sessions::open(self.direct_url()).await
    }

    /// Keeps the session that has run `sql`, without the settings, locks and temporary tables that a
    /// new one would not have.
    async fn keep(&self, mut session: PgConnection, sql: &str) {
        let sql = sql.to_ascii_uppercase();
        if FOR_NEW_SESSIONS.iter().any(|part| sql.contains(part)) {
            // One that has been ended needs no end.
            let _ = session.close().await;
        } else if sessions::run(&mut session, "DISCARD ALL").await.is_ok() {
            *self.kept() = Some(session);
        }
    }

    /// Closes the session, because a template must not have any.
    async fn close(&self) {
        let kept = self.kept().take();
        if let Some(session) = kept {
            let _ = session.close().await;
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<PgConnection>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pool on it.
    pub async fn pool(&self) -> PgPool {
        let options = PgPoolOptions::new().acquire_timeout(Duration::from_secs(120));
        options
            .connect_with(sessions::options(&self.direct_url()))
            .await
            .expect("a connection")
    }

    /// The number of statements whose text holds `part` that have run since the database was made.
    pub async fn statements(&self, part: &str) -> i64 {
        let mut session = self.settled().await;
        let count = sqlx::query_scalar(
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1) \
             AND strpos(query, $2) > 0 AND query NOT LIKE '%pg_stat_statements%'",
        )
        .bind(self.name())
        .bind(part)
        .fetch_one(&mut session)
        .await
        .expect("the statistics");
        sessions::keep(session);
        count
    }

    /// The same, and forgets all statements: the server keeps a limited number of texts.
    pub async fn take_statements(&self, part: &str) -> i64 {
        let count = self.statements(part).await;
        administer(&[forget_statements(self.name())])
            .await
            .expect("the statistics");
        count
    }

    /// The texts of the statements that read from `source`, as `pg_stat_statements` keeps them,
    /// without constants.
    pub async fn texts(&self, source: &str) -> Vec<String> {
        let mut session = self.settled().await;
        let texts = sqlx::query_scalar(
            "SELECT DISTINCT query FROM pg_stat_statements \
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1) \
             AND strpos(query, 'FROM ' || quote_ident($2)) + strpos(query, 'FROM \"' || $2) > 0 ORDER BY query",
        )
        .bind(self.name())
        .bind(source)
        .fetch_all(&mut session)
        .await
        .expect("the statistics");
        sessions::keep(session);
        texts
    }

    /// Gives statements that were answered the time to be counted, which PostgreSQL does
    /// afterwards. Those that wait for a lock, a time or their client do not end soon.
    async fn settled(&self) -> PgConnection {
        const RUNNING: &str = "SELECT count(*) FROM pg_stat_activity \
                               WHERE datname = $1 AND backend_type = 'client backend' AND state = 'active' \
                               AND coalesce(wait_event_type, '') NOT IN ('Lock', 'Timeout') \
                               AND coalesce(wait_event, '') <> 'ClientWrite'";
        let mut session = administrative().await;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            let running: i64 = sqlx::query_scalar(RUNNING)
                .bind(self.name())
                .fetch_one(&mut session)
                .await
                .expect("the statistics");
            if running == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        session
    }
}

fn url_of(database: &str) -> String {
    pooled::url(database).unwrap_or_else(|| cluster().url_for(database))
}

/// Returns the name of a database that is dropped after the test. No other test program has the
/// name, as several may share a cluster.
fn next_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", std::process::id());
    drop_after_test(name.clone());
    name
}
