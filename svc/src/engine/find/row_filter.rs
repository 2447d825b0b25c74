//! Row filters: the one place where the filter of an admission gets into reads.

use super::read::Read;
use crate::postgres::DbError;
use crate::repository::Db;
use crate::schema::TypeIndex;
use crate::sql::{Filter, RowFilter};
use crate::{Error, ErrorCode};

impl Read {
    /// The read as far as the row filter of the root field lets it. Every read of a root field passes here: rows, single
    /// rows, pages, totals, `exists`, aggregates and groups.
    pub(super) fn filtered(mut self, db: &Db) -> Self {
        if let Some(row_filter) = row_filter(db, self.row) {
            // Neither side can take anything of the other away.
            self.filter = Filter::All(vec![self.filter, row_filter.filter.clone()]);
        }
        self
    }
}

/// The filter of the root field that runs, if it is for rows of this type.
fn row_filter(db: &Db, row: TypeIndex) -> Option<&RowFilter> {
    db.row_filter.as_deref().filter(|row_filter| row_filter.row == row)
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
