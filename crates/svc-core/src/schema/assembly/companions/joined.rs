//! `ProductCategoriesConnection` and `ProductCategoriesEdge`: pages of a relation through a
//! junction view with a type. The edges have the fields of that type.

use std::collections::HashSet;

use super::inputs::{define, described, list_of, reserve};
use super::{Companions, row_fields};
use crate::schema::assembly::fields::stored_fields;
use crate::schema::model::{
    ArgDef, ArgRole, EDGE, FieldDef, FieldKind, InputRole, Relation, TypeDef, TypeExpr, TypeIndex,
    TypeKind, gate_of, is_checked,
};
use crate::schema::registration::JoinedPage;

impl Companions<'_> {
    pub(in crate::schema::assembly) fn joined_connection(
        &mut self,
        types: &mut Vec<TypeDef>,
        page: &JoinedPage,
        index: TypeIndex,
    ) {
        let joining = page.joining.0;
        let fields = edge_fields(types, joining)
            .into_iter()
            .map(|field| FieldDef {
                name: field.name.clone(),
                rust: field.rust,
                path: field.path.clone(),
                description: field.description.clone(),
                deprecated: field.deprecated,
                ty: field.ty.clone(),
                args: Vec::new(),
                kind: field.kind,
                // The gate refers to the field of the junction type, whose guards decide.
                gated: gate_of(types, joining, field.rust),
                guards: &[],
                is_authorized: false,
                checks: &[],
                is_boundary: false,
            });

        let fields = fields.collect();
        self.page(types, page.row.0, (index, &page.name), fields);
    }

    /// Adds the order by junction rows to a relation; `name` is the prefix of its type names.
    pub(in crate::schema::assembly) fn order_by_edge(
        &mut self,
        types: &mut Vec<TypeDef>,
        (name, relation): (&str, Relation),
        args: &mut Vec<ArgDef>,
    ) {
        let order = relation
            .joining
            .and_then(|joining| self.joined_order(types, name, relation.row, joining));
        let Some(order) = order else { return };
        match args.iter_mut().find(|arg| arg.role == ArgRole::OrderBy) {
            Some(arg) => arg.ty = list_of(order),
            // Rows without fields to order by have no such argument yet.
            None => args.push(self.order_arg_of(order)),
        }
    }

    /// `ProductCategoriesOrderBy`: the order of the rows, combined with the order of their junction
    /// rows.
    fn joined_order(
        &mut self,
        types: &mut Vec<TypeDef>,
        name: &str,
        row: TypeIndex,
        joining: TypeIndex,
    ) -> Option<TypeIndex> {
        let order = format!("{name}OrderBy");
        if let Some(known) = self.joined_orders.get(&order) {
            return Some(*known);
        }

        let of_edge = self.edge_order(types, name, joining)?;
        let of_row = self.order_type(types, row).map(|index| &types[index].kind);
        let mut fields: Vec<ArgDef> = match of_row {
            Some(TypeKind::Input(input)) => input.fields.values().map(ArgDef::again).collect(),
            _ => Vec::new(),
        };

        let edge = described(EDGE, "By what joins the row.", TypeExpr::Named(of_edge));
        fields.push(ArgDef {
            role: ArgRole::Hop,
            ..edge
        });
        let index = reserve(types, &order);
        let description = format!("An order of {}, and of what joins them.", types[row].name);
        define(types, index, InputRole::Order, description, fields);
        self.joined_orders.insert(order, index);

        Some(index)
    }

    /// `ProductCategoriesEdgeOrderBy`; `None` if edges have nothing to order by.
    fn edge_order(
        &mut self,
        types: &mut Vec<TypeDef>,
        name: &str,
        joining: TypeIndex,
    ) -> Option<TypeIndex> {
        let offered: Vec<&str> = edge_fields(types, joining)
            .into_iter()
            .map(|field| field.rust)
            .collect();
        let direction = self.direction_type(types);
        let parts = row_fields(types, joining);
        let parts = parts
            .iter()
            .filter(|part| !part.list && part.function.is_none() && offered.contains(&part.rust));
        let fields: Vec<ArgDef> = parts
            .filter_map(|part| self.order_key(types, part, direction))
            .collect();
        if fields.is_empty() {
            return None;
        }

        let index = reserve(types, &format!("{name}EdgeOrderBy"));
        let description = format!("An order of {}, which joins rows.", types[joining].name);
        define(types, index, InputRole::Order, description, fields);

        Some(index)
    }
}

/// The fields of junction rows on edges: the stored fields, except fields whose checks need the
/// whole row.
pub(in crate::schema::assembly) fn edge_fields(
    types: &[TypeDef],
    joining: TypeIndex,
) -> Vec<&FieldDef> {
    let is_offered = |field: &&FieldDef| {
        !is_checked(types, joining, field.rust)
            && is_plain(types, field.ty.named(), &mut HashSet::new())
    };
    stored_fields(types, joining)
        .into_iter()
        .filter(is_offered)
        .collect()
}

/// Whether a type only contains stored values; embedded objects with relations or methods need the
/// whole row.
fn is_plain(types: &[TypeDef], index: TypeIndex, seen: &mut HashSet<TypeIndex>) -> bool {
    match &types[index].kind {
        // An object that was seen before cannot change the result, so cycles end.
        TypeKind::Object(object) if seen.insert(index) => object.fields.values().all(|field| {
            let is_stored = matches!(field.kind, FieldKind::Stored { .. });
            is_stored && !field.is_checked() && is_plain(types, field.ty.named(), seen)
        }),
        TypeKind::Abstract(_) => false,
        _ => true,
    }
}
