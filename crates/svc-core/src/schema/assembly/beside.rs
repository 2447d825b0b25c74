//! The fields derived from a relation: pages of its rows, and aggregates of them.

use indexmap::IndexMap;

use super::{Builder, expr};
use crate::schema::error::SchemaError;
use crate::schema::model::{FieldDef, FieldKind, Gated, Relation};
use crate::schema::registration::RelationRefs;
use crate::schema::{DerivedMeta, RelationMeta, Shape, TypeRef};

impl Builder {
    /// Builds the fields derived from the relation `of`. They have its guards and checks.
    pub(super) fn beside(
        &mut self,
        of: &FieldDef,
        meta: &RelationMeta,
        refs: &RelationRefs,
        path: &str,
    ) -> Vec<FieldDef> {
        let FieldKind::Relation(relation) = of.kind else {
            return Vec::new();
        };

        let offered = [
            (
                Shape::Connection,
                meta.connection,
                &refs.connection,
                "Pages of",
            ),
            (
                Shape::Aggregate,
                meta.aggregate,
                &refs.aggregate,
                "Aggregates over",
            ),
        ];

        let offered = offered
            .into_iter()
            .filter_map(|(shape, meta, ty, what)| Some((shape, meta?, ty.as_ref()?, what)));
        let mut field = |(shape, meta, ty, what): (Shape, DerivedMeta, &TypeRef, &str)| {
            let kind = FieldKind::Relation(Relation { shape, ..relation });
            let def = self.field(&meta.element, expr(ty), &[], kind, path);
            let description = Some(format!("{what} `{}`.", of.name));
            FieldDef {
                description,
                checks: of.checks,
                ..def
            }
            .guarded(of.guards)
        };

        offered.map(&mut field).collect()
    }
}

/// Gives the fields derived from a relation the relation's gate, so that one decision applies to
/// all of them.
pub(super) fn share_gates(fields: &mut IndexMap<String, FieldDef>) {
    let gate = |field: &FieldDef| match field.kind {
        FieldKind::Relation(relation) if !relation.is_derived() => {
            Some((relation.index, field.gated?))
        }
        _ => None,
    };

    let gates: Vec<(usize, Gated)> = fields.values().filter_map(gate).collect();
    for field in fields.values_mut().filter(|field| field.is_derived()) {
        if let FieldKind::Relation(relation) = field.kind {
            field.gated = gates
                .iter()
                .find(|(index, _)| *index == relation.index)
                .map(|(_, gated)| *gated);
        }
    }
}

/// The error for two fields with the same name, at least one of which is derived from a relation.
pub(super) fn clash(first: &FieldDef, second: &FieldDef, path: &str) -> SchemaError {
    let (first, second) = if second.is_derived() {
        (first, second)
    } else {
        (second, first)
    };

    let is_page =
        matches!(second.kind, FieldKind::Relation(relation) if relation.shape == Shape::Connection);
    SchemaError::BesideClash {
        name: second.name.clone(),
        first: first.rust.to_owned(),
        second: second.rust.to_owned(),
        path: path.to_owned(),
        key: if is_page { "connection" } else { "aggregate" },
    }
}
