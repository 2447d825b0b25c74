//! Planned rows: from a field's selection and arguments to one statement, and from its rows to bytes.

mod aggregate;
mod check;
mod columns;
mod conditions;
mod connection;
mod cursor;
mod read;
mod relation;
mod ties;
mod whole;
mod written;

pub(crate) use aggregate::{computed, group_counts};
pub(crate) use check::check_arguments;
pub(crate) use connection::typed_slice;
pub(crate) use relation::write_relation;
pub(crate) use whole::WholeRows;
pub(crate) use written::WrittenStatements;

use futures_util::FutureExt as _;
use tokio_postgres::Row;

use aggregate::write_aggregate;
use connection::{PageRead, write_page};
use read::Read;

use super::Limits;
use super::complete::{Cells, Piece, RowList, RowShape, write_row};
use super::env::Env;
use super::path::Path;
use super::plan::{Calls, PlanField};
use super::typed::{Decoded, complete_typed};
use crate::Error;
use crate::authz::Pass;
use crate::db::{
    ConnectionSpec, Database, Db, DbError, FindSpec, Part, Query, Reader, RowSink as _, Rows, Selected, Statement,
};
use crate::json::ExactJson;
use crate::schema::{Model, PlannedMeta, Shape, TypeIndex};

/// About how long a root field's key is, with what stands around it.
const AROUND: usize = 64;

/// Answers a root field without a body. What is not the usual list is boxed, so that the future of a list stays small:
/// it is moved for each request.
pub(crate) async fn write_planned(
    env: &Env<'_>,
    _: &Pass,
    field: &PlanField,
    planned: PlannedMeta,
    row: TypeIndex,
    path: &Path<'_>,
) -> Piece {
    let piece = match planned.shape {
        Shape::Connection => match Read::connection(env, field, row) {
            Ok(page) => page_following(env, field, page, path).boxed().await,
            Err(error) => Err(error),
        },
        Shape::Aggregate => match Read::arguments(env, field, row, planned.shape) {
            Ok(read) => aggregate_following(env, field, read, path).boxed().await,
            Err(error) => Err(error),
        },
        _ => match Read::planned(env, field, planned, row) {
            Ok(read) => return write_read(env, field, read, path).await,
            Err(error) => Err(error),
        },
    };
    piece.unwrap_or_else(|error| Piece::failed(env, &error.into_error(), field, path))
}

async fn page_following(env: &Env<'_>, field: &PlanField, page: PageRead, path: &Path<'_>) -> Result<Piece, DbError> {
    let page = &page;
    env.database.following(|| write_page(env, field, page.clone(), path)).await
}

async fn aggregate_following(env: &Env<'_>, field: &PlanField, read: Read, path: &Path<'_>) -> Result<Piece, DbError> {
    let read = &read;
    env.database.following(|| write_aggregate(env, field, read, path)).await
}

/// Answers a field whose resolver returned a page.
pub(crate) async fn write_connection(env: &Env<'_>, field: &PlanField, spec: ConnectionSpec, path: &Path<'_>) -> Piece {
    let piece = match Read::all(env.model, spec.find) {
        Ok(read) => page_following(env, field, PageRead { read, page: spec.page }, path).await,
        Err(error) => Err(error),
    };
    piece.unwrap_or_else(|error| Piece::failed(env, &error.into_error(), field, path))
}

/// Answers a field whose resolver returned aggregates.
pub(crate) async fn write_computed(env: &Env<'_>, field: &PlanField, find: FindSpec, path: &Path<'_>) -> Piece {
    let piece = match Read::all(env.model, find) {
        Ok(read) => aggregate_following(env, field, read, path).await,
        Err(error) => Err(error),
    };
    piece.unwrap_or_else(|error| Piece::failed(env, &error.into_error(), field, path))
}

/// Answers a field whose resolver returned a query.
pub(crate) async fn write_find(env: &Env<'_>, field: &PlanField, find: FindSpec, path: &Path<'_>) -> Piece {
    let read = Read::find(env.model, env.limits, find, if field.ty.is_list() { Shape::List } else { Shape::Optional });
    match read {
        Ok(read) => write_read(env, field, read, path).await,
        Err(error) => Piece::failed(env, &error.into_error(), field, path),
    }
}

