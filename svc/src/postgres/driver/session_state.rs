//! What statements leave behind in the session of a connection, and how it is undone before anybody else has it.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio_postgres::Client;

use super::DriverError;
use super::wire::Wire;

/// Undoes all that lasts for a session and not for a transaction, except for prepared statements. The role comes after
/// the user, as only that sets one again which the database URL or `ALTER ROLE … SET role` gives.
/// <https://www.postgresql.org/docs/current/sql-discard.html>
pub(in crate::postgres) const RESET_SESSION: &str = "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; \
    UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP";

/// The session of a connection, beside what it was when it began.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    /// Whether PostgreSQL plans each statement for its values.
    pub(super) replans: bool,
    /// Whether something has run that may set what it likes, such as a function that writes.
    pub(super) may_be_altered: bool,
}

impl SessionState {
    /// Runs the end of what may have altered the session, and sends behind it what resets the session, which costs no
    /// round trip. What the end came to is the result, whatever becomes of the reset.
    pub(super) async fn drive_and_reset<T>(
        &mut self,
        client: &Client,
        wire: &mut Wire,
        end: impl Future<Output = T>,
    ) -> Result<T, DriverError> {
        let (mut end, mut reset) = (pin!(end), pin!(client.batch_execute(RESET_SESSION)));
        let mut was_reset = None;
        let both = poll_fn(|cx| {
            // First, as what is polled first is sent first.
            let ended = end.as_mut().poll(cx);
            if was_reset.is_none()
                && let Poll::Ready(done) = reset.as_mut().poll(cx)
            {
                was_reset = Some(done);
            }
            ended.map(Ok::<_, DriverError>)
        });
        let ended = wire.drive(both).await?;
        let was_reset = match was_reset {
            Some(done) => done.is_ok(),
            None => wire.drive(reset).await.is_ok(),
        };
        if was_reset {
            *self = Self::default();
        }
        Ok(ended)
    }
}
