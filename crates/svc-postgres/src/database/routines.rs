//! Database functions that the service itself calls, each returning one JSON value.

use serde_json::Value;

use crate::driver::{Bounds, Commit, Driver};
use crate::{ConnectConfig, DbError, Param, Session, Statement, StatementText, cell};

/// A separate pool for calling functions whose result is `jsonb` cast to `text`.
pub struct Routines {
    driver: Driver,
}

impl Routines {
    /// Connects on first use.
    pub fn new(connect: &ConnectConfig, bounds: Bounds) -> Self {
        let timeout = bounds.deadline.as_millis().to_string();
        Self {
            driver: Driver::new(
                &connect.clone().setting("statement_timeout", &timeout),
                bounds,
            ),
        }
    }

    /// Calls a function that changes nothing. SQL's NULL becomes null.
    pub async fn read(&self, text: &StatementText, args: Vec<Value>) -> Result<Value, DbError> {
        let mut row = None;
        self.driver
            .read(Session::none(), &statement(text, args), &mut row)
            .await?;
        json(row.as_ref())
    }

    /// Calls a function that writes, once.
    pub async fn write(&self, text: &StatementText, args: Vec<Value>) -> Result<Value, DbError> {
        let mut rows = Vec::new();
        self.driver
            .write(
                Session::none(),
                &statement(text, args),
                Commit::Always,
                &mut rows,
            )
            .await?;

        json(rows.first())
    }
}

fn statement(text: &StatementText, args: Vec<Value>) -> Statement {
    let params = args
        .into_iter()
        .map(|arg| Param::Variable(arg.into()))
        .collect();
    Statement::new(text.clone(), params)
}

fn json(row: Option<&tokio_postgres::Row>) -> Result<Value, DbError> {
    let Some(bytes) = row.and_then(|row| cell(row, 0)) else {
        return Ok(Value::Null);
    };
    serde_json::from_slice(bytes).map_err(|error| DbError::BadValue(error.to_string()))
}

impl std::fmt::Debug for Routines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routines")
            .field("driver", &self.driver)
            .finish()
    }
}
