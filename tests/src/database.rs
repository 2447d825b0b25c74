//! Databases of single tests.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool};
use tokio::sync::Mutex;

use crate::swept::drop_after_test;
use crate::{cluster, pooled};

/// A database of a test's own.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
}

impl TestDatabase {
    /// An empty database, in which `sql` is run.
    pub async fn new(sql: &str) -> Self {
        let database = Self { name: next_name() };
        cluster()
            .ensure_database(&database.name)
            .await
            .expect("a database");
        database.execute(sql).await;
        database
    }

    /// A copy of a database that is made once in the test program, by running `sql`.
    pub async fn copy_of(template: &str, sql: &str) -> Self {
        static MADE: Mutex<Option<HashSet<String>>> = Mutex::const_new(None);
        let mut made = MADE.lock().await;
        let made = made.get_or_insert_default();
        let template = format!("template_{}_{template}", std::process::id());
        if made.insert(template.clone()) {
            cluster()
                .ensure_database(&template)
                .await
                .expect("a template");
            Self {
                name: template.clone(),
            }
            .execute(sql)
            .await;
        }
        let name = next_name();
        cluster()
            .create_from_template(&name, &template)
            .await
            .expect("a copy of the template");
        Self { name }
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
        pooled::url(&self.name).unwrap_or_else(|| self.direct_url())
    }

    /// The URL of the database, past any pooler.
    pub fn direct_url(&self) -> String {
        cluster().url_for(&self.name)
    }

    /// Runs SQL, in one transaction; again where it was chosen to end a deadlock with statements of
    /// others.
    pub async fn execute(&self, sql: &str) {
        let pool = self.pool().await;
        let is_deadlock = |error: &sqlx::Error| {
            error
                .as_database_error()
                .is_some_and(|error| error.code().as_deref() == Some("40P01"))
        };
        let mut done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&pool).await;
        while done.as_ref().is_err_and(is_deadlock) {
            done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&pool).await;
        }
        done.expect("the SQL of the test");
        pool.close().await;
    }

    /// A pool on it.
    pub async fn pool(&self) -> PgPool {
        let options = PgPoolOptions::new().acquire_timeout(Duration::from_secs(120));
        options
            .connect(&self.direct_url())
            .await
            .expect("a connection")
    }

    /// The number of statements whose text holds `part` that have run since the database was made.
    pub async fn statements(&self, part: &str) -> i64 {
        let pool = self.pool().await;
        settle(&pool).await;
        sqlx::raw_sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            .execute(&pool)
            .await
            .expect("the extension");
        let count = sqlx::query_scalar(
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND strpos(query, $1) > 0 AND query NOT LIKE '%pg_stat_statements%'",
        )
        .bind(part)
        .fetch_one(&pool)
        .await
        .expect("the statistics");
        pool.close().await;
        count
    }
}

impl TestDatabase {
    /// The texts of the statements that read from `source`, as `pg_stat_statements` keeps them,
    /// without constants.
    pub async fn texts(&self, source: &str) -> Vec<String> {
        let pool = self.pool().await;
        settle(&pool).await;
        sqlx::raw_sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            .execute(&pool)
            .await
            .expect("the extension");
        let texts = sqlx::query_scalar(
            "SELECT DISTINCT query FROM pg_stat_statements \
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND strpos(query, 'FROM ' || quote_ident($1)) + strpos(query, 'FROM \"' || $1) > 0 ORDER BY query",
        )
        .bind(source)
        .fetch_all(&pool)
        .await
        .expect("the statistics");
        pool.close().await;
        texts
    }
}

/// Gives statements that were answered the time to be counted, which PostgreSQL does afterwards.
/// Those that wait for a lock, a time or their client do not end soon. The question itself has a
/// name that is not counted.
async fn settle(pool: &PgPool) {
    const RUNNING: &str = "SELECT count(*) AS pg_stat_statements FROM pg_stat_activity \
                           WHERE datname = current_database() \
                           AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state = 'active' \
                           AND coalesce(wait_event_type, '') NOT IN ('Lock', 'Timeout') \
                           AND coalesce(wait_event, '') <> 'ClientWrite'";
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        if sqlx::query_scalar::<_, i64>(RUNNING)
            .fetch_one(pool)
            .await
            .expect("the statistics")
            == 0
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
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
