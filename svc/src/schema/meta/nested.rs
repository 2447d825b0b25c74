//! Fields of input objects that hold rows of other tables, as macros register them.

use std::any::TypeId;

use crate::schema::SvcType;

/// The thing that a field of an input object does to rows of another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedVerb {
    /// Adds one row, to which the outer one refers.
    Row,
    /// Adds rows that refer to the outer one, or puts them in the place of those that did.
    Rows,
    /// Has rows that are there refer to the outer one.
    Links,
}

/// The rows of another table that a field of an input object holds.
#[derive(Debug, Clone, Copy)]
pub struct NestedMeta {
    /// The thing that is done.
    pub verb: NestedVerb,
    /// `table` or `schema.table`.
    pub table: &'static str,
    /// The column with the reference: of the outer table for one row, else of the nested one.
    pub column: &'static str,
    /// The column that it refers to; `None` for the key of its table.
    pub references: Option<&'static str>,
    /// The column of the nested table that its view has as `id`.
    pub key: &'static str,
    /// The Rust type whose row policies hold for the rows.
    pub of: Option<fn() -> TypeId>,
}

/// Returns the Rust type whose row policies hold for rows.
pub fn row_type<T: SvcType>() -> TypeId {
    TypeId::of::<T>()
}
