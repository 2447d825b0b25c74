//! The application's own SQL, run when the database is first reached.

use std::borrow::Cow;

use super::Database;
use crate::driver::{DedicatedConnection, DriverError};

/// The first statements in the set-up transaction. It may take as long as it needs.
const BEFORE_SETUP: &str = "\
    SELECT set_config('statement_timeout', '0', true), set_config('client_min_messages', 'warning', true); \
    SELECT pg_advisory_xact_lock(hashtext('svc.setup_sql'))";

/// The application's own SQL, and whether it has run.
#[derive(Debug)]
pub(super) struct Setup {
    sql: Option<Cow<'static, str>>,
    is_done: bool,
}

impl Setup {
    pub(super) fn new(sql: Option<Cow<'static, str>>) -> Self {
        Self {
            sql,
            is_done: false,
        }
    }

    fn due(&self) -> Option<&str> {
        if self.is_done {
            None
        } else {
            self.sql.as_deref()
        }
    }

    /// Schedules it to run again. Returns whether there is any.
    pub(super) fn forget(&mut self) -> bool {
        self.is_done = false;
        self.sql.is_some()
    }
}

impl Database {
    /// Runs the set-up once. If several instances start together, they run it one after the other.
    pub(super) async fn set_up(
        &self,
        connection: &mut DedicatedConnection,
    ) -> Result<(), DriverError> {
        let mut setup = self.setup.lock().await;
        if let Some(sql) = setup.due() {
            self.wait_for_setup();
            let mut owner = match &self.owner {
                Some(owner) => {
                    Some(DedicatedConnection::to(owner, self.acquire_timeout, self.deadline).await?)
                }
                None => None,
            };

            let connection = owner.as_mut().unwrap_or(connection);

            // One transaction, so that a set-up which fails half-way leaves nothing behind and can
            // run again.
            connection.begin("BEGIN").await?;
            connection
                .script(BEFORE_SETUP)
                .await
                .map_err(|(_, error)| error)?;
            connection
                .script(sql)
                .await
                .map_err(|(done, error)| error.of_script(sql, done))?;

            connection.commit().await?;
        }

        setup.is_done = true;

        Ok(())
    }
}
