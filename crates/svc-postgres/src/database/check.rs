//! The check of the database: whether it responds, its set-up, and the read of its catalog.

use std::time::Duration;

use tokio::time::timeout;

use super::changes::Loaded;
use super::{CheckError, Database};
use crate::catalog::Catalog;
use crate::driver::{DedicatedConnection, DriverError};

/// The time allowed for reading the catalog.
const CATALOG: Duration = Duration::from_secs(10);

/// How often the catalog is read again if the connection was closed meanwhile.
const TRIES: u32 = 3;

impl Database {
    /// Checks the database now and reads its catalog. A closed connection proves nothing, so it
    /// is retried.
    pub async fn check(&self) -> Result<(), CheckError> {
        self.read_catalog(true).await
    }

    /// The same without the set-up, which may take a while: if the set-up has to run, the database
    /// is not used until then.
    pub(super) async fn read_again(&self) -> Result<(), CheckError> {
        self.read_catalog(false).await
    }

    async fn read_catalog(&self, sets_up: bool) -> Result<(), CheckError> {
        let mut left = TRIES;
        loop {
            match self.read_catalog_once(sets_up).await {
                Err(CheckError::Driver(error)) if error.is_lost_connection() && left > 0 => {
                    left -= 1;
                }
                // The open connections can continue; the catalog is read again later.
                Err(CheckError::Driver(error))
                    if error.is_too_many_connections() && self.changes.has_look() =>
                {
                    self.driver.views_changed().notify_one();
                    return Ok(());
                }
                result => return result,
            }
        }
    }

    async fn read_catalog_once(&self, sets_up: bool) -> Result<(), CheckError> {
        let mut connection = self.driver.dedicated(self.acquire_timeout).await?;
        self.driver
            .check_pooler(&mut connection, self.acquire_timeout)
            .await?;
        #[cfg(feature = "sqlx")]
        if self.driver.transaction_settings().is_some() {
            self.sqlx.leave_out_options();
        }

        if sets_up {
            self.set_up(&mut connection).await?;
        }

        let mut loaded = self.load_in_time(&mut connection).await?;
        if self.has_lost(&loaded) && self.setup.lock().await.forget() {
            tracing::warn!(
                "all views of the schema are gone from the database; running the set-up again"
            );
            if !sets_up {
                self.wait_for_setup();
                return Ok(());
            }
            self.set_up(&mut connection).await?;
            loaded = self.load_in_time(&mut connection).await?;
        }

        self.adopt(loaded);
        let confirming = timeout(self.acquire_timeout, self.confirm(&mut connection));
        if !matches!(confirming.await, Ok(Ok(()))) {
            // The next check confirms it.
            self.may_have_changed();
        }
        connection.close();

        Ok(())
    }

    async fn load_in_time(
        &self,
        connection: &mut DedicatedConnection,
    ) -> Result<Loaded, CheckError> {
        let reading = timeout(self.deadline.min(CATALOG), self.load(connection));
        reading.await.unwrap_or(Err(DriverError::Unanswered.into()))
    }

    /// Whether all views that existed are gone: another database has replaced the one that was set
    /// up.
    fn has_lost(&self, loaded: &Loaded) -> bool {
        let is_known = |catalog: &Catalog| {
            self.sources
                .iter()
                .any(|name| catalog.source(name).is_some())
        };

        self.catalog
            .load()
            .as_ref()
            .is_some_and(|known| is_known(known))
            && !is_known(loaded.catalog())
    }
}
