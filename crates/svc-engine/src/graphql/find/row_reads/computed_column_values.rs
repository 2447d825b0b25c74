//! Fields computed from rows by database functions.

use crate::graphql::complete::{Cells, CompletedValue, Found, RowColumn, RowSource, complete_all};
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::columns::call_form;
use crate::graphql::find::computed_column::selected_call;
use crate::graphql::plan::PlanField;
use crate::graphql::response::Path;
use crate::sql::{Filter, Query, Selected, Subquery, record_types, select_related};
use svc_core::schema::{Resolved, RowFunctionMeta};
use svc_postgres::DbError;

/// The id of a row, if it has one, and the path of its field.
type Spot<'a> = (Option<&'a str>, &'a Path<'a>);

/// Calls a function for rows already in memory, with one statement for all of them.
pub(super) async fn write_computed_of_rows<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    function: &'static RowFunctionMeta,
    rows: Vec<Spot<'a>>,
) -> Vec<CompletedValue> {
    let mut ids: Vec<String> = rows
        .iter()
        .filter_map(|(id, _)| id.map(str::to_owned))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let (ids, spots) = (&ids, &rows);
    let result = cx
        .database
        .following(|| compute(cx, field, function, ids, spots))
        .await;

    result.unwrap_or_else(|error| {
        let error = error.into_error();
        rows.iter()
            .map(|(_, path)| CompletedValue::failed(cx, &error, field, path))
            .collect()
    })
}

async fn compute(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    function: &'static RowFunctionMeta,
    ids: &[String],
    spots: &[Spot<'_>],
) -> Result<Vec<CompletedValue>, DbError> {
    let catalog = cx.database.catalog().await?;
    let views = cx.context.db().views(&catalog);
    let call = selected_call(cx, field, function)?;
    let (select, form) = call_form(&catalog, &call, &field.ty)?;
    let (to_row, row) = (call.to_row(), call.row);
    let query = Query {
        list: vec![Selected::Call(call, select)],
        ..Query::new(row, Filter::All(Vec::new()))
    };

    let types = record_types(views, &query)?;
    let statement = select_related(views, &to_row, &[Subquery::Row(query)], ids.to_vec())?;
    let rows = cx.database.fetch(cx.session(), &statement).await?;
    let source = RowSource::Column(0, form);

    // `select_related` returns one row for each id, in their order.
    let records = (0..ids.len()).map(|row| match rows.cell(row, 0) {
        Some(record) => Ok(Some(RowColumn {
            cells: Cells::record(record, &types)?,
            data: None,
        })),
        None => Ok(None),
    });

    let records = records.collect::<Result<Vec<_>, DbError>>()?;
    let nodes: Vec<_> = records
        .iter()
        .map(|record| record.as_ref().map(|record| record.node("", &source)))
        .collect();
    let spots = spots.iter().map(|(id, path)| {
        let at = id.and_then(|id| ids.binary_search_by(|known| known.as_str().cmp(id)).ok());
        match at.and_then(|at| nodes[at].as_ref()) {
            Some(node) => (Found::Stored(node), *path),
            None => (Found::Value(Resolved::Null), *path),
        }
    });

    Ok(complete_all(cx, field, &field.ty, spots.collect()).await)
}
