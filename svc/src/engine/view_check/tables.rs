//! Mutations that cannot write their tables.

use super::{Finding, Severity};
use crate::engine::{Unwritable, unwritable};
use crate::postgres::Catalogue;
use crate::schema::Model;

/// The mutations whose tables lack a column, or have one of another type.
pub(super) fn unwritable_tables(model: &Model, catalogue: &Catalogue) -> Vec<Finding> {
    let broken = unwritable(model, catalogue).map(|Unwritable { field, table, cause }| Finding {
        severity: Severity::Fault,
        source: table.to_owned(),
        field: format!("Mutation.{field}"),
        cause: format!("`{field}` cannot write: {cause}"),
        remedy: "add the column with a type that takes the values, or rename the field of the input".to_owned(),
    });
    broken.collect()
}
