//! Planned rows: turns a field's selection and arguments into one statement, and its rows into
//! bytes of the response.

mod aggregate;
mod aggregated;
mod check;
mod columns;
mod computed;
mod conditions;
mod connection;
mod event;
mod full_rows;
mod groups;
mod having;
mod nodes;
mod read;
mod reads;
mod relation;
mod row_call;
mod row_filter;
mod row_function;
mod row_source;
mod statement_cache;
mod tiebreaker;
mod typed;

pub(crate) use check::check_arguments;
pub(crate) use columns::call_fault;
pub(crate) use computed::{computed, group_counts};
pub(crate) use connection::typed_slice;
pub(crate) use event::{EventFilter, EventRow, write_event};
pub(in crate::engine) use full_rows::{stored_fields, wanted_rows};
pub(crate) use nodes::write_nodes;
pub(in crate::engine) use read::default_key;
pub(crate) use reads::PlannedReads;
use relation::write_relation;
pub(crate) use row_call::{field_spec, row_functions};
pub(in crate::engine) use row_source::row_source;
pub(crate) use row_source::{row_sources, spec_of};

use futures_util::FutureExt as _;
use tokio_postgres::Row;

use aggregate::write_aggregate;
use connection::write_page;
use read::{PageRead, Read};
use row_source::rows_call;

use super::complete::{Cells, CompletedValue, Decoded, FullRows, RowList, RowShape, write_row};
use super::execution_context::ExecutionContext;
use super::path::Path;
use super::plan::{Admission, Calls, PlanField};
use crate::Error;
use crate::application::Limits;
use crate::json::ExactJson;
use crate::postgres::{DbError, Reader, RowSink as _, Rows, Statement};
use crate::repository::{ConnectionSpec, Db, FindSpec};
use crate::schema::{PlannedMeta, Shape, TypeIndex};
use crate::sql::{Query, Selected, Subquery};
use typed::complete_typed;

/// The approximate length of a root field's key, with the JSON around it.
const AROUND: usize = 64;

/// Resolves a root field without a body. All paths except the common list are boxed, to keep the
/// future of a list small: it is moved for each request.
pub(crate) async fn write_planned(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    planned: PlannedMeta,
    row: TypeIndex,
    path: &Path<'_>,
) -> CompletedValue {
    let field = admission.field();
    let from = match planned.source {
        None => None,
        Some(source) => match rows_call(cx, field, source, row).boxed().await {
            Ok(call) => Some(call),
            Err(error) => return CompletedValue::failed(cx, &error, field, path),
        },
    };

    let value = match planned.shape {
        Shape::Connection => match Read::connection(cx, field, row) {
            Ok(PageRead { read, page }) => {
                let read = read.reading_from(from).by_default(planned.order);
                page_following(cx, field, PageRead { read, page }, path)
                    .boxed()
                    .await
            }
            Err(error) => Err(error),
        },
        Shape::Aggregate => match Read::planned(cx, field, planned.shape, row) {
            Ok(read) => {
                aggregate_following(cx, field, read.reading_from(from), path)
                    .boxed()
                    .await
            }
            Err(error) => Err(error),
        },
        _ => match Read::planned(cx, field, planned.shape, row) {
            Ok(read) => {
                let read = read.reading_from(from).by_default(planned.order);
                return write_read(cx, field, read, path).await;
            }
            Err(error) => Err(error),
        },
    };

    value.unwrap_or_else(|error| CompletedValue::failed(cx, &error.into_error(), field, path))
}

async fn page_following(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    page: PageRead,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let page = &page;
    cx.database
        .following(|| write_page(cx, field, page.clone(), path))
        .await
}

async fn aggregate_following(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let read = &read;
    cx.database
        .following(|| write_aggregate(cx, field, read, path))
        .await
}

/// Completes a field whose resolver returned a page.
async fn write_connection(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    spec: ConnectionSpec,
    path: &Path<'_>,
) -> CompletedValue {
    let value = match Read::all(cx.context.db(), spec.find) {
        Ok(read) => {
            page_following(
                cx,
                field,
                PageRead {
                    read,
                    page: spec.page,
                },
                path,
            )
            .await
        }
        Err(error) => Err(error),
    };

    value.unwrap_or_else(|error| CompletedValue::failed(cx, &error.into_error(), field, path))
}

/// Completes a field whose resolver returned aggregates.
async fn write_computed(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    find: FindSpec,
    path: &Path<'_>,
) -> CompletedValue {
    let value = match Read::all(cx.context.db(), find) {
        Ok(read) => aggregate_following(cx, field, read, path).await,
        Err(error) => Err(error),
    };
    value.unwrap_or_else(|error| CompletedValue::failed(cx, &error.into_error(), field, path))
}

