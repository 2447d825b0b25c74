//! Checks whether a pooler in front of the server keeps prepared statements; the service cannot
//! work without them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

use super::{DedicatedConnection, within};
use crate::Statement;
use crate::driver::{Driver, DriverError};

/// The server-side names of this statement. A pooler that keeps prepared statements renames them.
const NAMES: &str =
    "SELECT name::text FROM pg_prepared_statements WHERE statement LIKE '%svc: names by a pooler%'";

/// How often two connections are compared to see whether they share a server connection.
const LOOKS: u32 = 3;

impl Driver {
    /// Checks, behind a pooler, that prepared statements stay with a connection.
    ///
    /// # Errors
    /// [`DriverError::StatementsLost`] if they do not.
    pub(crate) async fn check_pooler(
        &self,
        connection: &mut DedicatedConnection,
        patience: Duration,
    ) -> Result<(), DriverError> {
        if !connection.is_pooled() {
            return Ok(());
        }

        let names: Vec<(String,)> = match connection.rows(&Statement::new(NAMES, Vec::new())).await
        {
            Err(error) if error.is_lost_statement() => return Err(DriverError::StatementsLost),
            names => names?,
        };

        if names.iter().all(|(name,)| !is_own(name)) {
            // The pooler's settings may have been corrected since a statement was lost.
            self.pool.lost_statement.store(false, Ordering::Relaxed);
            return Ok(());
        }

        // In session mode, a pooler keeps the driver's names and each client its server connection,
        // so nothing is lost.
        if self.pool.lost_statement.load(Ordering::Relaxed)
            || self.shares_server(connection, patience).await?
        {
            return Err(DriverError::StatementsLost);
        }

        Ok(())
    }

    /// Whether another connection gets the same server connection, as from a pooler that assigns
    /// one per transaction.
    async fn shares_server(
        &self,
        connection: &mut DedicatedConnection,
        patience: Duration,
    ) -> Result<bool, DriverError> {
        let mut other = self.dedicated(patience).await?;
        let first = connection.process().await?;
        for _ in 0..LOOKS {
            if other.process().await? == first || connection.process().await? != first {
                return Ok(true);
            }
        }

        other.close();

        Ok(false)
    }

    /// Returns whether an error shows that a pooler does not keep prepared statements, and records
    /// it if so.
    pub(crate) fn notes_lost_statement(&self, error: &DriverError) -> bool {
        let is_lost = error.is_lost_statement();
        if is_lost {
            self.pool.lost_statement.store(true, Ordering::Relaxed);
        }
        is_lost
    }
}

impl DedicatedConnection {
    /// The ID of the server process that responds.
    async fn process(&mut self) -> Result<Option<String>, DriverError> {
        let answer = within(self.deadline, async {
            let ask = self
                .connection
                .client
                .simple_query("SELECT pg_backend_pid()");
            self.connection.wire.drive(ask).await
        });

        Ok(answer.await?.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    }
}

impl DriverError {
    /// Whether the server has a different prepared statement of this name, or none: a program uses
    /// each name once, and a statement whose view has changed is prepared again.
    fn is_lost_statement(&self) -> bool {
        let codes = [
            SqlState::DUPLICATE_PSTATEMENT,
            SqlState::INVALID_SQL_STATEMENT_NAME,
        ];
        self.code().is_some_and(|code| codes.contains(code))
    }
}

/// Whether a prepared statement has a name assigned by the driver.
fn is_own(name: &str) -> bool {
    name.strip_prefix('s').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}
