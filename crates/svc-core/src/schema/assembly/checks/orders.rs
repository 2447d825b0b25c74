//! Checks the default orders of pages, because cursors reveal the values that the rows are ordered
//! by.

use crate::schema::assembly::Builder;
use crate::schema::error::SchemaError;
use crate::schema::model::{
    EDGE, FieldDef, FieldKind, TypeIndex, TypeKind, gate_of, gate_of_stored, is_checked,
    member_fields,
};
use crate::schema::{OrderKey, Shape};

impl Builder {
    /// Checks that no cursor reveals a restricted value through the default order of its page.
    pub(in crate::schema::assembly) fn check_page_orders(&mut self) {
        let objects = self.types.iter().filter_map(|def| match &def.kind {
            TypeKind::Object(object) => Some(object),
            _ => None,
        });
        let fields = objects.flat_map(|object| object.fields.values());
        let pages = fields.filter_map(|field| Some((field, page_order(field)?)));
        let mut told = Vec::new();

        for (field, order) in pages {
            // Only the default order is checked here: the arguments of other orders have their own
            // gates.
            let closed = order.keys.iter().filter(|key| self.is_closed(&order, key));
            told.extend(closed.map(|key| SchemaError::ToldByOrder {
                key: key.column.to_owned(),
                path: field.path.clone(),
            }));
        }

        self.errors.extend(told);
    }

    fn is_closed(&self, order: &PageOrder, key: &OrderKey) -> bool {
        let of_edge = key
            .column
            .strip_prefix(EDGE)
            .and_then(|rest| rest.strip_prefix('.'));
        match (of_edge, order.joining) {
            (Some(path), Some(joining)) => self.is_gated(joining, path),
            _ => self.is_gated(order.row, key.column),
        }
    }

    /// Whether a path of columns and relations contains a restricted field.
    fn is_gated(&self, row: TypeIndex, path: &str) -> bool {
        let (first, rest) = path
            .split_once('.')
            .map_or((path, None), |(first, rest)| (first, Some(rest)));
        let holds = |field: &FieldDef| match field.kind {
            FieldKind::Stored { stored, .. } => stored == first,
            FieldKind::Relation(_) => field.rust == first,
            _ => false,
        };

        let Some((_, field)) = member_fields(&self.types, row)
            .into_iter()
            .find(|(_, field)| holds(field))
        else {
            return false;
        };

        let is_gated = match field.kind {
            FieldKind::Relation(_) => {
                gate_of(&self.types, row, first).is_some() || is_checked(&self.types, row, first)
            }
            _ => gate_of_stored(&self.types, row, first).is_some(),
        };

        let next = match field.kind {
            FieldKind::Relation(relation) => relation.row,
            _ => field.ty.named(),
        };

        is_gated || rest.is_some_and(|rest| self.is_gated(next, rest))
    }
}

/// The default order of a field's pages.
struct PageOrder {
    keys: &'static [OrderKey],
    row: TypeIndex,
    joining: Option<TypeIndex>,
}

fn page_order(field: &FieldDef) -> Option<PageOrder> {
    match field.kind {
        FieldKind::Root(run, Some(row), _) => {
            let planned = run
                .planned()
                .filter(|planned| planned.shape == Shape::Connection)?;
            Some(PageOrder {
                keys: planned.order,
                row,
                joining: None,
            })
        }
        FieldKind::Relation(relation) if relation.shape == Shape::Connection => Some(PageOrder {
            keys: relation.order,
            row: relation.row,
            joining: relation.joining,
        }),
        _ => None,
    }
}
