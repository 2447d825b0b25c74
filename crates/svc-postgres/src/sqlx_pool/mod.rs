//! The pool of sqlx, for the application's own SQL.
//!
//! A connection that was closed while idle does not reach a request. sqlx cannot inspect the
//! socket, so a connection is pinged before it is acquired, unless its first statement can be sent
//! again: then that statement is the test.

mod commit;
mod error;
mod options;
mod statement;

use std::future::Future;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use tokio::time::timeout;

use super::connect::ConnectConfig;
use super::driver::{Bounds, LastChange, Proxy, RESET_OF_SQLX};
use svc_telemetry::metrics::PoolStatus;

pub use commit::{CommitError, commit};
use error::is_refused;
pub(super) use error::reported;
pub(super) use statement::arguments;

/// The time to wait for the response to a ping.
const ANSWER: Duration = Duration::from_secs(1);

tokio::task_local! {
    /// Set while acquiring a connection whose first statement is its test.
    static UNTESTED: ();
}

/// The pool, and the local socket through which it reaches the server, if it needs one.
pub(super) struct SqlxPool {
    pool: PgPool,
    /// The options for use behind a pooler, until they become the pool's options.
    pooled: Mutex<Option<PgConnectOptions>>,
    _proxy: Option<Proxy>,
}

impl SqlxPool {
    /// Creates a pool that connects on first use. `session` is `connect` with the settings of each
    /// session.
    ///
    /// # Errors
    /// When it needs a local socket and the system cannot provide one.
    pub(super) fn new(
        connect: &ConnectConfig,
        session: &ConnectConfig,
        bounds: Bounds,
        reset_session: bool,
        changes: LastChange,
    ) -> io::Result<Self> {
        let proxy = Proxy::for_sqlx(connect)?;
        let reset = if reset_session { RESET_OF_SQLX } else { "" };
        let folder = proxy.as_ref().map(Proxy::folder);
        let options = session.pool_options(folder).disable_statement_logging();
        let pooled = session
            .without_options()
            .pool_options(folder)
            // sqlx sends this as a separate start-up parameter, which poolers reject.
            .extra_float_digits(None);
        let pooled = Mutex::new(Some(pooled.disable_statement_logging()));
        let pool = PgPoolOptions::new()
            .max_connections(bounds.size)
            .acquire_timeout(bounds.acquire_timeout)
            // `before_acquire` pings instead, and omits that where the first statement is the test.
            .test_before_acquire(false)
            .before_acquire(move |connection, known| {
                let is_tested = UNTESTED.try_with(|()| ()).is_err();
                // Its prepared statements may refer to earlier versions of views.
                let is_current = changes.is_before(known.age);
                Box::pin(async move {
                    Ok(is_current && (!is_tested || answers(connection, ANSWER).await))
                })
            })
            // A connection that was dropped in the middle of a statement is released once the
            // statement has ended. PostgreSQL ends it in time, or does not respond.
            .after_release(move |connection, _| {
                Box::pin(async move { Ok(is_clean(connection, reset, bounds.deadline).await) })
            })
            .connect_lazy_with(options);

        Ok(Self {
            pool,
            pooled,
            _proxy: proxy,
        })
    }

    /// From now on, opens connections without start-up options: a pooler rejects them, or does not
    /// pass them on.
    pub(super) fn leave_out_options(&self) {
        let options = self
            .pooled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        options
            .into_iter()
            .for_each(|options| self.pool.set_connect_options(options));
    }

    /// The state of the pool; the number of waiting requests is not available.
    pub(super) fn status(&self) -> PoolStatus {
        let (open, max) = (self.pool.size(), self.pool.options().get_max_connections());

        // The two numbers are read one after the other, so more connections may be idle than were
        // open.
        let idle = u32::try_from(self.pool.num_idle())
            .unwrap_or(u32::MAX)
            .min(open);

        PoolStatus {
            pool: "sqlx",
            active: open - idle,
            idle,
            waiting: None,
            max,
        }
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }
}

/// A result with a deadline.
pub(super) async fn within<T>(
    time: Duration,
    result: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = || {
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no answer within {time:?}"),
        )
    };

    timeout(time, result)
        .await
        .unwrap_or_else(|_| Err(sqlx::Error::Io(late())))
}

/// Runs work that acquires a connection, and that can be retried if its first statement finds the
/// connection dead.
pub(super) async fn untested<T>(work: impl Future<Output = T>) -> T {
    UNTESTED.scope((), work).await
}

/// Whether all responses have arrived, no transaction is open, and the session is reset. sqlx is
/// unaware of a transaction whose `BEGIN` was dropped before its response; the next request's
/// writes would become part of it and be lost. A `begin_with` that starts no transaction reveals
/// whether one is open.
async fn is_clean(connection: &mut PgConnection, reset: &'static str, time: Duration) -> bool {
    matches!(
        timeout(time, connection.begin_with(reset)).await,
        Ok(Err(sqlx::Error::BeginFailed))
    )
}

async fn answers(connection: &mut PgConnection, time: Duration) -> bool {
    matches!(timeout(time, connection.ping()).await, Ok(Ok(())))
}
