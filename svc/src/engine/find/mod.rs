//! Planned rows: from a field's selection and arguments to one statement, and from its rows to bytes.

mod columns;
mod conditions;
mod read;

use columns::Columns;
use read::Read;

use super::Limits;
use super::complete::{Piece, RowShape, RowSource, write_rows};
use super::env::Env;
use super::path::Path;
use super::plan::{Calls, PlanField};
use super::typed::{complete_typed, objects, stored_fields};
use crate::Error;
use crate::authz::Pass;
use crate::db::{Database, Db, DbError, FindSpec, Rows, Session, Total};
use crate::schema::{Model, PlannedMeta, Shape, TypeIndex, TypeKind};

/// Answers a root field without a body.
pub(crate) async fn write_planned(
    env: &Env<'_>,
    _: &Pass,
    field: &PlanField,
    planned: PlannedMeta,
    row: TypeIndex,
    path: &Path<'_>,
) -> Piece {
    match Read::planned(env, field, planned, row) {
        Ok(read) => write_read(env, field, read, path).await,
        Err(error) => Piece::failed(env, &error, field, path),
    }
}

/// Answers a field whose resolver returned a query.
pub(crate) async fn write_find(env: &Env<'_>, field: &PlanField, find: FindSpec, path: &Path<'_>) -> Piece {
    let read = Read::find(env.model, env.limits, find, if field.ty.is_list() { Shape::List } else { Shape::Optional });
    match read {
        Ok(read) => write_read(env, field, read, path).await,
        Err(error) => Piece::failed(env, &error.into_error(), field, path),
    }
}

async fn write_read(env: &Env<'_>, field: &PlanField, read: Read, path: &Path<'_>) -> Piece {
    if field.children.calls() > Calls::None {
        // Methods need whole rows.
        return match typed(env.database, env.session(), env.model, &read).await {
            Ok(rows) => complete_typed(env, field, read.row, read.shape, rows, path).await,
            Err(error) => away(env, field, read.shape, error, path),
        };
    }
    match fetch(env, field, &read).await {
        Ok((rows, shape)) => {
            let missing = read.shape == Shape::One && rows.len() == 0;
            Piece::walk(env, |walk, out| {
                if missing {
                    return walk.failed(&not_found(field), field, path, out);
                }
                write_rows(walk, field, &shape, &rows, read.shape, path, out)
            })
        }
        Err(error) => away(env, field, read.shape, error, path),
    }
}

pub(super) fn not_found(field: &PlanField) -> Error {
    Error::with_code("NOT_FOUND", format!("`{}` found no row", field.name))
}

/// A failed read. In development a database that is away gives empty results, so that a client can be built first.
fn away(env: &Env<'_>, field: &PlanField, shape: Shape, error: DbError, path: &Path<'_>) -> Piece {
    match (&error, shape) {
        (DbError::Away, Shape::List) if env.development => Piece::walk(env, |_, out| {
            out.extend_from_slice(b"[]");
            Ok(())
        }),
        (DbError::Away, Shape::Optional) if env.development => Piece::walk(env, |_, out| {
            out.extend_from_slice(b"null");
            Ok(())
        }),
        _ => Piece::failed(env, &error.into_error(), field, path),
    }
}

async fn fetch(env: &Env<'_>, field: &PlanField, read: &Read) -> Result<(Rows, RowShape), DbError> {
    let source = env.database.source(read.source(env.model)?).await?;
    let mut columns = Columns::new(&source);
    let shape = columns.shape(env.model, field, read.row)?;
    let statement = read.statement(env.model, &source, &columns.finish().0)?;
    Ok((env.database.fetch(env.session(), &statement).await?, shape))
}

/// All stored fields of the rows as JSON objects with the stored names as keys.
async fn typed(
    database: &Database,
    session: &Session,
    model: &Model,
    read: &Read,
) -> Result<Vec<Result<serde_json::Value, Error>>, DbError> {
    let source = database.source(read.source(model)?).await?;
    let mut columns = Columns::new(&source);
    let fields = stored_fields(model, read.row);
    let is_abstract = matches!(model.types[read.row].kind, TypeKind::Abstract(_));
    let mut sources = Vec::new();
    for (stored, ty) in &fields {
        // A member of an interface may store what the others do not.
        match columns.stored(stored, Some(ty)) {
            Ok(source) => sources.push(source),
            Err(_) if is_abstract => sources.push(RowSource::Nothing),
            Err(error) => return Err(error),
        }
    }
    let type_name = if is_abstract { Some(columns.stored("__typename", None)?) } else { None };
    let (list, data) = columns.finish();
    let statement = read.statement(model, &source, &list)?;
    let rows = database.fetch(session, &statement).await?;
    Ok(objects(&rows, &fields, &sources, type_name, data))
}

/// Typed rows for a resolver that awaits its query. Without a limit of its own, a query that finds more rows than
/// a page may have is an error, as half of them would be a wrong answer.
pub(crate) async fn typed_rows(db: &Db, find: &FindSpec) -> Result<Vec<serde_json::Value>, Error> {
    let most = i64::from(db.limits.max_page);
    let (limits, unlimited) = match find.limit {
        Some(_) => (Limits::clone(&db.limits), false),
        None => (Limits { max_page: db.limits.max_page.saturating_add(1), ..Limits::clone(&db.limits) }, true),
    };
    let find = FindSpec { limit: find.limit.or(Some(most + 1)), ..find.clone() };
    let read = Read::find(&db.model, &limits, find, Shape::List).map_err(DbError::into_error)?;
    let rows = typed(&db.database, &db.session, &db.model, &read).await.map_err(DbError::into_error)?;
    if unlimited && rows.len() as i64 > most {
        return Err(Error::internal(format!("a query found more than {most} rows; give it a `.limit(…)`")));
    }
    rows.into_iter().collect()
}

/// Asks all rows that a query matches together.
pub(crate) async fn total(db: &Db, find: &FindSpec, total: Total) -> Result<i64, Error> {
    let ask = async {
        let read = Read::find(&db.model, &db.limits, FindSpec { limit: None, ..find.clone() }, Shape::List)?;
        let source = db.database.source(read.source(&db.model)?).await?;
        let rows = db.database.fetch(&db.session, &read.total(&db.model, &source, total)?).await?;
        // A bigint has eight bytes, a Boolean one.
        let bytes = rows.cell(0, 0).unwrap_or_default();
        Ok::<_, DbError>(bytes.iter().fold(0, |value, byte| (value << 8) | i64::from(*byte)))
    };
    ask.await.map_err(DbError::into_error)
}
