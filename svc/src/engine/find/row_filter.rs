//! Row filters: the one place where the filter of an admission gets into reads.

use super::read::Read;
use crate::repository::Db;
use crate::sql::Filter;

impl Read {
    /// The read as far as the row filter of the root field lets it. Every read of a root field passes here: rows, single
    /// rows, pages, totals, `exists`, aggregates and groups.
    pub(super) fn filtered(mut self, db: &Db) -> Self {
        if let Some(row_filter) = db.row_filter.as_deref().filter(|row_filter| row_filter.row == self.row) {
            // Neither side can take anything of the other away.
            self.filter = Filter::All(vec![self.filter, row_filter.filter.clone()]);
        }
        self
    }
}
