//! The types whose rows can affect the response of an operation.

use std::collections::HashSet;
use std::sync::Arc;

use crate::graphql::plan::{Plan, Selection};
use svc_core::schema::{FieldKind, Model, TypeIndex};

impl Plan {
    /// Returns the selected types, the row types of the root fields, and all types that relations
    /// and embedded objects lead to from there: conditions may follow these too.
    pub(crate) fn reachable(&self, model: &Model) -> HashSet<TypeIndex> {
        self.root.reachable(model)
    }
}

impl Selection {
    /// Returns the reachable types of this selection.
    pub(in crate::graphql::plan) fn reachable(&self, model: &Model) -> HashSet<TypeIndex> {
        let mut found = HashSet::new();
        self.reach(model, &mut HashSet::new(), &mut found);
        found
    }

    /// Selections are shared; each is visited once.
    fn reach(
        &self,
        model: &Model,
        seen: &mut HashSet<*const Self>,
        found: &mut HashSet<TypeIndex>,
    ) {
        for field in &self.fields {
            field
                .root()
                .and_then(|root| root.row())
                .into_iter()
                .for_each(|row| reach(model, row, found));

            for selection in field.children.iter() {
                if seen.insert(Arc::as_ptr(selection)) {
                    reach(model, selection.type_index, found);
                    selection.reach(model, seen, found);
                }
            }
        }
    }
}

fn reach(model: &Model, ty: TypeIndex, found: &mut HashSet<TypeIndex>) {
    // Marked before its fields are followed, as relations form cycles.
    if !found.insert(ty) {
        return;
    }

    for object in model
        .possible_types(ty)
        .iter()
        .filter(|index| **index != ty)
    {
        reach(model, *object, found);
    }

    for field in model
        .object(ty)
        .into_iter()
        .flat_map(|object| object.fields.values())
    {
        match field.kind {
            FieldKind::Relation(relation) => {
                [Some(relation.row), relation.joining]
                    .into_iter()
                    .flatten()
                    .for_each(|row| reach(model, row, found));
            }
            FieldKind::Stored { .. } => reach(model, field.ty.named(), found),
            _ => {}
        }
    }
}
