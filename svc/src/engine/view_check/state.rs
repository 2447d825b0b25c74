//! The state of the database, apart from its definitions: unpopulated views, and a database that is read-only.

use super::{Finding, Severity};
use crate::engine::written_tables;
use crate::postgres::Catalogue;
use crate::schema::Model;

/// The materialized views that reject reads because they have not been populated yet.
pub(super) fn unpopulated_views(catalogue: &Catalogue) -> Vec<Finding> {
    let unpopulated = catalogue.unpopulated().map(|source| Finding {
        severity: Severity::Fault,
        source: source.to_owned(),
        field: String::new(),
        cause: format!("the materialized view `{source}` has not been populated"),
        remedy: format!("REFRESH MATERIALIZED VIEW {source}"),
    });
    unpopulated.collect()
}

/// The tables that mutations write, if the database is read-only. Reads are still answered there.
pub(super) fn without_changes(model: &Model, catalogue: &Catalogue) -> Vec<Finding> {
    if !catalogue.is_read_only() {
        return Vec::new();
    }
    let written = written_tables(model).map(|written| Finding {
        severity: Severity::Hint,
        source: written.table.to_owned(),
        field: format!("Mutation.{}", written.field.name),
        cause: "the database is read only, as a standby is, or by `default_transaction_read_only`".to_owned(),
        remedy: "name the primary in the database URL, or several hosts with `target_session_attrs=read-write`"
            .to_owned(),
    });
    written.collect()
}
