//! Tests the driver and its pool against a dedicated PostgreSQL instance.

#[cfg(all(unix, feature = "sqlx", feature = "tls"))]
mod tls;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use svc_embedded::{Database, Options};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::config::Target;
use super::pool::Pool;
use super::{Bounds, Driver, DriverError, Isolation};
use crate::connect::ConnectConfig;
use crate::statement::Raw;
use crate::{Param, Session, Statement};

/// The time-out of events that must happen, on a machine of any load.
const PATIENCE: Duration = Duration::from_secs(120);

/// A driver with a number of connections to the tests' PostgreSQL.
fn driver(connections: u32) -> Driver {
    Driver::new(&postgres(), bounds(connections, PATIENCE))
}

fn bounds(size: u32, acquire_timeout: Duration) -> Bounds {
    Bounds {
        size,
        acquire_timeout,
        deadline: Duration::from_secs(60),
    }
}

/// A PostgreSQL instance that stops with the process.
fn postgres() -> ConnectConfig {
    static CLUSTER: OnceLock<Database> = OnceLock::new();

    let cluster = CLUSTER.get_or_init(|| {
        // In a separate thread and runtime, as those of the first test would end with it.
        let start = std::thread::spawn(|| {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let database = runtime
                .block_on(Database::start(Options::temporary()))
                .unwrap();
            std::mem::forget(runtime);
            database
        });
        start.join().unwrap()
    });

    ConnectConfig::parse(&cluster.url(), &|_| None).unwrap()
}

fn statement(text: &str) -> Statement {
    Statement::new(text, Vec::new())
}

fn tenant(name: &str) -> Arc<Session> {
    let setting = |name: &str| Param::Text(name.to_owned());
    let text = "SELECT set_config($1, $2, true)".to_owned();
    Arc::new(Session::of(Statement::new(
        text,
        vec![setting("app.tenant_id"), setting(name)],
    )))
}

const SEEN: &str = "SELECT coalesce(current_setting('app.tenant_id', true), '')";
const PID: &str = "SELECT pg_backend_pid()::text";

