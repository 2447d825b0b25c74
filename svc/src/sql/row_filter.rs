//! The rows of a type that a policy leaves to a root field.

use super::Filter;
use crate::schema::TypeIndex;

/// A filter of a policy: which rows of a type a root field may read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowFilter {
    /// The type of the root field's rows.
    pub(crate) row: TypeIndex,
    pub(crate) filter: Filter,
    /// The columns whose values the policy fixes; nobody else may.
    pub(crate) columns: Vec<String>,
}
