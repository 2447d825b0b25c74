//! Typed rows in transactions of sqlx.

use crate::graphql::find::typed_rows;
use crate::repository::{Find, FindOne, SqlxTransaction};
use svc_core::Error;
use svc_core::schema::SvcType;
use svc_postgres::Reader;

impl SqlxTransaction {
    /// Returns the typed rows of a query, as the transaction sees them.
    ///
    /// # Errors
    /// The errors of awaiting the query.
    pub async fn rows<T: SvcType>(&mut self, query: Find<T>) -> Result<Vec<T>, Error> {
        let (db, spec) = query.into_parts();
        let rows = typed_rows(
            &db,
            Reader::Sqlx(&db.app.database, &mut self.0),
            &spec,
            None,
        )
        .await?;

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
