//! Relations of values already in memory: one statement for the rows of all parents.

mod beside;

use crate::graphql::complete::{
    Cells, CompletedValue, Decoded, Found, Outdated, Records, RowNode, RowShape, complete_all,
};
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::columns::bad_key;
use crate::graphql::find::read::Read;
use crate::graphql::find::rows::full_rows;
use crate::graphql::plan::{Calls, PlanField};
use crate::graphql::response::Path;
use crate::sql::{Query, Subquery, Views, record_types, select_related};
use beside::follow_beside;
use svc_core::Error;
use svc_core::schema::{Relation, Resolved, is_key_of};
use svc_postgres::{DbError, Rows, Statement};

/// The key of a parent, if it has one, and the path of the parent's field.
pub(in crate::graphql::find) type Parent<'a> = (Option<&'a str>, &'a Path<'a>);

/// Follows a relation from many parents; returns one value for each parent.
pub(in crate::graphql::find) async fn write_relation<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    relation: Relation,
    parents: Vec<Parent<'a>>,
) -> Vec<CompletedValue> {
    let mut keys: Vec<String> = parents
        .iter()
        .filter_map(|(key, _)| key.map(str::to_owned))
        .collect();

    // Sorted, to be searched by `position`; without duplicates, to read each key once.
    keys.sort_unstable();
    keys.dedup();

    if keys.is_empty() && !relation.is_derived() {
        // No parent has a key, so no statement is needed.
        let none = Decoded::none();
        let none = if relation.is_many() {
            none.all()
        } else {
            none.first()
        };

        return complete_all(
            cx,
            field,
            &field.ty,
            parents.iter().map(|(_, path)| (none, *path)).collect(),
        )
        .await;
    }

    if let Some(key) = keys.iter().find(|key| !is_key_of(key, relation.from.len())) {
        return all_failed(cx, field, &wrong_count(field, relation, key), &parents);
    }

    let (wanted, spots) = (&keys, &parents);
    let result = match cx
        .database
        .following(|| follow(cx, field, relation, wanted, spots))
        .await
    {
        Err(error) if error.is_of_data() => {
            // A key forged by a client does not indicate bad stored data, so it is not logged.
            let careful = if relation.is_from_client {
                cx.with_care()
            } else {
                cx.careful(&error)
            };
            follow(&careful, field, relation, &keys, &parents).await
        }
        result => result,
    };

    result.unwrap_or_else(|error| all_failed(cx, field, &visible(error, relation), &parents))
}

