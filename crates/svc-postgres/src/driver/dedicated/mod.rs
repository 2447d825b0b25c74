//! A connection outside of the pool, for the service's own statements.

mod from_row;
mod pooler;

pub(crate) use from_row::FromRow;

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use tokio::time::timeout;
use tokio_postgres::{Row, SimpleQueryMessage};

use super::connection::Connection;
use super::{Driver, DriverError};
use crate::connect::ConnectConfig;
use crate::{Session, Statement};

use super::config::Target;

/// A dedicated connection: a busy pool does not delay it, and it is closed on drop.
pub struct DedicatedConnection {
    pub(super) connection: Connection,
    /// The time to wait for the response to a statement.
    pub(super) deadline: Duration,
}

impl Driver {
    /// Opens a connection outside of the pool for statements on the catalog, within `patience`.
    pub(crate) async fn dedicated(
        &self,
        patience: Duration,
    ) -> Result<DedicatedConnection, DriverError> {
        DedicatedConnection::open(&self.catalog, patience, self.pool.deadline).await
    }

    /// Opens a connection that plans statements as the pool's connections do.
    pub(crate) async fn dedicated_like_pool(
        &self,
        patience: Duration,
    ) -> Result<DedicatedConnection, DriverError> {
        DedicatedConnection::open(&self.pool.target, patience, self.pool.deadline).await
    }
}

/// The columns of a statement: their names, and the names of their types.
pub type Columns = Vec<(String, String)>;

impl DedicatedConnection {
    /// Opens a connection for another user.
    pub(crate) async fn to(
        connect: &ConnectConfig,
        patience: Duration,
        deadline: Duration,
    ) -> Result<Self, DriverError> {
        Self::open(&Target::new(connect), patience, deadline).await
    }

    async fn open(
        target: &Target,
        patience: Duration,
        deadline: Duration,
    ) -> Result<Self, DriverError> {
        let connection = within(patience, Connection::open(target, 0))
            .await
            .map_err(DriverError::while_opening)?;
        Ok(Self {
            connection,
            deadline,
        })
    }

    /// The rows of a statement.
    pub async fn rows<T: FromRow>(&mut self, statement: &Statement) -> Result<Vec<T>, DriverError> {
        let rows = self.read(statement).await?;
        rows.iter().map(|row| Ok(T::from_row(row)?)).collect()
    }

    /// The raw rows of a statement.
    pub async fn read(&mut self, statement: &Statement) -> Result<Vec<Row>, DriverError> {
        let mut rows = Vec::new();
        within(
            self.deadline,
            self.connection.read(Session::none(), statement, &mut rows),
        )
        .await?;
        Ok(rows)
    }

    /// The names of a statement's columns and of their types, without running it.
    pub(crate) async fn describe(&mut self, sql: &str) -> Result<Columns, DriverError> {
        let prepared = within(self.deadline, self.connection.prepare_text(sql, &[])).await?;
        let columns = prepared.columns().iter();
        Ok(columns
            .map(|column| (column.name().to_owned(), column.type_().name().to_owned()))
            .collect())
    }

    /// Runs statements one after the other, without a deadline.
    ///
    /// # Errors
    /// The error of a statement, with the number of statements completed before it.
    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), (usize, DriverError)> {
        let Connection { client, wire, .. } = &mut self.connection;
        let mut done = 0;
        let run = async {
            let mut messages = pin!(client.simple_query_raw(sql).await?);
            while let Some(message) = messages.try_next().await? {
                done += usize::from(matches!(message, SimpleQueryMessage::CommandComplete(_)));
            }
            Ok::<_, tokio_postgres::Error>(())
        };

        wire.drive(run).await.map_err(|error| (done, error))
    }

    /// Begins a transaction for the statements that follow.
    pub(crate) async fn begin(&mut self, begin: &'static str) -> Result<(), DriverError> {
        let begin = self.connection.session.begin(begin, false);
        self.script(&begin).await.map_err(|(_, error)| error)?;
        self.connection.in_transaction = true;
        Ok(())
    }

    /// Commits the transaction.
    pub(crate) async fn commit(&mut self) -> Result<(), DriverError> {
        self.connection.in_transaction = false;
        self.script("COMMIT").await.map_err(|(_, error)| error)
    }

    /// Whether a pooler does not keep the settings of its session.
    pub(super) fn is_pooled(&self) -> bool {
        self.connection.session.pooled.is_some()
    }

    /// Sends the terminate message.
    pub(crate) fn close(self) {
        self.connection.close();
    }
}

/// A result with a deadline.
pub(super) async fn within<T>(
    time: Duration,
    result: impl Future<Output = Result<T, DriverError>>,
) -> Result<T, DriverError> {
    timeout(time, result)
        .await
        .unwrap_or(Err(DriverError::Unanswered))
}

impl std::fmt::Debug for DedicatedConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DedicatedConnection")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
