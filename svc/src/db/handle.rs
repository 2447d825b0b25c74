use std::sync::Arc;

use super::reader::Reader;
use super::{Database, Find, FindOne, Session, SqlConnection, SqlValue, Transaction};
use crate::Error;
use crate::engine::Limits;
use crate::schema::{Model, SvcType};

/// The database, as resolvers see it: `ctx.db()`.
#[derive(Debug, Clone)]
pub struct Db {
    pub(crate) database: Arc<Database>,
    pub(crate) session: Arc<Session>,
    /// What every row must have, whatever is asked.
    pub(crate) mandatory: Vec<(String, SqlValue)>,
    pub(crate) model: Arc<Model>,
    pub(crate) limits: Arc<Limits>,
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
    ///     let db = ctx.db().only("shop_id", shop);
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
    pub fn only(&self, column: impl Into<String>, value: impl Into<SqlValue>) -> Self {
        let mut db = self.clone();
        db.mandatory.push((column.into(), value.into()));
        db
    }

    /// A transaction for SQL of your own, with the request's session variables set.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// #[svc::mutation]
    /// async fn rename(ctx: &Context<'_>, id: Uuid, name: String) -> Result<bool> {
    ///     let mut tx = ctx.db().transaction().await?;
    ///     let update = svc::sqlx::query("UPDATE tb_user SET name = $2 WHERE id = $1").bind(id).bind(name);
    ///     let done = update.execute(&mut *tx).await?;
    ///     tx.commit().await?;
    ///     Ok(done.rows_affected() == 1)
    /// }
    /// ```
    ///
    /// # Errors
    /// When the database is away or all connections are busy.
    pub async fn transaction(&self) -> Result<Transaction, Error> {
        Transaction::begin(self).await
    }

    /// A connection for SQL of your own, with the request's session variables set: a transaction that ends with
    /// [`SqlConnection::close`].
    ///
    /// # Errors
    /// When the database is away or all connections are busy.
    pub async fn connection(&self) -> Result<SqlConnection, Error> {
        SqlConnection::open(self).await
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader::Pool(&self.database, &self.session)
    }

    /// The connection pool of sqlx, for SQL of your own. Its connections do not know the request's session variables;
    /// those of [`transaction`](Self::transaction) and [`connection`](Self::connection) do.
    pub fn pool(&self) -> &sqlx::PgPool {
        self.database.pool()
    }
}
