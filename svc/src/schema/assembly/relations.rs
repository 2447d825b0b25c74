//! The arguments of the lists that relations add to a type, and of the pages and aggregates beside them.

use super::Builder;
use super::companions::Companions;
use crate::schema::Shape;
use crate::schema::error::SchemaError;
use crate::schema::model::{FieldDef, FieldKind, Relation, TypeDef, TypeKind};

impl Builder {
    pub(super) fn add_relation_args(&mut self, companions: &mut Companions<'_>) {
        for index in 0..self.types.len() {
            for (name, relation) in relations_of(&self.types[index]) {
                if self.types[relation.row].kind.source().is_none() && !relation.is_beside() {
                    let TypeKind::Object(object) = &self.types[index].kind else { continue };
                    let (path, row) = (object.fields[&name].path.clone(), self.types[relation.row].path.clone());
                    self.errors.push(SchemaError::RelationWithoutSource { path, row });
                }
                let args = match relation.shape {
                    Shape::List => companions.list_args(&mut self.types, relation.row),
                    Shape::Connection => companions.connection_args(&mut self.types, relation.row),
                    Shape::Aggregate => companions.where_arg(&mut self.types, relation.row),
                    Shape::One | Shape::Optional => continue,
                };
                if let TypeKind::Object(object) = &mut self.types[index].kind
                    && let Some(field) = object.fields.get_mut(&name)
                {
                    field.args = args;
                }
            }
        }
    }
}

fn relations_of(def: &TypeDef) -> Vec<(String, Relation)> {
    let TypeKind::Object(object) = &def.kind else { return Vec::new() };
    let relation = |field: &FieldDef| match field.kind {
        FieldKind::Relation(relation) => Some((field.name.clone(), relation)),
        _ => None,
    };
    object.fields.values().filter_map(relation).collect()
}
