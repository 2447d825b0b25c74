//! Values that resolvers compute over all rows matched by a query: an aggregate of a column, and
//! the sizes of groups.

use crate::graphql::complete::Cells;
use crate::graphql::find::read::Read;
use crate::repository::{Db, FindSpec, GroupCount, key_order};
use crate::sql::{Column, ColumnForm, GroupValue, Query, Selected, Window, select_rows};
use svc_core::Error;
use svc_core::schema::AggregateFunction;
use svc_postgres::DbError;

/// Returns an aggregate of one column as text.
pub(crate) async fn computed(
    db: &Db,
    find: &FindSpec,
    function: AggregateFunction,
    column: Column,
) -> Result<Option<String>, Error> {
    let column = &column;
    let ask = || async move {
        let catalog = db.app.database.catalog().await?;
        let read = Read::all(db, find.clone())?;
        let mut query = read.matching();

        query.list.push(Selected::Aggregate(
            function,
            column.clone(),
            // A text keeps all digits of a `numeric`.
            ColumnForm::Text,
        ));

        let rows = db
            .app
            .database
            .fetch(db.session(), &select_rows(db.views(&catalog), &query)?)
            .await?;

        Ok::<_, DbError>(
            rows.cell(0, 0)
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
        )
    };

    db.app
        .database
        .following(ask)
        .await
        .map_err(DbError::into_error)
}

/// Returns the number of rows for each combination of values.
pub(crate) async fn group_counts(
    db: &Db,
    find: &FindSpec,
    columns: Vec<Column>,
) -> Result<Vec<GroupCount>, Error> {
    let most = i64::from(db.app.limits.max_page);
    let columns = &columns;
    let ask = || async move {
        let catalog = db.app.database.catalog().await?;
        let read = Read::all(db, find.clone())?;
        let list = columns
            .iter()
            .map(|column| Selected::Value(column.clone().into(), ColumnForm::Text));
        let query = Query {
            list: list.chain([Selected::Count]).collect(),
            order: key_order(columns),
            group: columns.iter().cloned().map(GroupValue::from).collect(),
            page: Some(Window {
                // One more than allowed, so that too many groups are an error and not a truncated
                // result.
                limit: most + 1,
                offset: 0,
            }),
            ..read.matching()
        };

        let rows = db
            .app
            .database
            .fetch(db.session(), &select_rows(db.views(&catalog), &query)?)
            .await?;

        let group = |row| group_count(&Cells::Nth(&rows, row), columns.len());
        Ok::<_, DbError>((0..rows.len()).map(group).collect::<Vec<_>>())
    };

    let groups = db
        .app
        .database
        .following(ask)
        .await
        .map_err(DbError::into_error)?;

    if groups.len() as i64 > most {
        return Err(Error::internal(format!(
            "there are more than {most} groups; filter the rows"
        )));
    }

    Ok(groups)
}

/// Reads a group from its row: first the values of its key, then the number of its rows.
fn group_count(cells: &Cells<'_>, key_length: usize) -> GroupCount {
    let text = |column| {
        cells
            .get(column)
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };

    let count = cells
        .get(key_length)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, i64::from_be_bytes);

    GroupCount {
        key: (0..key_length).map(text).collect(),
        count,
    }
}
