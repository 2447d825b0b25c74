//! Typed rows, for the methods below a field and for resolvers that await their queries.

use super::full::wanted_rows;
use crate::graphql::complete::{Cells, FullRows};
use crate::graphql::find::read::Read;
use crate::limits::Limits;
use crate::repository::{Db, FindSpec};
use crate::sql::select_rows;
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_core::schema::Shape;
use svc_postgres::{Catalog, DbError, Reader, Rows, Statement};

/// Reads all stored fields of the rows, or the `wanted` ones.
pub(super) async fn typed(
    db: &Db,
    reader: Reader<'_>,
    read: &Read,
    careful: bool,
    wanted: Option<&[&str]>,
) -> Result<(Rows, FullRows), DbError> {
    let catalog = db.app.database.catalog().await?;
    let (list, whole) = wanted_rows(db.views(&catalog), read.row, wanted)?;
    let statement = select_rows(db.views(&catalog), &read.clone().reading(list, careful))?;
    Ok((reader.fetch(&statement).await?, whole))
}

/// Returns the statement that reads the `wanted` stored fields of a query's rows. The caller bounds
/// the rows by the limit of the query, which may exceed the maximum page size.
pub(in crate::graphql) fn typed_statement(
    db: &Db,
    catalog: &Catalog,
    find: FindSpec,
    wanted: &[&str],
) -> Result<(Statement, FullRows), DbError> {
    let limits = Limits {
        max_page: u32::MAX,
        ..Limits::clone(&db.app.limits)
    };

    let read = Read::find(db, &limits, find, Shape::List)?;
    let views = db.views(catalog);
    let (list, whole) = wanted_rows(views, read.row, Some(wanted))?;
    let statement = select_rows(views, &read.reading(list, false))?;

    Ok((statement, whole))
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

    // Without a limit, one row more than the maximum is read, to notice a truncated result; the
    // raised maximum lets this page pass the check.
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
