//! Queries that resolvers await: typed rows, rows as JSON, counts.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use crate::graphql::find::{total, typed_rows};
use crate::repository::{Find, FindOne};
use crate::sql::Subquery;
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::schema::SvcType;

impl<T: SvcType> Find<T> {
    /// Returns the rows as JSON objects of their stored fields, with the stored names as keys.
    /// Decimals are strings; numbers inside `JSON` are those that [`serde_json`] holds, and one too
    /// large for a double is an error.
    ///
    /// # Errors
    /// When the database is unreachable, a filter names an unknown column, or there are more rows
    /// than the largest page holds and the query has no limit.
    pub async fn json(self) -> Result<Vec<serde_json::Value>, Error> {
        let (db, spec) = self.into_parts();
        let rows = typed_rows(&db, db.reader(), &spec, None).await?;
        Ok(rows
            .into_iter()
            .map(ExactJson::nearest)
            .collect::<Result<_, _>>()?)
    }

    /// Returns the number of rows that match, regardless of the limit and offset.
    ///
    /// # Errors
    /// When the database is unreachable or a filter names an unknown column.
    pub async fn count(self) -> Result<i64, Error> {
        let (db, spec) = self.into_parts();
        total(&db, &spec, Subquery::Count).await
    }

    /// Whether a row matches.
    ///
    /// # Errors
    /// When the database is unreachable or a filter names an unknown column.
    pub async fn exists(self) -> Result<bool, Error> {
        let (db, spec) = self.into_parts();
        Ok(total(&db, &spec, Subquery::Exists).await? != 0)
    }
}

/// Typed rows. Fails when the database is unreachable or a row breaks its declared type.
impl<T: SvcType> IntoFuture for Find<T> {
    type Output = Result<Vec<T>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (db, spec) = self.into_parts();
            let rows = typed_rows(&db, db.reader(), &spec, None).await?;
            rows.into_iter()
                .map(|row| Ok(T::from_stored(row)?))
                .collect()
        })
    }
}

/// The typed row, if there is one. Fails like [`Find`].
impl<T: SvcType> IntoFuture for FindOne<T> {
    type Output = Result<Option<T>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.into_find().await?.into_iter().next()) })
    }
}
