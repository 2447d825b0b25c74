//! The pool of sqlx, for SQL of the application's own.
//!
//! A connection that was closed while nobody used it does not reach a request. sqlx has no way to look at the socket, so
//! a connection is pinged before it is lent, unless its first statement can be sent again: then that is the test.

use std::future::Future;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use super::changes::LastChange;
use super::driver::Bounds;

/// How long the answer to a ping is waited for.
const ANSWER: Duration = Duration::from_secs(1);

tokio::task_local! {
    /// Set while a connection is taken whose first statement is its test.
    static UNTESTED: ();
}

/// A pool that connects when it is first used.
pub(super) fn new(connect: &PgConnectOptions, bounds: Bounds, changes: LastChange) -> PgPool {
    PgPoolOptions::new()
        .max_connections(bounds.size)
        .acquire_timeout(bounds.acquire_timeout)
        .test_before_acquire(false)
        .before_acquire(move |connection, known| {
            let is_tested = UNTESTED.try_with(|()| ()).is_err();
            // Its prepared statements may be of views as they were.
            let is_current = changes.is_before(known.age);
            Box::pin(async move { Ok(is_current && (!is_tested || answers(connection, ANSWER).await)) })
        })
        // A connection that was dropped in the middle of a statement comes back when that has ended. PostgreSQL ends it
        // in time, or does not answer.
        .after_release(move |connection, _| Box::pin(async move { Ok(is_clean(connection, bounds.deadline).await) }))
        .connect_lazy_with(connect.clone())
}

/// Runs something that takes a connection and can be run again when its first statement finds it dead.
pub(super) async fn untested<T>(work: impl Future<Output = T>) -> T {
    UNTESTED.scope((), work).await
}

/// Whether everything is answered and no transaction is open. sqlx does not know of one whose `BEGIN` was dropped before its
/// answer, and what the next request writes would be in it, and be lost.
async fn is_clean(connection: &mut PgConnection, time: Duration) -> bool {
    matches!(timeout(time, connection.begin_with("")).await, Ok(Err(sqlx::Error::BeginFailed)))
}

async fn answers(connection: &mut PgConnection, time: Duration) -> bool {
    matches!(timeout(time, connection.ping()).await, Ok(Ok(())))
}
