//! Rows that a statement attempts to write, recorded in case a constraint stops it.

use super::level::{Level, NewRow, Origin};
use svc_core::exact_json::Fields;
use svc_core::schema::TypeIndex;
use svc_postgres::Table;

/// Rows under policies that a statement attempts to write.
pub(super) struct Tried<'a> {
    pub(super) ty: TypeIndex,
    pub(super) name: &'a str,
    pub(super) key: &'a str,
    pub(super) table: Table<'a>,
    pub(super) rows: Vec<TriedRow>,
}

/// A row that a statement attempts to write.
pub(super) struct TriedRow {
    pub(super) columns: Fields,
    pub(super) origin: Origin,
    /// The path in the arguments, for a row of a nested table.
    pub(super) path: Option<String>,
}

impl<'a> Tried<'a> {
    /// Records these rows if row policies apply to them.
    pub(super) fn new(level: &Level<'a>, rows: &[NewRow<'a>]) -> Option<Self> {
        let ty = level.governed?;
        let row = |row: &NewRow<'a>| TriedRow {
            columns: row.columns.clone(),
            origin: row.origin.clone(),
            path: level.is_nested().then(|| row.path.clone()),
        };

        Some(Self {
            ty,
            name: level.name,
            key: level.key,
            table: level.table,
            rows: rows.iter().map(row).collect(),
        })
    }
}
