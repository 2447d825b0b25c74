//! `UserOrderBy` and `OrderDirection`: the orders of rows.

use std::sync::Arc;

use super::inputs::define;
use super::{Companions, RowField, row_fields};
use crate::schema::model::{ArgDef, EnumDef, EnumValue, InputRole, TypeDef, TypeIndex, TypeKind};
use crate::schema::registration::Derived;
use crate::schema::{Family, ScalarKind, family};

impl Companions<'_> {
    /// `UserOrderBy`; `None` if the type has nothing to order by.
    pub(super) fn order_type(
        &mut self,
        types: &mut Vec<TypeDef>,
        row: TypeIndex,
    ) -> Option<TypeIndex> {
        if let Some(known) = self.orders.get(&row) {
            return *known;
        }

        // An input object without fields is not a valid type.
        if !has_order(types, row) {
            self.orders.insert(row, None);
            return None;
        }

        let name = format!("{}OrderBy", types[row].name);
        let index = self.place(types, Derived::OrderBy, row, &name);

        // Registered before its fields, because types may embed each other.
        self.orders.insert(row, Some(index));
        let direction = self.direction_type(types);
        let mut fields = Vec::new();
        for part in row_fields(types, row)
            .iter()
            .filter(|part| !part.list || part.is_aggregate)
        {
            fields.extend(self.order_key(types, part, direction));
        }

        let description = format!("An order of {}.", types[row].name);
        define(types, index, InputRole::Order, description, fields);

        Some(index)
    }

    /// The order by one field.
    pub(super) fn order_key(
        &mut self,
        types: &mut Vec<TypeDef>,
        part: &RowField,
        direction: TypeIndex,
    ) -> Option<ArgDef> {
        let ty = match &types[part.named].kind {
            _ if part.is_aggregate => Some(self.aggregate_order_type(types, part.named)),
            TypeKind::Object(_) => self.order_type(types, part.named),
            TypeKind::Scalar {
                kind: ScalarKind::Json,
                ..
            } => None,
            _ if part.function.is_some() => Some(self.computed_order(types, part, direction)),
            TypeKind::Abstract(_) if part.is_relation => self.order_type(types, part.named),
            TypeKind::Abstract(_) => None,
            kind if family(kind) == Family::Search => {
                Some(self.rank_type(types, part.named, direction))
            }
            _ => Some(direction),
        };

        ty.map(|ty| part.field(ty))
    }

    pub(super) fn direction_type(&mut self, types: &mut Vec<TypeDef>) -> TypeIndex {
        *self.direction.get_or_insert_with(|| {
            let value = |name: &'static str, description: &'static str| EnumValue {
                name: name.into(),
                stored: name,
                description: Some(description.into()),
                deprecated: None,
                group_key: None,
            };

            types.push(TypeDef {
                name: "OrderDirection".to_owned(),
                description: Some("The direction of an order, and where nulls go.".to_owned()),
                path: "svc's OrderDirection".to_owned(),
                kind: TypeKind::Enum(EnumDef {
                    values: Arc::new([
                        value("ASC", "Smallest first, nulls last."),
                        value("DESC", "Largest first, nulls first."),
                        value("ASC_NULLS_FIRST", "Smallest first, nulls first."),
                        value("ASC_NULLS_LAST", "Smallest first, nulls last."),
                        value("DESC_NULLS_FIRST", "Largest first, nulls first."),
                        value("DESC_NULLS_LAST", "Largest first, nulls last."),
                    ]),
                }),
            });

            types.len() - 1
        })
    }
}

/// Whether a type has a scalar or enum to order by.
fn has_order(types: &[TypeDef], row: TypeIndex) -> bool {
    let unordered = |kind: &TypeKind| {
        matches!(
            kind,
            TypeKind::Object(_)
                | TypeKind::Abstract(_)
                | TypeKind::Scalar {
                    kind: ScalarKind::Json,
                    ..
                }
        )
    };

    row_fields(types, row)
        .iter()
        .any(|part| part.is_aggregate || (!part.list && !unordered(&types[part.named].kind)))
}
