//! The connections for statements of the repository.

use tokio::sync::Mutex;

use crate::driver::OpenTransaction;
use crate::{Database, DbError, Rows, Session, Statement};

/// The connection for a statement of the repository.
pub enum Reader<'a> {
    /// On a connection of the pool, with the session variables of the request.
    Pool(&'a Database, &'a Session),
    /// In a transaction, which already has them.
    Transaction(&'a Database, &'a Mutex<OpenTransaction>),
    /// In a transaction of sqlx, which has them as well.
    #[cfg(feature = "sqlx")]
    Sqlx(&'a Database, &'a mut sqlx::PgConnection),
}

impl Reader<'_> {
    pub async fn fetch(self, statement: &Statement) -> Result<Rows, DbError> {
        match self {
            Self::Pool(database, session) => database.fetch(session, statement).await,
            Self::Transaction(database, transaction) => {
                let rows = transaction.lock().await.read(statement).await;
                match rows {
                    Ok(rows) => Ok(Rows::Read(rows)),
                    Err(error) => {
                        let error = database.noted(error);
                        Err(database.error_in(transaction, statement, error).await)
                    }
                }
            }
            #[cfg(feature = "sqlx")]
            Self::Sqlx(database, connection) => {
                super::fetch_by_sqlx(database, connection, statement).await
            }
        }
    }
}
