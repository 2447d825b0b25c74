//! The columns that tell the rows of a page apart, so that its order may do without a last unique key.

use super::filter::Order;
use super::query::{Query, Selected};
use super::scope::{Named, RowScope, Scope, named};
use super::{Builder, Views};
use crate::postgres::{ColumnType, DbError};
use crate::schema::TypeKind;

/// The columns among the keys of an order in which two rows differ only if they sort apart. `None` when the page needs
/// no last unique key, or when its rows cannot be told apart by what is read of them.
///
/// All keys must be columns: only their index gives an order that a further key disturbs. And no row may have a list
/// below it: reading those of the rows next to the page costs more than the sort does.
///
/// # Errors
/// When the view is unknown.
pub(crate) fn telling_columns(views: Views<'_>, query: &Query) -> Result<Option<Vec<String>>, DbError> {
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
        let Some((name, column)) = builder.plain_column(&rows, &scope, key) else { return Ok(None) };
        if column.is_exact && !builder.is_enum(&scope, name) && !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    Ok((!columns.is_empty()).then_some(columns))
}

/// Whether many rows are read for one, at any depth.
fn reads_many(selected: &Selected) -> bool {
    let Selected::Related(relation, part) = selected else { return false };
    relation.is_many() || part.query().list.iter().any(reads_many)
}

impl<'a> Builder<'a> {
    /// The column of the view by which a key orders, when it orders by one as it is.
    fn plain_column<'k>(
        &mut self,
        rows: &RowScope<'a>,
        scope: &Scope<'a>,
        key: &'k Order,
    ) -> Option<(&'k String, &'a ColumnType)> {
        let ([name], true) = (key.column.path.as_slice(), key.is_of_value()) else { return None };
        let column = rows.source.columns.get(name)?;
        let operand = self.operand(scope, &key.column).ok()?;
        (operand.sql == rows.column(name)).then_some((name, column))
    }

    /// Whether a field has so few values that rows with the same one are certain.
    fn is_enum(&self, scope: &Scope<'_>, name: &str) -> bool {
        let Some(Named::Stored(stored)) = named(self.model, scope.object(), name) else { return false };
        matches!(self.model.types[stored.named].kind, TypeKind::Enum(_))
    }
}
