//! The seam to the driver: rows as bytes.

use tokio_postgres::Row;

use super::driver::Raw;

/// The rows of one statement, in PostgreSQL's binary format.
///
/// A row is one buffer, as it came, and the range of each column in it.
#[derive(Debug, Default)]
pub(crate) struct Rows(pub(super) Vec<Row>);

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes of a value; `None` is null.
    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        let value: Option<Raw<'_>> = self.0.get(row)?.try_get(column).ok()?;
        value.map(|Raw(bytes)| bytes)
    }
}
