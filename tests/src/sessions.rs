//! Sessions of the harness. They are kept, because each new one costs PostgreSQL a process.

use std::str::FromStr as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection};

use crate::cluster;

/// The name of the sessions in `pg_stat_activity`.
pub(crate) const APPLICATION: &str = "svc-tests";

/// The longest wait for a session.
const PATIENCE: Duration = Duration::from_secs(120);

/// The longest that a statement of a test may take, or wait for a lock.
const LONGEST_STATEMENT: &str = "900s";

/// The pause before the next try to open one.
const PAUSE: Duration = Duration::from_millis(50);

/// The administrative sessions that are not in use.
static IDLE: Mutex<Vec<PgConnection>> = Mutex::new(Vec::new());

/// Returns a session in the database `postgres`, for statements about other databases.
pub(crate) async fn administrative() -> PgConnection {
    while let Some(mut session) = idle_one() {
        if session.ping().await.is_ok() {
            return session;
        }
    }
    open(cluster().url()).await
}

/// Takes back an administrative session.
pub(crate) fn keep(session: PgConnection) {
    idle().push(session);
}

/// Runs statements about other databases, each in its own transaction.
pub(crate) async fn administer(statements: &[String]) -> sqlx::Result<()> {
    let mut session = administrative().await;
    for statement in statements {
        run(&mut session, statement).await?;
    }
    keep(session);
    Ok(())
}

/// Runs SQL, in one transaction.
pub(crate) async fn run(session: &mut PgConnection, sql: &str) -> sqlx::Result<()> {
    let sql = sqlx::raw_sql(AssertSqlSafe(sql));
    session.execute(sql).await.map(drop)
}

/// Opens a session. It belongs to the runtime of the cluster, because that of a test may end before
/// the session.
pub(crate) async fn open(url: String) -> PgConnection {
    let opening = cluster::runtime().spawn(connect(url));
    opening.await.expect("a session")
}

/// Connects, and tries again while the server has no room.
pub(crate) async fn connect(url: String) -> PgConnection {
    let options = options(&url)
        .application_name(APPLICATION)
        .disable_statement_logging();
    let start = Instant::now();
    loop {
        match options.connect().await {
            Ok(session) => return session,
            Err(error) => assert!(start.elapsed() < PATIENCE, "no session: {error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The options of a session whose statements end after a time.
pub(crate) fn options(url: &str) -> PgConnectOptions {
    PgConnectOptions::from_str(url)
        .expect("the URL of a database")
        .options([("statement_timeout", LONGEST_STATEMENT)])
}

fn idle_one() -> Option<PgConnection> {
    idle().pop()
}

fn idle() -> MutexGuard<'static, Vec<PgConnection>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}