fn text(rows: Result<Vec<Row>, DriverError>) -> String {
    let rows = rows.unwrap();
    let Raw(bytes) = rows[0].try_get(0).unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

impl Driver {
    pub(super) async fn rows(
        &self,
        session: &Session,
        statement: &Statement,
    ) -> Result<Vec<Row>, DriverError> {
        let mut rows = Vec::new();
        self.read(session, statement, &mut rows).await?;
        Ok(rows)
    }

    /// The connections in use, and their maximum.
    fn pool_use(&self) -> (u32, u32) {
        let state = self.pool.state();
        (
            self.pool.size - state.vacant - u32::try_from(state.idle.len()).unwrap(),
            self.pool.size,
        )
    }

    async fn ask(&self, session: &Session, sql: &str) -> String {
        text(self.rows(session, &statement(sql)).await)
    }

    /// The server process of the only connection, on which nothing is set.
    async fn clean(&self) -> String {
        let none = Session::none();
        assert_eq!(self.ask(none, SEEN).await, "");
        let savepoint = self
            .rows(none, &statement("SAVEPOINT x"))
            .await
            .unwrap_err();
        assert_eq!(savepoint.code(), Some(&SqlState::NO_ACTIVE_SQL_TRANSACTION));
        self.ask(none, PID).await
    }

    /// Cancels the statement of a server process.
    async fn cancel(&self, pid: &str) {
        self.ask(
            Session::none(),
            &format!("SELECT pg_cancel_backend({pid})::text"),
        )
        .await;
    }

    /// Waits until a server process sleeps.
    async fn await_sleep(&self, pid: &str) {
        let start = Instant::now();
        let sleeping = format!(
            "SELECT count(*)::text FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'PgSleep'"
        );
        while self.ask(Session::none(), &sleeping).await != "1" {
            assert!(start.elapsed() < PATIENCE, "it does not sleep");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the server process of another connection has ended.
    async fn await_end(&self, pid: &str) {
        let start = Instant::now();
        let running = format!("SELECT count(*)::text FROM pg_stat_activity WHERE pid = {pid}");
        while self.ask(Session::none(), &running).await != "0" {
            assert!(start.elapsed() < PATIENCE, "the connection is still open");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Edge case 48: the connection is read without session variables, and it is the same connection.
#[tokio::test]
async fn session_settings_end_with_their_statement() {
    let driver = driver(1);
    let pid = driver.clean().await;
    for name in ["a", "b", ""] {
        assert_eq!(driver.ask(&tenant(name), SEEN).await, name);
        assert_eq!(driver.clean().await, pid);
    }

    let division = statement("SELECT 1 / (current_setting('app.tenant_id') <> 'a')::int");
    let failed = driver.rows(&tenant("a"), &division).await;
    assert_eq!(failed.unwrap_err().message(), "division by zero");
    assert_eq!(driver.clean().await, pid);
    assert!(
        driver
            .rows(&tenant("a"), &statement("SELECT nothing"))
            .await
            .is_err()
    );

    assert_eq!(driver.clean().await, pid);
}

#[tokio::test]
async fn a_statement_does_not_run_without_its_settings() {
    let driver = driver(1);
    let pid = driver.clean().await;
    let bad = Statement::new("SELECT set_config('no_prefix', '', true)", Vec::new());
    let start = Instant::now();
    let refused = driver
        .rows(&Session::of(bad), &statement("SELECT pg_sleep(60)"))
        .await
        .unwrap_err();
    assert!(
        start.elapsed() < Duration::from_secs(55),
        "the statement ran"
    );
    assert!(
        refused.message().contains("no_prefix"),
        "{}",
        refused.message()
    );

    assert_eq!(driver.clean().await, pid);
}

/// A request that is dropped while its statement is quick leaves a clean connection to the next
/// one.
#[tokio::test]
async fn an_abandoned_quick_statement_keeps_its_connection() {
    let driver = driver(1);
    driver
        .ask(&tenant("a"), "SELECT pg_sleep(0.01)::text")
        .await;
    let mut kept = 0;

    // On a busy machine, a statement may take longer than its time-out.
    for _ in 0..40 {
        let pid = driver.clean().await;
        let statement = statement("SELECT pg_sleep(0.01)::text");
        let session = tenant("a");
        let dropped =
            tokio::time::timeout(Duration::from_millis(2), driver.rows(&session, &statement)).await;
        kept += usize::from(dropped.is_err() && driver.clean().await == pid);
        if kept == 5 {
            return;
        }
    }

    panic!("{kept} of 40 abandoned statements have left their connection");
}

#[tokio::test]
async fn an_abandoned_slow_statement_is_cancelled_and_its_connection_closed() {
    let (driver, watcher) = (driver(1), driver(1));
    let pid = driver.clean().await;
    for session in [Session::none(), &*tenant("a")] {
        let pid = driver.clean().await;
        driver.ask(session, "SELECT pg_sleep(0)::text").await;
        let slow = statement("SELECT pg_sleep(300)::text");
        tokio::select! {
            ended = driver.rows(session, &slow) => panic!("{ended:?}"),
            () = watcher.await_sleep(&pid) => {}
        }
        assert_ne!(driver.clean().await, pid, "another connection");
        watcher.await_end(&pid).await;
    }

    assert_ne!(driver.clean().await, pid);
}

#[tokio::test]
async fn a_stale_statement_is_prepared_again_with_its_settings() {
    let (driver, other) = (driver(1), driver(1));
    let none = Session::none();
    for sql in [
        "DROP VIEW IF EXISTS v_stale",
        "CREATE VIEW v_stale AS SELECT current_setting('app.tenant_id') AS x",
    ] {
        other.rows(none, &statement(sql)).await.unwrap();
    }

    assert_eq!(driver.ask(&tenant("a"), "SELECT x FROM v_stale").await, "a");

    for sql in [
        "DROP VIEW v_stale",
        "CREATE VIEW v_stale AS SELECT current_setting('app.tenant_id')::varchar AS x",
    ] {
        other.rows(none, &statement(sql)).await.unwrap();
    }

    assert_eq!(driver.ask(&tenant("b"), "SELECT x FROM v_stale").await, "b");
    driver
        .rows(none, &statement("DEALLOCATE ALL"))
        .await
        .unwrap();
    assert_eq!(driver.ask(&tenant("c"), "SELECT x FROM v_stale").await, "c");

    driver.clean().await;
}

#[tokio::test]
async fn connections_are_opened_when_they_are_needed_and_no_more() {
    let driver = driver(3);
    assert_eq!(driver.pool_use(), (0, 3));
    let none = Session::none();
    let one = driver.clean().await;
    assert_eq!(driver.clean().await, one);
    let slow = statement("SELECT pg_backend_pid()::text FROM pg_sleep(2)");
    let (a, b, c, d) = tokio::join!(
        driver.rows(none, &slow),
        driver.rows(none, &slow),
        driver.rows(none, &slow),
        driver.rows(none, &slow)
    );

    let mut pids = [a, b, c, d].map(text).to_vec();
    assert!(pids.contains(&one));
    pids.sort();
    pids.dedup();
    assert_eq!(pids.len(), 3);

    assert_eq!(driver.pool_use(), (0, 3));
}

#[tokio::test]
async fn waiting_requests_get_a_connection_in_order() {
    let driver = driver(1);
    let none = Session::none();
    let mark = statement("SELECT clock_timestamp()::text FROM pg_sleep(0.02)");
    let gone = async {
        let waits = driver.rows(none, &mark);
        assert!(
            tokio::time::timeout(Duration::from_millis(1), waits)
                .await
                .is_err()
        );
    };

    let (a, (), b, c) = tokio::join!(
        driver.rows(none, &mark),
        gone,
        driver.rows(none, &mark),
        driver.rows(none, &mark)
    );

    let times = [a, b, c].map(text);
    assert!(times.is_sorted(), "{times:?}");

    assert_eq!(driver.pool_use(), (0, 1));
}

#[tokio::test]
async fn an_expired_wait_for_a_connection_is_an_error() {
    const LIMIT: Duration = Duration::from_secs(3);

    let (driver, other) = (Driver::new(&postgres(), bounds(1, LIMIT)), driver(1));
    let pid = driver.clean().await;
    let (slow, quick) = (
        statement("SELECT pg_sleep(60)::text"),
        statement("SELECT 1::text"),
    );

    for _ in 0..2 {
        let start = Instant::now();
        let waiter = async {
            let refused = driver.rows(Session::none(), &quick).await;
            let waited = start.elapsed();
            other.cancel(&pid).await;
            (refused, waited)
        };

        let (ended, (refused, waited)) = tokio::join!(driver.rows(Session::none(), &slow), waiter);
        assert!(
            matches!(refused, Err(DriverError::PoolTimedOut)),
            "{refused:?}"
        );
        assert!(
            waited >= LIMIT && waited < Duration::from_secs(55),
            "{waited:?}"
        );
        assert!(ended.is_err_and(|error| error.message().contains("user request")));

        assert_eq!(driver.clean().await, pid);
    }
}

/// A driver whose pool checks for old and idle connections at this interval.
fn with_tick(bounds: Bounds, tick: Duration) -> Driver {
    let target = || Target::new(&postgres());
    Driver {
        pool: Pool::new(target(), bounds, tick),
        catalog: target(),
    }
}

#[tokio::test]
async fn idle_connections_are_closed() {
    let (driver, watcher) = (
        with_tick(bounds(2, PATIENCE), Duration::from_millis(25)),
        driver(1),
    );
    for _ in 0..2 {
        let pid = driver.clean().await;
        assert_eq!(driver.pool.state().vacant, 1);
        watcher.await_end(&pid).await;
        assert_eq!(driver.pool_use(), (0, 2));
        assert_eq!(driver.pool.state().vacant, 2);
    }
}

#[tokio::test]
async fn a_read_can_leave_a_queue_alone() {
    let (driver, mut rows) = (driver(1), Vec::<Row>::new());
    let one = statement("SELECT 1::text");
    let read = driver.read_if_free(&one, &mut rows).await;
    assert!(matches!(read, Some(Ok(()))), "{read:?}");

    let none = Session::none();
    let _open = driver.begin(none, Isolation::Default).await.unwrap();
    assert!(driver.read_if_free(&one, &mut rows).await.is_none());
    assert_eq!(rows.len(), 1);
}

/// PostgreSQL counts, and may log, connections that are closed without a terminate message.
#[tokio::test]
async fn closing_a_connection_ends_its_session_cleanly() {
    let (watcher, none) = (driver(1), Session::none());
    watcher
        .rows(none, &statement("CREATE DATABASE leaving"))
        .await
        .unwrap();
    let connect = ConnectConfig {
        database: Some("leaving".to_owned()),
        ..postgres()
    };
    let driver = Driver::new(&connect, bounds(1, PATIENCE));

    // A statement stays prepared from its second time on. After its first, the request to close it
    // is still to be sent.
    for times in [1, 3] {
        let mut pid = String::new();
        for _ in 0..times {
            pid = driver.ask(none, PID).await;
        }
        driver.pool.retire_connections();
        watcher.await_end(&pid).await;
    }

    let sessions = "SELECT concat_ws(' ', sessions, sessions_abandoned) \
                    FROM pg_stat_database WHERE datname = 'leaving'";
    assert_eq!(watcher.ask(none, sessions).await, "2 0");
}

/// A connection that is always in use is closed as well once it is old.
#[tokio::test]
async fn connections_have_a_maximum_lifetime() {
    let driver = with_tick(bounds(1, PATIENCE), Duration::from_millis(20));
    let (pid, start) = (driver.clean().await, Instant::now());
    while driver.clean().await == pid {
        assert!(start.elapsed() < PATIENCE, "it is still open");
    }
}

/// The task that times out waiting requests runs in the runtime of the request that waited first.
#[test]
fn a_time_out_outlives_the_runtime_of_another_request() {
    // The runtime of the first one has to end before it is timed out.
    const LIMIT: Duration = Duration::from_secs(8);

    let driver = Arc::new(Driver::new(&postgres(), bounds(1, LIMIT)));
    let (one, other) = (
        tokio::runtime::Runtime::new().unwrap(),
        tokio::runtime::Runtime::new().unwrap(),
    );
    let ask = |sql: &str| {
        let (driver, statement) = (driver.clone(), statement(sql));
        async move { driver.rows(Session::none(), &statement).await }
    };

    let pid = other.block_on(driver.clean());
    let slow = other.spawn(ask("SELECT pg_sleep(60)::text"));
    let until = |is_so: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < PATIENCE, "it does not come to that");
            std::thread::sleep(Duration::from_millis(1));
        }
    };

    let queue = |length: usize| until(&|| driver.pool.state().waiting.len() == length);
    until(&|| driver.pool_use() == (1, 1));
    let first = one.spawn(ask("SELECT 1::text"));
    queue(1);
    let (start, second) = (Instant::now(), other.spawn(ask("SELECT 1::text")));
    queue(2);
    drop(one);
    let refused = other.block_on(second).unwrap();
    let waited = start.elapsed();
    assert!(
        matches!(refused, Err(DriverError::PoolTimedOut)),
        "{refused:?}"
    );
    assert!(
        waited >= LIMIT && waited < Duration::from_secs(55),
        "{waited:?}"
    );
    assert!(other.block_on(first).unwrap_err().is_cancelled());
    other.block_on(async { self::driver(1).cancel(&pid).await });

    assert!(
        other
            .block_on(slow)
            .unwrap()
            .is_err_and(|error| error.message().contains("user request"))
    );
}
