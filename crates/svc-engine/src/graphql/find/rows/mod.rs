//! The rows of one read, completed as a list or as a single value.

mod full;
mod typed;
mod with_methods;

pub(super) use full::full_rows;
pub(in crate::graphql) use full::{stored_fields, wanted_rows};
pub(in crate::graphql) use typed::typed_statement;
pub(crate) use typed::{read_row, typed_rows};
pub(super) use with_methods::complete_typed;

use tokio_postgres::Row;

use typed::typed;

use super::read::Read;
use super::{not_found, statement_cache};
use crate::graphql::complete::{Cells, CompletedValue, Decoded, RowList, RowShape, write_row};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Calls, PlanField};
use crate::graphql::response::Path;
use svc_core::Error;
use svc_core::schema::Shape;
use svc_core::task::boxed::{boxed_rare, boxed_unmoved};
use svc_postgres::{DbError, Reader, RowSink as _};

/// The approximate length of a root field's key, with the JSON around it.
const AROUND: usize = 64;

pub(super) async fn write_read(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> CompletedValue {
    if field.children.calls() > Calls::None {
        return boxed_unmoved(|| write_full_rows(cx, field, read, path)).await;
    }

    // A loop, because a second call would keep the first one from being inlined.
    let mut is_again = false;
    loop {
        let value = if read.shape == Shape::List {
            list(cx, field, read, path).await
        } else {
            single(cx, field, read, path).await
        };

        match value {
            Ok(value) => return value,
            // The read is retried with the current views.
            Err(error) if !is_again && error.shows_change() => {
                boxed_rare(|| cx.database.look()).await;
                is_again = true;
            }
            Err(error) => return boxed_rare(|| failed(cx, field, read, error, path)).await,
        }
    }
}

/// Completes a field with methods below it, which need whole rows.
async fn write_full_rows(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> CompletedValue {
    let db = cx.context.db();
    let rows = |careful| {
        typed(
            db,
            Reader::Pool(cx.database, cx.session()),
            read,
            careful,
            None,
        )
    };

    let result = match cx.database.following(|| rows(false)).await {
        Err(error) if error.is_of_data() => rows(cx.careful(&error).careful).await,
        result => result,
    };

    match result {
        Ok((rows, whole)) => {
            let decoded = Decoded::new(
                cx.model,
                &whole,
                (0..rows.len()).map(|row| Cells::Nth(&rows, row)),
            );
            complete_typed(cx, field, read.shape, &decoded, path).await
        }
        Err(error) => away(cx, field, read.shape, error, path),
    }
}

/// Completes a field whose read failed. If a value in a row caused the error, the other values are
/// read without it.
async fn failed(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    error: DbError,
    path: &Path<'_>,
) -> CompletedValue {
    if !error.is_of_data() {
        return away(cx, field, read.shape, error, path);
    }

    let cx = &cx.careful(&error);
    let again = async {
        let catalog = cx.database.catalog().await?;
        let (statement, shape) = statement_cache::anew(cx, &catalog, field, read)?;
        let mut rows: Vec<Row> = Vec::new();
        cx.database
            .stream(cx.session(), &statement, &mut rows)
            .await?;
        Ok::<_, DbError>((rows, shape))
    };

    match again.await {
        Ok((rows, shape)) => rows_of(cx, field, read, &shape, rows, path)
            .unwrap_or_else(|error| CompletedValue::failed(cx, &error.into_error(), field, path)),
        Err(error) => CompletedValue::failed(cx, &error.into_error(), field, path),
    }
}

fn rows_of(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    shape: &RowShape,
    rows: Vec<Row>,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    if read.shape == Shape::List {
        let Some(mut list) = RowList::new(cx, field, shape, path, rows.len()) else {
            let error = Error::internal("rows are asked for, and the field is not a list");
            return Ok(CompletedValue::failed(cx, &error, field, path));
        };
        rows.into_iter().for_each(|row| list.row(row));
        return list.finish();
    }

    CompletedValue::walk_rows(cx, (field, path), 0, |walk, out| match rows.first() {
        None if read.shape == Shape::One => walk.failed(&not_found(field), field, path, out),
        row => write_row(walk, field, shape, row, path, out),
    })
}

/// Completes the rows of a list as they arrive.
async fn list(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let catalog = cx.database.catalog().await?;
    let (mut statement, shape, without_tiebreaker) =
        statement_cache::of_list(cx, &catalog, field, read)?;
    let limit = read
        .page
        .map_or(0, |page| usize::try_from(page.limit).unwrap_or(0));
    let Some(mut list) = RowList::new(cx, field, &shape, path, limit) else {
        return Ok(CompletedValue::failed(
            cx,
            &Error::internal("rows are asked for, and the field is not a list"),
            field,
            path,
        ));
    };

    if let (Some(without_tiebreaker), Some(page)) = (&without_tiebreaker, read.page) {
        let mut rows = without_tiebreaker.page(list, page);
        cx.database
            .stream(cx.session(), &statement, &mut rows)
            .await?;
        let is_whole;
        (list, is_whole) = rows.finish();
        if is_whole {
            return list.finish();
        }

        // The rows of the first read are discarded, so the result comes from a single statement.
        statement = statement_cache::statement(cx, &catalog, field, read)?.0;
    }

    cx.database
        .stream(cx.session(), &statement, &mut list)
        .await?;

    list.finish()
}

async fn single(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    // In a block, as the guard of the catalog must not be held across an `await`.
    let (statement, shape) = {
        // Nearly always, without a future that waits.
        if !cx.database.is_up() {
            boxed_rare(|| cx.database.catalog_now()).await?;
        }

        let catalog = cx.database.catalog_at_hand();
        statement_cache::statement(
            cx,
            catalog.as_ref().ok_or(DbError::Unreachable)?,
            field,
            read,
        )?
    };

    let mut row = None;
    cx.database
        .stream(cx.session(), &statement, &mut row)
        .await?;

    // Numbers get longer as text, and the JSON of the root surrounds the row.
    let keys: usize = field
        .children
        .iter()
        .flat_map(|set| &set.fields)
        .map(|field| field.prefix.len() + 4)
        .sum();

    let size = row.as_ref().map_or(0, Row::raw_size_bytes);

    CompletedValue::walk_rows(cx, (field, path), size + keys + AROUND, |walk, out| {
        if read.shape == Shape::One && row.is_none() {
            return walk.failed(&not_found(field), field, path, out);
        }
        write_row(walk, field, &shape, row.as_ref(), path, out)
    })
}

/// Completes a failed read. In development, an unreachable database gives empty results, so that a
/// client can be built first.
#[cold]
fn away(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    shape: Shape,
    error: DbError,
    path: &Path<'_>,
) -> CompletedValue {
    // A response with placeholders must not be cached.
    if cx.development && matches!(error, DbError::Unreachable) {
        cx.context.request.note_incomplete();
    }

    match (&error, shape) {
        (DbError::Unreachable, Shape::List) if cx.development => {
            CompletedValue::walk(cx, |_, out| {
                out.extend_from_slice(b"[]");
                Ok(())
            })
        }
        (DbError::Unreachable, Shape::Optional) if cx.development => {
            CompletedValue::walk(cx, |_, out| {
                out.extend_from_slice(b"null");
                Ok(())
            })
        }
        _ => CompletedValue::failed(cx, &error.into_error(), field, path),
    }
}
