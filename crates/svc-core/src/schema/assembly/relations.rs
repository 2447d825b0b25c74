//! The arguments of the list fields of relations, and of the pages and aggregates derived from
//! them.

use super::Builder;
use super::companions::{Companions, edge_fields};
use crate::schema::Shape;
use crate::schema::error::SchemaError;
use crate::schema::model::{
    EDGE, FieldDef, FieldKind, ObjectDef, Relation, TypeDef, TypeIndex, TypeKind,
};
use crate::schema::registration::joined_name;

impl Builder {
    pub(super) fn add_relation_args(&mut self, companions: &mut Companions<'_>) {
        for index in 0..self.types.len() {
            for (name, relation) in relations_of(&self.types[index]) {
                if self.types[relation.row].kind.source().is_none() && !relation.is_derived() {
                    let TypeKind::Object(object) = &self.types[index].kind else {
                        continue;
                    };
                    let (path, row) = (
                        object.fields[&name].path.clone(),
                        self.types[relation.row].path.clone(),
                    );
                    self.errors
                        .push(SchemaError::RelationWithoutSource { path, row });
                }

                self.check_edges(index, &name, relation);
                let mut args = match relation.shape {
                    Shape::List => companions.list_args(&mut self.types, relation.row),
                    Shape::Connection => companions.connection_args(&mut self.types, relation.row),
                    Shape::Aggregate => companions.where_arg(&mut self.types, relation.row),
                    Shape::One | Shape::Optional => continue,
                };

                if let Some(joined) = joined(&self.types[index], relation)
                    .filter(|_| relation.shape != Shape::Aggregate)
                {
                    companions.order_by_edge(&mut self.types, (&joined, relation), &mut args);
                }

                if let TypeKind::Object(object) = &mut self.types[index].kind
                    && let Some(field) = object.fields.get_mut(&name)
                {
                    field.args = args;
                }
            }
        }
    }
}

impl Builder {
    /// Checks that the fields of edges, and the key of an order by them, do not clash with other
    /// names.
    fn check_edges(&mut self, index: TypeIndex, name: &str, relation: Relation) {
        let (TypeKind::Object(object), Some(joining)) = (&self.types[index].kind, relation.joining)
        else {
            return;
        };

        let path = &object.fields[name].path;
        let clashes: Vec<_> = match relation.shape {
            Shape::Connection => {
                let fields = edge_fields(&self.types, joining).into_iter();

                // Every edge has these two fields beside the fields of the junction row.
                let clashing = fields.filter(|field| ["node", "cursor"].contains(&&*field.name));
                let clash = |field: &FieldDef| SchemaError::EdgeClash {
                    name: field.name.clone(),
                    field: field.rust.to_owned(),
                    joining: self.types[joining].path.clone(),
                    path: path.clone(),
                };
                clashing.map(clash).collect()
            }
            Shape::List if names_edge(&self.types, relation.row) => {
                vec![SchemaError::EdgeOrderClash {
                    row: self.types[relation.row].path.clone(),
                    path: path.clone(),
                }]
            }
            _ => Vec::new(),
        };

        self.errors.extend(clashes);
    }
}

/// Whether rows have a field with the name of the order by junction rows.
fn names_edge(types: &[TypeDef], row: TypeIndex) -> bool {
    match &types[row].kind {
        TypeKind::Object(object) => object.fields.values().any(|field| {
            let is_stored = matches!(field.kind, FieldKind::Stored { stored: EDGE, .. });
            field.name == EDGE || field.rust == EDGE || is_stored
        }),
        TypeKind::Abstract(abstraction) => abstraction
            .members
            .iter()
            .any(|member| names_edge(types, *member)),
        _ => false,
    }
}

/// The prefix of the names of types that are generated for a relation with a junction type.
fn joined(def: &TypeDef, relation: Relation) -> Option<String> {
    let TypeKind::Object(ObjectDef {
        declared: Some(declared),
        ..
    }) = &def.kind
    else {
        return None;
    };

    let field = declared.fields.get(relation.index)?;
    relation.joining.map(|_| joined_name(declared, field))
}

fn relations_of(def: &TypeDef) -> Vec<(String, Relation)> {
    let TypeKind::Object(object) = &def.kind else {
        return Vec::new();
    };
    let relation = |field: &FieldDef| match field.kind {
        FieldKind::Relation(relation) => Some((field.name.clone(), relation)),
        _ => None,
    };
    object.fields.values().filter_map(relation).collect()
}
