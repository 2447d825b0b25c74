//! The columns of statements, without running them.

use std::sync::{Arc, Weak};

use super::Health;
use crate::Database;
use crate::driver::{Columns, DriverError};

impl Database {
    /// Returns the database once it responds, or `None` if it has been dropped.
    pub async fn when_up(database: Weak<Self>) -> Option<Arc<Self>> {
        let mut health = database.upgrade()?.health.subscribe();
        health.wait_for(|health| *health == Health::Up).await.ok()?;
        database.upgrade()
    }

    /// The columns of each statement, or why PostgreSQL rejects it.
    pub async fn describe(
        &self,
        statements: &[&str],
    ) -> Result<Vec<Result<Columns, String>>, DriverError> {
        let mut connection = self.driver.dedicated(self.acquire_timeout).await?;
        let mut described = Vec::with_capacity(statements.len());
        for statement in statements {
            described.push(match connection.describe(statement).await {
                Ok(columns) => Ok(columns),
                Err(error) if error.leaves_connection_usable() => Err(error.message()),
                Err(error) => return Err(error),
            });
        }

        connection.close();

        Ok(described)
    }
}
