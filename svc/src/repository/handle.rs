//! The database as resolvers see it.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::Error;
use crate::application::Application;
use crate::postgres::{Caller, DbError, Ledger, OpenTransaction, Reader, Session};
use crate::repository::{Find, FindOne, Transaction};
use crate::scalar::sql_value::SqlValue;
use crate::schema::SvcType;
use crate::sql::RowFilter;

/// The database, as resolvers see it: `ctx.db()`.
#[derive(Debug, Clone)]
pub struct Db {
    pub(crate) app: Arc<Application>,
    /// `None` where there are no session variables.
    pub(crate) session: Option<Arc<Session>>,
    /// What every row must have, whatever is asked.
    pub(crate) mandatory: Vec<(String, SqlValue)>,
    /// What rows of one type must have, by the policy of the root field that runs.
    pub(crate) row_filter: Option<Arc<RowFilter>>,
    /// The writes of the mutation that runs; `None` in a query.
    pub(crate) ledger: Option<Arc<Ledger>>,
    /// The transaction in which calls and typed reads run, if not in one of their own.
    pub(crate) transaction: Option<Arc<Mutex<OpenTransaction>>>,
}

impl Db {
    /// The rows of `T`'s view.
    ///
    /// Return the query to let it compile with the client's selection to one statement, or await it for typed
    /// rows.
    ///
    /// ```
    /// use svc::db::{asc, col};
    /// use svc::prelude::*;
    ///
    /// #[svc_type(sql_source = "v_user")]
    /// pub struct User {
    ///     id: Uuid,
    ///     name: String,
    /// }
    ///
    /// #[svc::query]
    /// async fn team(ctx: &Context<'_>, lead: Uuid) -> Result<Find<User>> {
    ///     Ok(ctx.db().find::<User>().filter(col("lead_id").eq(lead)).order_by(asc("name")))
    /// }
    ///
    /// #[svc::query]
    /// async fn team_size(ctx: &Context<'_>, lead: Uuid) -> Result<i32> {
    ///     let rows = ctx.db().find::<User>().filter(col("lead_id").eq(lead)).await?;
    ///     Ok(rows.len().try_into()?)
    /// }
    /// ```
    pub fn find<T: SvcType>(&self) -> Find<T> {
        Find::new(self.clone())
    }

    /// One row of `T`'s view: the first that matches, or none.
    pub fn find_one<T: SvcType>(&self) -> FindOne<T> {
        self.find().one()
    }

    /// The same database, in which only rows with this value in a column exist: every method of the repository adds
    /// the condition. Further ones must hold as well.
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

    /// A transaction, with the request's session variables set: several calls, statements and reads that are kept
    /// together or not at all.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    ///
    /// #[svc::mutation]
    /// async fn move_all(ctx: &Context<'_>, from: Uuid, to: Uuid) -> Result<bool> {
    ///     let mut tx = ctx.db().transaction().await?;
    ///     let moved: bool = tx.call("app.move_orders", [json!(from), json!(to)]).await?;
    ///     tx.execute("DELETE FROM tb_shop WHERE id = $1", [json!(from)]).await?;
    ///     tx.commit().await?;
    ///     Ok(moved)
    /// }
    /// ```
    ///
    /// It holds a connection of the pool until it ends. With the feature `sqlx`, `sqlx_transaction` gives one of sqlx.
    ///
    /// # Errors
    /// When the database cannot be reached or all connections are busy.
    pub async fn transaction(&self) -> Result<Transaction, Error> {
        Transaction::begin(self).await.map_err(DbError::into_error)
    }

    /// The session variables of the request.
    pub(crate) fn session(&self) -> &Session {
        self.session.as_deref().unwrap_or(Session::none())
    }

    /// The request that writes by it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        let (ledger, transaction) = (self.ledger.as_deref(), self.transaction.as_deref());
        Caller { session: self.session(), ledger, transaction }
    }

    /// Where its statements run.
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
