//! Row filters: the one place where the filter of an admission gets into reads.

use crate::postgres::DbError;
use crate::repository::Db;
use crate::schema::TypeIndex;
use crate::sql::{Filter, RowFilter};
use crate::{Error, ErrorCode};

/// A filter of rows of a type, as far as the row filter of the root field lets them be read.
pub(super) fn filtered(filter: Filter, db: &Db, row: TypeIndex) -> Filter {
    match row_filter(db, row).inspect(|row_filter| row_filter.apply()) {
        // Neither side can take anything of the other away. That of the policy comes first, as no other is applied to
        // rows that it keeps back where that may fail.
        Some(row_filter) => Filter::All(vec![Filter::Strict(Box::new(row_filter.filter.clone())), filter]),
        None => filter,
    }
}

/// The filter of the root field that runs, if it covers rows of this type.
fn row_filter(db: &Db, row: TypeIndex) -> Option<&RowFilter> {
    db.row_filter.as_deref().filter(|row_filter| row_filter.covers(&db.app.model, row))
}

/// Refuses a read whose scope and whose row filter fix the same column: which of the two was meant is not known.
pub(super) fn check_scopes(db: &Db, row: TypeIndex, scoped: &[String]) -> Result<(), DbError> {
    let Some(row_filter) = row_filter(db, row).filter(|_| !scoped.is_empty()) else { return Ok(()) };
    let mut both: Vec<&str> =
        row_filter.columns.iter().filter(|column| scoped.contains(column)).map(String::as_str).collect();
    if both.is_empty() {
        return Ok(());
    }
    both.sort_unstable();
    both.dedup();
    let message = "the filters of the policy and of the service name the same columns, so nothing is read";
    Err(DbError::refused(Error::new(ErrorCode::FilterConflict, message).with_extension("columns", both)))
}
