//! Expressions: columns, their types and casts, and the rows that they refer to.

mod aggregate;
pub(super) mod cast;
mod column;
mod computed_column;
pub(super) mod join_table;
mod operand;
mod scope;
mod try_cast;

pub(crate) use aggregate::value_form;
pub(crate) use cast::is_uuid;
pub use column::select_form;
pub(crate) use column::{ColumnForm, Select};
pub(super) use operand::Operand;
pub(super) use scope::{Named, RowScope, Scope, Tie, named};
