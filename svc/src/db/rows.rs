//! The seam to the driver: rows as bytes.

use sqlx::postgres::PgRow;
use sqlx::{Row as _, ValueRef as _};

/// The rows of one statement, in PostgreSQL's binary format.
#[derive(Debug, Default)]
pub(crate) struct Rows(pub(super) Vec<PgRow>);

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes of a value; `None` is null.
    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        let value = self.0.get(row)?.try_get_raw(column).ok()?;
        if value.is_null() { None } else { value.as_bytes().ok() }
    }
}
