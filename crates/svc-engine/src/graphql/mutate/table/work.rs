//! The transaction of a write, which begins with its first statement.

use tokio_postgres::Row;

use crate::repository::{Db, Transaction};
use svc_postgres::{DbError, Isolation, Rows, Statement};

/// A transaction that may not have begun yet.
pub(super) struct Work<'a> {
    db: &'a Db,
    isolation: Isolation,
    transaction: Option<Transaction>,
}

impl<'a> Work<'a> {
    pub(super) fn new(db: &'a Db, isolation: Isolation) -> Self {
        Self {
            db,
            isolation,
            transaction: None,
        }
    }

    /// Runs a statement. The first statement begins the transaction in the same round trip, unless
    /// it is a part of another.
    pub(super) async fn run(&mut self, statement: Statement) -> Result<Vec<Row>, DbError> {
        // Skip the reset of the session if nothing can have changed its settings.
        let statement = Statement {
            keeps_session: self.db.app.database.leaves_session(),
            ..statement
        };
        if self.transaction.is_none() && self.db.is_enclosed() {
            self.transaction = Box::pin(Transaction::begin_part(self.db)).await?;
        }

        if let Some(transaction) = &self.transaction {
            return transaction.written(&statement).await;
        }

        let (transaction, rows) =
            Transaction::begin_with(self.db, self.isolation, &statement).await?;
        self.transaction = Some(transaction);

        Ok(rows)
    }

    /// Runs a read with values of the client, and returns its rows. As the first statement, it
    /// begins the transaction in the same round trip.
    pub(super) async fn read(&mut self, statement: Statement) -> Result<Rows, DbError> {
        if self.transaction.is_none() && self.db.is_enclosed() {
            self.transaction = Box::pin(Transaction::begin_part(self.db)).await?;
        }

        if let Some(transaction) = &self.transaction {
            return transaction.db().reader().fetch(&statement).await;
        }

        let statement = Statement {
            keeps_session: true,
            ..statement
        };
        match Transaction::begin_with(self.db, self.isolation, &statement).await {
            Ok((transaction, rows)) => {
                self.transaction = Some(transaction);
                Ok(Rows::Read(rows))
            }
            Err(error) => {
                let database = &self.db.app.database;
                Err(database.error_of_first_read(&statement, error).await)
            }
        }
    }

    /// Runs a statement after others, and returns the number of rows that it writes.
    pub(super) async fn count(&mut self, statement: Statement) -> Result<u64, DbError> {
        let statement = Statement {
            keeps_session: self.db.app.database.leaves_session(),
            ..statement
        };
        match &self.transaction {
            Some(transaction) => transaction.count_written(&statement).await,
            None => self.run(statement).await.map(|rows| rows.len() as u64),
        }
    }

    /// The database, whose statements run in the transaction.
    pub(super) fn db(&self) -> &Db {
        self.transaction.as_ref().map_or(self.db, Transaction::db)
    }

    /// The transaction, if anything has run.
    pub(super) fn into_transaction(self) -> Option<Transaction> {
        self.transaction
    }
}
