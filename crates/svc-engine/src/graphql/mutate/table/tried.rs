//! Rows that a statement attempts to write, recorded in case a constraint stops it.

use std::sync::Arc;

use super::level::{Level, NewRow, Origin};
use svc_core::exact_json::Fields;
use svc_core::schema::TypeIndex;
use svc_postgres::Table;

/// Rows under policies or a row filter that a statement attempts to write.
pub(super) struct Tried<'a> {
    pub(super) ty: TypeIndex,
    pub(super) name: &'a str,
    pub(super) key: &'a str,
    pub(super) table: Table<'a>,
    pub(super) rows: Vec<TriedRow>,
}

/// A row that a statement attempts to write.
pub(super) struct TriedRow {
    /// Shared by rows that get the same values, which may be large.
    pub(super) columns: Arc<Fields>,
    pub(super) origin: Origin,
    /// The path in the arguments, for a row of a nested table.
    pub(super) path: Option<String>,
}

impl<'a> Tried<'a> {
    /// Records these rows if row policies or a row filter apply to them.
    pub(super) fn new(level: &Level<'a>, rows: &[NewRow<'a>]) -> Option<Self> {
        let ty = level.restricted?;
        let row = |row: &NewRow<'a>| TriedRow {
            columns: Arc::new(row.columns.clone()),
            origin: row.origin.clone(),
            path: level.is_nested().then(|| row.path.clone()),
        };

        Some(Self::of(level, ty, rows.iter().map(row).collect()))
    }

    /// Records that all existing rows with these keys get the same values, if row policies or a row
    /// filter apply to them.
    pub(super) fn same(level: &Level<'a>, values: &Fields, keys: &[String]) -> Option<Self> {
        let ty = level.restricted?;
        let columns = Arc::new(values.clone());
        let row = |key: &String| TriedRow {
            columns: columns.clone(),
            origin: Origin::There(key.clone()),
            path: None,
        };

        Some(Self::of(level, ty, keys.iter().map(row).collect()))
    }

    fn of(level: &Level<'a>, ty: TypeIndex, rows: Vec<TriedRow>) -> Self {
        Self {
            ty,
            name: level.name,
            key: level.key,
            table: level.table,
            rows,
        }
    }
}
