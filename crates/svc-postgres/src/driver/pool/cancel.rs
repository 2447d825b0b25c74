//! Ends statements and transactions whose request has gone.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;

use super::Pool;
use super::slot::Slot;
use crate::driver::connection::Connection;

/// How long a statement may continue after its request has gone. Most finish within this time, and
/// a cancellation costs PostgreSQL a process and us the connection.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 500 } else { 50 });

/// The time allowed for a cancelled statement to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends the statement or transaction running on a connection. Until then, its slot counts as used.
pub(in crate::driver) fn finish_or_cancel(mut slot: Slot<Arc<Pool>>) {
    // The slot does not keep a busy connection, even if the task is dropped.
    let Some(mut connection) = slot.take() else {
        return;
    };

    // Without a runtime the program is exiting, and the server sees the connection close.
    let Ok(runtime) = Handle::try_current() else {
        return;
    };

    // The time-outs below replace the watchdog, whose verdict would end the grace period early.
    connection.watch().end();

    runtime.spawn(async move {
        match timeout(GRACE, connection.reset()).await {
            // A statement still being prepared is in no cache, so it could never be closed.
            Ok(Ok(())) if !connection.preparing => slot.fill(connection),
            Ok(_) => connection.close(),
            Err(_) => cancel(slot.pool(), connection).await,
        }
    });
}

/// Ends a statement whose response did not arrive in time. Meanwhile, other requests can use the
/// slot.
pub(in crate::driver) fn cancel_late(pool: &Arc<Pool>, connection: Box<Connection>) {
    let pool = pool.clone();
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move { cancel(&pool, connection).await });
    }
}

/// Cancels the statement. The connection is not reused: the cancellation might arrive late and hit
/// the next statement.
async fn cancel(pool: &Pool, mut connection: Box<Connection>) {
    let token = connection.client.cancel_token();
    let cancelled = async {
        let tls = pool.target.connector().await?;
        token.cancel_query(tls).await?;

        // PostgreSQL does not confirm a cancellation, so only the response of the statement shows
        // that it has ended.
        connection.drain().await
    };

    match timeout(PATIENCE, cancelled).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::debug!(%error, "a statement whose request has gone was not cancelled");
        }
        Err(_) => {
            tracing::debug!(
                "a statement whose request has gone did not end after its cancellation"
            );
        }
    }

    connection.close();
}
