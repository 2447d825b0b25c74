//! A connection outside of any service, for tests that create and drop databases.

use std::time::Duration;

use super::connect::ConnectConfig;
use super::driver::{DedicatedConnection, DriverError};
use super::{Param, Statement};

/// The maximum wait for a connection and for the response to a query.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection that runs a program's SQL. Its settings and locks last until it is dropped.
#[derive(Debug)]
pub struct ScriptConnection(DedicatedConnection);

impl ScriptConnection {
    /// Opens a connection.
    pub async fn open(connect: &ConnectConfig) -> Result<Self, DriverError> {
        DedicatedConnection::to(connect, PATIENCE, PATIENCE)
            .await
            .map(Self)
    }

    /// Runs statements without a deadline. The error names the line of the failed one.
    pub async fn run(&mut self, sql: &str) -> Result<(), DriverError> {
        self.0
            .script(sql)
            .await
            .map_err(|(done, error)| error.of_script(sql, done))
    }

    /// Returns the result of a boolean query about a text, `$1`.
    pub async fn is(&mut self, question: &str, text: &str) -> Result<bool, DriverError> {
        let answers: Vec<(bool,)> = self.0.rows(&about(question, text)).await?;
        Ok(answers.first().is_some_and(|(answer,)| *answer))
    }

    /// Returns the names found by a query about a text, `$1`.
    pub async fn names(&mut self, query: &str, text: &str) -> Result<Vec<String>, DriverError> {
        let rows: Vec<(String,)> = self.0.rows(&about(query, text)).await?;
        Ok(rows.into_iter().map(|(name,)| name).collect())
    }
}

fn about(sql: &str, text: &str) -> Statement {
    Statement::new(sql, vec![Param::Text(text.to_owned())])
}
