//! Mutations that cannot write their tables.

use super::{Finding, Severity};
use crate::engine::{Unwritable, unwritable};
use crate::postgres::Catalogue;
use crate::schema::Model;

/// The mutations whose tables lack a column or an index, or have a column of another type.
pub(super) fn unwritable_tables(model: &Model, catalogue: &Catalogue) -> Vec<Finding> {
    let broken = unwritable(model, catalogue).map(|Unwritable { field, table, cause, remedy }| Finding {
        severity: Severity::Fault,
        source: table.to_owned(),
        field: format!("Mutation.{field}"),
        cause: format!("`{field}` cannot write: {cause}"),
        remedy,
    });
    broken.collect()
}