/// Completes a field whose resolver returned a query.
async fn write_find(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    find: FindSpec,
    path: &Path<'_>,
) -> CompletedValue {
    let read = Read::find(
        cx.context.db(),
        cx.limits,
        find,
        if field.ty.is_list() {
            Shape::List
        } else {
            Shape::Optional
        },
    );

    match read {
        Ok(read) => write_read(cx, field, read, path).await,
        Err(error) => CompletedValue::failed(cx, &error.into_error(), field, path),
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

async fn write_read(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: Read,
    path: &Path<'_>,
) -> CompletedValue {
    if field.children.calls() > Calls::None {
        return write_full_rows(cx, field, &read, path).boxed().await;
    }

    let value = if read.shape == Shape::List {
        list(cx, field, &read, path).await
    } else {
        single(cx, field, &read, path).await
    };

    let value = match value {
        Err(error) if error.shows_change() => again(cx, field, &read, path).boxed().await,
        value => value,
    };

    match value {
        Ok(value) => value,
        Err(error) => failed(cx, field, &read, error, path).boxed().await,
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
        let catalogue = cx.database.catalogue().await?;
        let (statement, shape) = statement_cache::anew(cx, &catalogue, field, read)?;
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

/// Inspects the current views and retries the read.
async fn again(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    cx.database.look().await;
    if read.shape == Shape::List {
        list(cx, field, read, path).await
    } else {
        single(cx, field, read, path).await
    }
}

/// Completes the rows of a list as they arrive.
async fn list(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    read: &Read,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let catalogue = cx.database.catalogue().await?;
    let (mut statement, shape, without_tiebreaker) =
        statement_cache::of_list(cx, &catalogue, field, read)?;
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
        statement = statement_cache::statement(cx, &catalogue, field, read)?.0;
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
    let (statement, shape) = {
        let catalogue = cx.database.catalogue_now().await?;
        statement_cache::statement(
            cx,
            catalogue.as_ref().ok_or(DbError::Unreachable)?,
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

fn not_found(field: &PlanField) -> Error {
    Error::with_code("NOT_FOUND", format!("`{}` found no row", field.name))
}

/// Completes a failed read. In development, an unreachable database gives empty results, so that a
/// client can be built first.
fn away(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    shape: Shape,
    error: DbError,
    path: &Path<'_>,
) -> CompletedValue {
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

/// Reads all stored fields of the rows, or the `wanted` ones.
async fn typed(
    db: &Db,
    reader: Reader<'_>,
    read: &Read,
    careful: bool,
    wanted: Option<&[&str]>,
) -> Result<(Rows, FullRows), DbError> {
    let catalogue = db.app.database.catalogue().await?;
    let (list, whole) = wanted_rows(db.views(&catalogue), read.row, wanted)?;
    let statement = Statement::rows(db.views(&catalogue), &read.clone().reading(list, careful))?;
    Ok((reader.fetch(&statement).await?, whole))
}

/// Returns typed rows for a resolver that awaits its query. If a query without an explicit limit
/// finds more rows than the maximum page size, this is an error, as a truncated result would be
/// wrong.
pub(crate) async fn typed_rows(
    db: &Db,
    reader: Reader<'_>,
    find: &FindSpec,
    wanted: Option<&[&str]>,
) -> Result<Vec<ExactJson>, Error> {
    let most = i64::from(db.app.limits.max_page);
    let (limits, unlimited) = match find.limit {
        Some(_) => (Limits::clone(&db.app.limits), false),
        None => (
            Limits {
                max_page: db.app.limits.max_page.saturating_add(1),
                ..Limits::clone(&db.app.limits)
            },
            true,
        ),
    };

    let find = FindSpec {
        limit: find.limit.or(Some(most + 1)),
        ..find.clone()
    };

    let read = Read::find(db, &limits, find, Shape::List).map_err(DbError::into_error)?;
    let (rows, whole) = typed_following(db, reader, &read, wanted).await?;
    if unlimited && rows.len() as i64 > most {
        return Err(Error::internal(format!(
            "a query found more than {most} rows; give it a `.limit(…)`"
        )));
    }

    (0..rows.len())
        .map(|row| whole.object(Cells::Nth(&rows, row)))
        .collect()
}

/// Returns the readable values of a query's first row, for all stored fields or the `wanted` ones,
/// and the errors of values that do not match their types.
pub(crate) async fn read_row(
    db: &Db,
    find: &FindSpec,
    wanted: Option<&[&str]>,
) -> Result<Option<(ExactJson, Vec<(&'static str, Error)>)>, Error> {
    let read =
        Read::find(db, &db.app.limits, find.clone(), Shape::List).map_err(DbError::into_error)?;
    let (rows, fields) = typed_following(db, db.reader(), &read, wanted).await?;
    if rows.len() == 0 {
        return Ok(None);
    }

    let (row, errors) = fields.partial(Cells::Nth(&rows, 0));

    Ok(Some((
        row,
        errors
            .into_iter()
            .map(|(stored, error)| (stored, Error::internal(error.0)))
            .collect(),
    )))
}

/// Reads typed rows, following changes of the views.
async fn typed_following(
    db: &Db,
    reader: Reader<'_>,
    read: &Read,
    wanted: Option<&[&str]>,
) -> Result<(Rows, FullRows), Error> {
    let typed = match reader {
        Reader::Pool(database, session) => {
            let rows = || typed(db, Reader::Pool(database, session), read, false, wanted);
            database.following(rows).await
        }
        // No retry: PostgreSQL rejects all statements after an error in a transaction.
        reader => {
            let rows = typed(db, reader, read, false, wanted).await;
            rows.inspect_err(|error| {
                if error.shows_change() {
                    db.app.database.may_have_changed();
                }
            })
        }
    };

    typed.map_err(DbError::into_error)
}

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
        if matches!(subquery(query.clone()), Subquery::Exists(_)) {
            query.list.clear();
        }

        let catalogue = db.app.database.catalogue().await?;
        let rows = db
            .app
            .database
            .fetch(
                db.session(),
                &Statement::subqueries(db.views(&catalogue), &[subquery(query)])?,
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
