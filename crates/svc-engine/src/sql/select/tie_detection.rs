//! The columns that distinguish the rows of a page, so that its order can omit the unique last key.

use super::query::{Query, Selected};
use crate::sql::expr::{Named, RowScope, Scope, named};
use crate::sql::ir::Order;
use crate::sql::{Builder, Views};
use svc_core::schema::TypeKind;
use svc_postgres::{ColumnType, DbError};

/// The columns among the order keys that differ in two rows only if the rows sort differently.
/// `None` if the page needs no unique last key, or if the selected values cannot distinguish its
/// rows.
///
/// All keys must be columns: only for columns is there an index whose order an additional key would
/// break. No row may have a list below it, because reading the lists of the rows next to the page
/// costs more than the sort.
///
/// # Errors
/// If the view is unknown.
pub(crate) fn distinguishing_columns(
    views: Views<'_>,
    query: &Query,
) -> Result<Option<Vec<String>>, DbError> {
    let mut builder = Builder::new(views);
    let rows = builder.rows(query.row, 0)?;
    let scope = Scope::Row(rows.clone());
    let is_page = query.page.is_some() && query.past.is_empty() && !query.backward;
    let is_complete = builder.order_keys(&scope, query).len() == query.order.len();

    if !is_page || is_complete || query.list.iter().any(reads_many) {
        return Ok(None);
    }

    let mut columns: Vec<String> = Vec::new();
    for key in &query.order {
        let Some((name, column)) = builder.plain_column(&rows, &scope, key) else {
            return Ok(None);
        };
        if column.is_exact && !builder.is_enum(&scope, name) && !columns.contains(name) {
            columns.push(name.clone());
        }
    }

    Ok((!columns.is_empty()).then_some(columns))
}

/// Whether the field reads many rows per row, at any depth.
fn reads_many(selected: &Selected) -> bool {
    let Selected::Related(relation, part) = selected else {
        return false;
    };
    relation.is_many() || part.query().list.iter().any(reads_many)
}

impl<'a> Builder<'a> {
    /// The view column of a key that orders by the bare column.
    fn plain_column<'k>(
        &mut self,
        rows: &RowScope<'a>,
        scope: &Scope<'a>,
        key: &'k Order,
    ) -> Option<(&'k String, &'a ColumnType)> {
        let ([name], true) = (key.column.path.as_slice(), key.is_of_value()) else {
            return None;
        };
        let column = rows.source.columns.get(name)?;
        let operand = self.operand(scope, &key.column).ok()?;

        // A cast or a mask may give two different values the same place in the order.
        (operand.sql == rows.column(name)).then_some((name, column))
    }

    /// Whether a field is an enum, which has so few values that duplicates are certain.
    fn is_enum(&self, scope: &Scope<'_>, name: &str) -> bool {
        let Some(Named::Stored(stored)) = named(self.model, scope.object(), name) else {
            return false;
        };
        matches!(self.model.types[stored.named].kind, TypeKind::Enum(_))
    }
}
