use std::sync::Arc;

use super::{Database, Find, FindOne};
use crate::Result;
use crate::engine::Limits;
use crate::schema::{FromStored, Model, SvcType};

/// The database, as resolvers see it: `ctx.db()`.
#[derive(Debug, Clone)]
pub struct Db {
    pub(crate) database: Arc<Database>,
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

    /// Calls a function of the database, and reads its answer as a mutation without a body does: a `mutation_response`
    /// gives its entity or its error, everything else is the value itself.
    ///
    /// Objects are given as JSONB; every other argument is cast to the parameter's type. The call is sent once, also
    /// when the connection is lost.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    ///
    /// #[svc_type(sql_source = "v_user")]
    /// pub struct User {
    ///     id: Uuid,
    ///     name: String,
    /// }
    ///
    /// #[svc::mutation]
    /// async fn rename(ctx: &Context<'_>, id: Uuid, name: String) -> Result<User> {
    ///     ctx.db().call("app.rename_user", [json!(id), json!({ "name": name.trim() })]).await
    /// }
    /// ```
    ///
    /// # Errors
    /// What the function declares: a status that is no success, an exception raised as `P0001`, a constraint with a
    /// message. Whatever else goes wrong is masked.
    pub async fn call<T: FromStored>(
        &self,
        function: &str,
        args: impl IntoIterator<Item = serde_json::Value>,
    ) -> Result<T> {
        crate::engine::call(self, function, args.into_iter().collect()).await
    }

    /// The connection pool, for SQL of your own.
    pub fn pool(&self) -> &sqlx::PgPool {
        self.database.pool()
    }
}
