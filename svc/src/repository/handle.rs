//! The database as resolvers see it.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::application::Application;
use crate::postgres::{Caller, Catalogue, Ledger, OpenTransaction, Reader, Session};
use crate::scalar::sql_value::SqlValue;
use crate::sql::{RowFilter, RowRules, Views};

/// The database, as resolvers see it: `ctx.db()`.
#[derive(Debug, Clone)]
pub struct Db {
    pub(crate) app: Arc<Application>,
    /// `None` where there are no session variables.
    pub(crate) session: Option<Arc<Session>>,
    /// The condition that every row has to meet, whatever is asked.
    pub(crate) mandatory: Vec<(String, SqlValue)>,
    /// The condition that rows of one type have to meet, by the policy of the root field that runs.
    pub(crate) row_filter: Option<Arc<RowFilter>>,
    /// The rules of the request about rows; `None` where the program has no policies about them.
    pub(crate) rules: Option<Arc<dyn RowRules>>,
    /// The writes of the mutation that runs; `None` in a query.
    pub(crate) ledger: Option<Arc<Ledger>>,
    /// The transaction in which calls and typed reads run, if not in one of their own.
    pub(crate) transaction: Option<Arc<Mutex<OpenTransaction>>>,
}

impl Db {
    /// Returns the same database, in which only rows with this value in a column exist: every method of the repository
    /// adds the condition. Further ones must hold as well.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_order")]
    /// # struct Order { id: Uuid, price: Decimal }
    /// #[svc::query]
    /// async fn turnover(ctx: &Context<'_>, shop: Uuid) -> Result<Option<Decimal>> {
    ///     let db = ctx.db().scoped("shop_id", shop);
    ///     if !db.find::<Order>().exists().await? {
    ///         return Ok(None);
    ///     }
    ///     db.find::<Order>().sum("price").await
    /// }
    /// ```
    ///
    /// A view without the column is an error when it is read, never "all rows". The condition is on the rows that are
    /// found, not on those that their relations lead to; policies of row-level security reach these as well.
    #[must_use]
    pub fn scoped(&self, column: impl Into<String>, value: impl Into<SqlValue>) -> Self {
        let mut db = self.clone();
        db.mandatory.push((column.into(), value.into()));
        db
    }

    /// The session variables of the request.
    pub(crate) fn session(&self) -> &Session {
        self.session.as_deref().unwrap_or(Session::none())
    }

    /// The views that its reads are written from.
    pub(crate) fn views<'a>(&'a self, catalogue: &'a Catalogue) -> Views<'a> {
        Views { model: &self.app.model, catalogue, rules: self.rules.as_deref() }
    }

    /// The request that writes by it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        let (ledger, transaction) = (self.ledger.as_deref(), self.transaction.as_deref());
        Caller { session: self.session(), ledger, transaction }
    }

    /// Returns the connection on which its statements run.
    pub(crate) fn reader(&self) -> Reader<'_> {
        match &self.transaction {
            Some(transaction) => Reader::Transaction(&self.app.database, transaction),
            None => Reader::Pool(&self.app.database, self.session()),
        }
    }

    /// The same database, outside of the transaction.
    pub(crate) fn without_transaction(&self) -> Self {
        Self { transaction: None, ..self.clone() }
    }
}
