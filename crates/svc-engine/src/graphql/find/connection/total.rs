//! The number of rows matched by a query.

use crate::graphql::find::read::Read;
use crate::repository::{Db, FindSpec};
use crate::sql::{Query, Selected, Subquery, select_subqueries};
use svc_core::Error;
use svc_postgres::DbError;

/// Returns the number of rows matched by a query, or whether there is one, depending on `subquery`.
pub(crate) async fn total(
    db: &Db,
    find: &FindSpec,
    subquery: fn(Query) -> Subquery,
) -> Result<i64, Error> {
    let ask = || async move {
        let read = Read::all(db, find.clone())?;
        let mut query = read.matching();
        query.list.push(Selected::Count);

        // A count is a row even if it is 0, so `EXISTS` over it would always be true.
        if matches!(subquery(query.clone()), Subquery::Exists(_)) {
            query.list.clear();
        }

        let catalog = db.app.database.catalog().await?;
        let rows = db
            .app
            .database
            .fetch(
                db.session(),
                &select_subqueries(db.views(&catalog), &[subquery(query)])?,
            )
            .await?;

        // A bigint has eight bytes, a Boolean one.
        let bytes = rows.cell(0, 0).unwrap_or_default();

        Ok::<_, DbError>(
            bytes
                .iter()
                .fold(0, |value, byte| (value << 8) | i64::from(*byte)),
        )
    };

    db.app
        .database
        .following(ask)
        .await
        .map_err(DbError::into_error)
}
