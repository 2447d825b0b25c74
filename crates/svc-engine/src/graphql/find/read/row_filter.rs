//! Row filters: the only place that adds the filter of an admission to reads.

use std::mem::replace;

use crate::repository::Db;
use crate::sql::{Filter, RowFilter};
use svc_core::schema::TypeIndex;
use svc_core::{Error, ErrorCode};
use svc_postgres::DbError;

/// Combines a filter for rows of a type with the row filter of the root field.
pub(super) fn restrict(filter: &mut Filter, db: &Db, row: TypeIndex) {
    let Some(row_filter) = row_filter(db, row) else {
        return;
    };
    row_filter.apply();

    // Neither filter can remove conditions of the other. The policy's filter comes first:
    // conditions that may fail must not be evaluated on rows that it hides.
    let own = replace(filter, Filter::All(Vec::new()));
    *filter = Filter::All(vec![
        Filter::Strict(Box::new(row_filter.filter.clone())),
        own,
    ]);
}

/// Returns the filter of the running root field, if it covers rows of this type.
fn row_filter(db: &Db, row: TypeIndex) -> Option<&RowFilter> {
    db.row_filter
        .as_deref()
        .filter(|row_filter| row_filter.covers(&db.app.model, row))
}

/// Rejects a read if its scope and its row filter restrict the same column, as the intended one is
/// ambiguous.
pub(super) fn check_scopes(db: &Db, row: TypeIndex, scoped: &[String]) -> Result<(), DbError> {
    let Some(row_filter) = row_filter(db, row).filter(|_| !scoped.is_empty()) else {
        return Ok(());
    };

    let mut both: Vec<&str> = row_filter
        .columns
        .iter()
        .filter(|column| scoped.contains(column))
        .map(String::as_str)
        .collect();

    if both.is_empty() {
        return Ok(());
    }

    both.sort_unstable();
    both.dedup();
    let message =
        "the filters of the policy and of the service name the same columns, so nothing is read";

    Err(DbError::refused(
        Error::new(ErrorCode::FilterConflict, message).with_extension("columns", both),
    ))
}
