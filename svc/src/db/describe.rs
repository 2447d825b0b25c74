//! What statements give, without running them.

use std::sync::{Arc, Weak};

use sqlx::{AssertSqlSafe, Column as _, ConnectOptions as _, Connection as _, Executor as _, SqlSafeStr as _};
use sqlx::{Statement as _, TypeInfo as _};

use super::Database;
use super::database::within;
use super::health::Health;

/// The columns of a statement: their names, and the names of their types.
pub(crate) type Columns = Vec<(String, String)>;

impl Database {
    /// The database when it answers; `None` when nobody needs it any more.
    pub(crate) async fn when_up(database: Weak<Self>) -> Option<Arc<Self>> {
        let mut health = database.upgrade()?.health.subscribe();
        health.wait_for(|health| *health == Health::Up).await.ok()?;
        database.upgrade()
    }

    /// The columns of each statement, or why PostgreSQL does not take it.
    pub(crate) async fn describe(&self, statements: &[&str]) -> Result<Vec<Result<Columns, String>>, sqlx::Error> {
        let mut connection = within(self.acquire_timeout, self.connect.connect()).await?;
        let mut described = Vec::with_capacity(statements.len());
        for statement in statements {
            let prepared =
                within(self.deadline, (&mut connection).prepare(AssertSqlSafe(*statement).into_sql_str())).await;
            described.push(match prepared {
                Ok(prepared) => {
                    let columns = prepared.columns().iter();
                    Ok(columns.map(|c| (c.name().to_owned(), c.type_info().name().to_lowercase())).collect())
                }
                Err(sqlx::Error::Database(error)) => Err(error.message().to_owned()),
                Err(error) => return Err(error),
            });
        }
        within(self.deadline, connection.close()).await?;
        Ok(described)
    }
}
