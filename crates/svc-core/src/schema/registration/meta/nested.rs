//! Metadata of input object fields that contain rows of other tables, as registered by the macros.

use std::any::TypeId;

use crate::schema::SvcType;

/// The effect of an input object's field on rows of another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedVerb {
    /// Adds one row, referenced by the outer one.
    Row,
    /// Adds rows that refer to the outer one, or replaces the rows that referred to it.
    Rows,
    /// Makes existing rows refer to the outer one.
    Links,
}

/// The rows of another table in a field of an input object.
#[derive(Debug, Clone, Copy)]
pub struct NestedMeta {
    /// The effect of the field.
    pub verb: NestedVerb,
    /// `table` or `schema.table`.
    pub table: &'static str,
    /// The column with the reference: in the outer table for [`Row`](NestedVerb::Row), otherwise in
    /// the nested one.
    pub column: &'static str,
    /// The referenced column; `None` for the key of its table.
    pub references: Option<&'static str>,
    /// The column of the nested table that its view exposes as `id`.
    pub key: &'static str,
    /// The Rust type whose row policies apply to the rows.
    pub of: Option<fn() -> TypeId>,
}

/// Returns the Rust type whose row policies apply to the rows.
pub fn row_type<T: SvcType>() -> TypeId {
    TypeId::of::<T>()
}