/// Methods need whole rows.
async fn write_whole(env: &Env<'_>, field: &PlanField, read: &Read, path: &Path<'_>) -> Piece {
    let rows = |careful| typed(env.database, Reader::Pool(env.database, env.session()), env.model, read, careful);
    let result = match env.database.following(|| rows(false)).await {
        Err(error) if error.is_of_data() => rows(env.careful(&error).careful).await,
        result => result,
    };
    match result {
        Ok((rows, whole)) => {
            let decoded = Decoded::new(env.model, &whole, (0..rows.len()).map(|row| Cells::Nth(&rows, row)));
            complete_typed(env, field, read.shape, &decoded, path).await
        }
        Err(error) => away(env, field, read.shape, error, path),
    }
}

async fn write_read(env: &Env<'_>, field: &PlanField, read: Read, path: &Path<'_>) -> Piece {
    if field.children.calls() > Calls::None {
        return write_whole(env, field, &read, path).boxed().await;
    }
    let piece = if read.shape == Shape::List {
        list(env, field, &read, path).await
    } else {
        single(env, field, &read, path).await
    };
    let piece = match piece {
        Err(error) if error.shows_change() => again(env, field, &read, path).boxed().await,
        piece => piece,
    };
    match piece {
        Ok(piece) => piece,
        Err(error) => failed(env, field, &read, error, path).boxed().await,
    }
}

/// A read that failed; when a value in a row did that, the others are read without it.
async fn failed(env: &Env<'_>, field: &PlanField, read: &Read, error: DbError, path: &Path<'_>) -> Piece {
    if !error.is_of_data() {
        return away(env, field, read.shape, error, path);
    }
    let env = &env.careful(&error);
    let again = async {
        let catalogue = env.database.catalogue().await?;
        let (statement, shape) = written::anew(env, &catalogue, field, read)?;
        let mut rows: Vec<Row> = Vec::new();
        env.database.stream(env.session(), &statement, &mut rows).await?;
        Ok::<_, DbError>((rows, shape))
    };
    match again.await {
        Ok((rows, shape)) => rows_of(env, field, read, &shape, rows, path)
            .unwrap_or_else(|error| Piece::failed(env, &error.into_error(), field, path)),
        Err(error) => Piece::failed(env, &error.into_error(), field, path),
    }
}

fn rows_of(
    env: &Env<'_>,
    field: &PlanField,
    read: &Read,
    shape: &RowShape,
    rows: Vec<Row>,
    path: &Path<'_>,
) -> Result<Piece, DbError> {
    if read.shape == Shape::List {
        let Some(mut list) = RowList::new(env, field, shape, path, rows.len()) else {
            let error = Error::internal("rows are asked for, and the field is no list");
            return Ok(Piece::failed(env, &error, field, path));
        };
        rows.into_iter().for_each(|row| list.row(row));
        return list.finish();
    }
    Piece::walk_rows(env, 0, |walk, out| match rows.first() {
        None if read.shape == Shape::One => walk.failed(&not_found(field), field, path, out),
        row => write_row(walk, field, shape, row, path, out),
    })
}

/// Reads once more, after a look at what the views are like now.
async fn again(env: &Env<'_>, field: &PlanField, read: &Read, path: &Path<'_>) -> Result<Piece, DbError> {
    env.database.look().await;
    if read.shape == Shape::List { list(env, field, read, path).await } else { single(env, field, read, path).await }
}

/// The rows of a list, as they arrive.
async fn list(env: &Env<'_>, field: &PlanField, read: &Read, path: &Path<'_>) -> Result<Piece, DbError> {
    let catalogue = env.database.catalogue().await?;
    let (mut statement, shape, tie_free) = written::of_list(env, &catalogue, field, read)?;
    let limit = read.page.map_or(0, |page| usize::try_from(page.limit).unwrap_or(0));
    let Some(mut list) = RowList::new(env, field, &shape, path, limit) else {
        return Ok(Piece::failed(env, &Error::internal("rows are asked for, and the field is no list"), field, path));
    };
    if let (Some(tie_free), Some(page)) = (&tie_free, read.page) {
        let mut rows = tie_free.page(list, page);
        env.database.stream(env.session(), &statement, &mut rows).await?;
        match rows.settled() {
            Ok(list) => return list.finish(),
            // Nothing of the first read is left, so the answer is that of one statement.
            Err(begun) => list = begun,
        }
        statement = written::statement(env, &catalogue, field, read)?.0;
    }
    env.database.stream(env.session(), &statement, &mut list).await?;
    list.finish()
}

