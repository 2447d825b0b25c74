//! Typed rows in transactions.

use crate::graphql::find::typed_rows;
use crate::repository::{Find, FindOne, Transaction};
use svc_core::Error;
use svc_core::schema::SvcType;

impl Transaction {
    /// Returns the typed rows of a query, as the transaction sees them.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    ///
    /// # #[svc_type(sql_source = "v_user")]
    /// # struct User { id: Uuid, name: String }
    /// #[svc::mutation]
    /// async fn rename(ctx: &Context<'_>, id: Uuid, name: String) -> Result<Option<User>> {
    ///     let mut tx = ctx.db().transaction().await?;
    ///     tx.execute("UPDATE tb_user SET name = $2 WHERE id = $1", [json!(id), json!(name)]).await?;
    ///     let user = tx.row(ctx.db().find_one().filter(col("id").eq(id))).await?;
    ///     tx.commit().await?;
    ///     Ok(user)
    /// }
    /// ```
    ///
    /// # Errors
    /// The errors of awaiting the query.
    pub async fn rows<T: SvcType>(&mut self, query: Find<T>) -> Result<Vec<T>, Error> {
        let (db, spec) = query.into_parts();
        let rows = typed_rows(&db, self.db().reader(), &spec, None).await?;
        rows.into_iter()
            .map(|row| Ok(T::from_stored(row)?))
            .collect()
    }

    /// Returns the typed row of a query, if there is one, as the transaction sees it.
    ///
    /// # Errors
    /// The errors of awaiting the query.
    pub async fn row<T: SvcType>(&mut self, query: FindOne<T>) -> Result<Option<T>, Error> {
        Ok(self.rows(query.into_find()).await?.into_iter().next())
    }
}