/// Completes the field of each parent with the same error.
fn all_failed(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    error: &Error,
    parents: &[Parent<'_>],
) -> Vec<CompletedValue> {
    parents
        .iter()
        .map(|(_, path)| CompletedValue::failed(cx, error, field, path))
        .collect()
}

/// Returns the error that a client may see when the rows of a relation cannot be read.
fn visible(error: DbError, relation: Relation) -> Error {
    if relation.is_from_client && error.is_of_unreadable_value() {
        tracing::debug!(%error, "the key of a node cannot be read");
        return bad_key(relation);
    }

    error.into_error()
}

/// Returns the error for a value that application code created with the wrong number of keys for
/// the relation.
fn wrong_count(field: &PlanField, relation: Relation, key: &str) -> Error {
    let names = relation.from.join("`, `");
    Error::internal(format!(
        "`{}` starts at the keys `{names}`, and a value of it was made with {key}; give `new` a tuple of {} keys",
        field.coordinate,
        relation.from.len()
    ))
}

async fn follow(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    relation: Relation,
    keys: &[String],
    parents: &[Parent<'_>],
) -> Result<Vec<CompletedValue>, DbError> {
    if relation.is_derived() {
        follow_beside(cx, field, relation, keys, parents).await
    } else if field.children.calls() > Calls::None {
        whole(cx, field, relation, keys, parents).await
    } else {
        plain(cx, field, relation, keys, parents).await
    }
}

/// Completes rows that are written to bytes directly.
async fn plain(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    relation: Relation,
    keys: &[String],
    parents: &[Parent<'_>],
) -> Result<Vec<CompletedValue>, DbError> {
    let catalog = cx.database.catalog().await?;
    let (query, shape) = Read::relation(cx, field, relation)?.query(cx, &catalog, field)?;
    let statement = related(cx.context.db().views(&catalog), &relation, query, keys)?;
    let rows = cx.database.fetch(cx.session(), &statement).await?;
    let nodes = (0..keys.len()).map(|row| node(rows.cell(row, 0), &shape, relation.is_many()));
    let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    let none = if relation.is_many() {
        RowNode::Records(Records::default(), &shape)
    } else {
        RowNode::Null
    };

    let error = bad_key(relation);
    let spots = parents
        .iter()
        .map(|(key, path)| match position(keys, *key) {
            Some(at) if is_bad(&rows, at, 1) => (Found::Value(Resolved::Failed(&error)), *path),
            at => (Found::Stored(at.map_or(&none, |at| &nodes[at])), *path),
        });

    Ok(complete_all(cx, field, &field.ty, spots.collect()).await)
}

/// Returns the statement for the rows of a relation.
fn related(
    views: Views<'_>,
    relation: &Relation,
    query: Query,
    keys: &[String],
) -> Result<Statement, DbError> {
    let part = if relation.is_many() {
        Subquery::Rows(query)
    } else {
        Subquery::Row(query)
    };
    select_related(views, relation, &[part], keys.to_vec())
}

fn node<'a>(
    bytes: Option<&'a [u8]>,
    shape: &'a RowShape,
    many: bool,
) -> Result<RowNode<'a>, Outdated> {
    let records = bytes.filter(|_| many).map(Records::new);

    // Only the first record is checked: all come from one statement and have the same types.
    records.map_or(Ok(()), |records| {
        records.iter(&shape.types).next().transpose().map(drop)
    })?;

    match (records, RowNode::record(bytes, shape)) {
        (Some(records), _) => Ok(RowNode::Records(records, shape)),
        (None, RowNode::Outdated) => Err(Outdated),
        (None, node) => Ok(node),
    }
}

/// Completes rows that are decoded into the user's structs, to call their methods.
async fn whole(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    relation: Relation,
    keys: &[String],
    parents: &[Parent<'_>],
) -> Result<Vec<CompletedValue>, DbError> {
    let catalog = cx.database.catalog().await?;
    let (list, whole) = full_rows(cx.context.db().views(&catalog), relation.row)?;
    let query = Read::relation(cx, field, relation)?.reading(list, cx.careful);
    let types = record_types(cx.context.db().views(&catalog), &query)?;
    let statement = related(cx.context.db().views(&catalog), &relation, query, keys)?;
    let rows = cx.database.fetch(cx.session(), &statement).await?;
    let decoded = (0..keys.len()).map(|row| {
        let records = match rows.cell(row, 0) {
            Some(bytes) if relation.is_many() => Records::new(bytes)
                .iter(&types)
                .collect::<Result<Vec<_>, _>>()?,
            Some(bytes) => vec![Cells::record(bytes, &types)?],
            None => Vec::new(),
        };
        Ok::<_, DbError>(Decoded::new(cx.model, &whole, records.into_iter()))
    });

    let decoded = decoded.collect::<Result<Vec<_>, _>>()?;
    let none = Decoded::none();
    let error = bad_key(relation);
    let spots = parents.iter().map(|(key, path)| {
        let at = position(keys, *key);
        let found = at.map_or(&none, |at| &decoded[at]);
        let value = match relation.is_many() {
            _ if at.is_some_and(|at| is_bad(&rows, at, 1)) => {
                Found::Value(Resolved::Failed(&error))
            }
            true => found.all(),
            false => found.first(),
        };
        (value, *path)
    });

    Ok(complete_all(cx, field, &field.ty, spots.collect()).await)
}

/// Whether a key cannot be read. A `careful` statement has this result in the column after its
/// parts.
pub(super) fn is_bad(rows: &Rows, row: usize, parts: usize) -> bool {
    rows.cell(row, parts) == Some(&[1])
}

/// Returns the position of a parent's key among all keys.
pub(super) fn position(keys: &[String], key: Option<&str>) -> Option<usize> {
    let key = key?;
    keys.binary_search_by(|known| known.as_str().cmp(key)).ok()
}