async fn single(env: &Env<'_>, field: &PlanField, read: &Read, path: &Path<'_>) -> Result<Piece, DbError> {
    let (statement, shape) = {
        let catalogue = env.database.catalogue_now().await?;
        written::statement(env, catalogue.as_ref().ok_or(DbError::Unreachable)?, field, read)?
    };
    let mut row = None;
    env.database.stream(env.session(), &statement, &mut row).await?;
    // Numbers get longer as text, and the root stands around the row.
    let keys: usize = field.children.iter().flat_map(|set| &set.fields).map(|field| field.prefix.len() + 4).sum();
    let size = row.as_ref().map_or(0, Row::raw_size_bytes);
    Piece::walk_rows(env, size + keys + AROUND, |walk, out| {
        if read.shape == Shape::One && row.is_none() {
            return walk.failed(&not_found(field), field, path, out);
        }
        write_row(walk, field, &shape, row.as_ref(), path, out)
    })
}

pub(super) fn not_found(field: &PlanField) -> Error {
    Error::with_code("NOT_FOUND", format!("`{}` found no row", field.name))
}

/// A failed read. In development a database that is away gives empty results, so that a client can be built first.
fn away(env: &Env<'_>, field: &PlanField, shape: Shape, error: DbError, path: &Path<'_>) -> Piece {
    match (&error, shape) {
        (DbError::Unreachable, Shape::List) if env.development => Piece::walk(env, |_, out| {
            out.extend_from_slice(b"[]");
            Ok(())
        }),
        (DbError::Unreachable, Shape::Optional) if env.development => Piece::walk(env, |_, out| {
            out.extend_from_slice(b"null");
            Ok(())
        }),
        _ => Piece::failed(env, &error.into_error(), field, path),
    }
}

/// All stored fields of the rows.
async fn typed(
    database: &Database,
    reader: Reader<'_>,
    model: &Model,
    read: &Read,
    careful: bool,
) -> Result<(Rows, WholeRows), DbError> {
    let catalogue = database.catalogue().await?;
    let (list, whole) = WholeRows::new(model, &catalogue, read.row)?;
    let statement = Statement::rows(model, &catalogue, &read.clone().reading(list, careful))?;
    Ok((reader.fetch(&statement).await?, whole))
}

/// Typed rows for a resolver that awaits its query. Without a limit of its own, a query that finds more rows than
/// a page may have is an error, as half of them would be a wrong answer.
pub(crate) async fn typed_rows(db: &Db, reader: Reader<'_>, find: &FindSpec) -> Result<Vec<ExactJson>, Error> {
    let most = i64::from(db.app.limits.max_page);
    let (limits, unlimited) = match find.limit {
        Some(_) => (Limits::clone(&db.app.limits), false),
        None => (Limits { max_page: db.app.limits.max_page.saturating_add(1), ..Limits::clone(&db.app.limits) }, true),
    };
    let find = FindSpec { limit: find.limit.or(Some(most + 1)), ..find.clone() };
    let read = Read::find(&db.app.model, &limits, find, Shape::List).map_err(DbError::into_error)?;
    let typed = match reader {
        Reader::Pool(database, session) => {
            let rows = || typed(database, Reader::Pool(database, session), &db.app.model, &read, false);
            database.following(rows).await
        }
        // PostgreSQL refuses whatever follows an error in a transaction.
        reader => {
            let rows = typed(&db.app.database, reader, &db.app.model, &read, false).await;
            rows.inspect_err(|error| {
                if error.shows_change() {
                    db.app.database.may_have_changed();
                }
            })
        }
    };
    let (rows, whole) = typed.map_err(DbError::into_error)?;
    if unlimited && rows.len() as i64 > most {
        return Err(Error::internal(format!("a query found more than {most} rows; give it a `.limit(…)`")));
    }
    (0..rows.len()).map(|row| whole.object(Cells::Nth(&rows, row))).collect()
}

/// Asks all rows that a query matches together: how many there are, or whether there is one.
pub(crate) async fn total(db: &Db, find: &FindSpec, part: fn(Query) -> Part) -> Result<i64, Error> {
    let ask = || async move {
        let read = Read::all(&db.app.model, find.clone())?;
        let mut query = Query::new(read.row, read.filter);
        query.list.push(Selected::Count);
        if matches!(part(query.clone()), Part::Exists(_)) {
            query.list.clear();
        }
        let catalogue = db.app.database.catalogue().await?;
        let rows =
            db.app.database.fetch(db.session(), &Statement::parts(&db.app.model, &catalogue, &[part(query)])?).await?;
        // A bigint has eight bytes, a Boolean one.
        let bytes = rows.cell(0, 0).unwrap_or_default();
        Ok::<_, DbError>(bytes.iter().fold(0, |value, byte| (value << 8) | i64::from(*byte)))
    };
    db.app.database.following(ask).await.map_err(DbError::into_error)
}
