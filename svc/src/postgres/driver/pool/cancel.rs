//! The end of statements and transactions whose request has gone.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;

use super::Pool;
use super::slot::Slot;
use crate::postgres::driver::connection::Connection;

/// The time for which a statement may go on after its request has gone. Most end within it, and a cancellation costs
/// PostgreSQL a process and us the connection.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 500 } else { 50 });

/// The time in which a cancelled statement has to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends what runs on a connection, a transaction too. Until then its slot counts as used.
pub(in crate::postgres::driver) fn finish_or_cancel(mut slot: Slot<Arc<Pool>>) {
    // The slot keeps no connection that is busy, whatever becomes of the task.
    let Some(mut connection) = slot.take() else { return };
    // Without a runtime the program ends, and the server sees the connection close.
    let Ok(runtime) = Handle::try_current() else { return };
    connection.watch().end();
    runtime.spawn(async move {
        match timeout(GRACE, connection.reset()).await {
            // What was being prepared is known to nobody, so it could never be closed.
            Ok(Ok(())) if !connection.preparing => slot.fill(connection),
            Ok(_) => connection.close(),
            Err(_) => cancel(slot.pool(), connection).await,
        }
    });
}

/// Ends a statement that was not answered in time. The slot is given to others meanwhile.
pub(in crate::postgres::driver) fn cancel_late(pool: &Arc<Pool>, connection: Box<Connection>) {
    let pool = pool.clone();
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move { cancel(&pool, connection).await });
    }
}

/// Cancels the statement. The connection is not used again: the cancellation might arrive late, and hit the next one.
async fn cancel(pool: &Pool, mut connection: Box<Connection>) {
    let token = connection.client.cancel_token();
    let cancelled = async {
        let tls = pool.target.connector().await?;
        token.cancel_query(tls).await?;
        connection.drain().await
    };
    match timeout(PATIENCE, cancelled).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a statement whose request has gone was not cancelled"),
        Err(_) => tracing::debug!("a statement whose request has gone did not end after its cancellation"),
    }
    connection.close();
}
