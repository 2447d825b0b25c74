//! The gates of documents that reveal whole objects: the JSON in mutation results.

use super::Builder;
use crate::scalar::ScalarKind;
use crate::schema::model::{FieldDef, Gated, TypeDef, TypeIndex, TypeKind};
use crate::schema::{Registry, ResultMember, ResultMeta};

impl Builder {
    /// Gates the JSON of results: JSON next to an entity may reveal the entity's fields, and
    /// `cascade` may reveal the fields of any type.
    pub(super) fn gate_documents(&mut self, registry: &Registry) {
        // Without gated fields, no document needs a gate.
        if !self.types.iter().any(|def| is_gated(&self.types, def)) {
            return;
        }
        for (key, ResultMeta { success, error, .. }) in &registry.results {
            for member in [success, error] {
                self.gate_member(key.0, member);
            }
        }
    }

    fn gate_member(&mut self, result: TypeIndex, member: &ResultMember) {
        let TypeKind::Abstract(union) = &self.types[result].kind else {
            return;
        };

        let Some(index) = union
            .members
            .iter()
            .copied()
            .find(|index| self.types[*index].name == member.name)
        else {
            return;
        };

        let TypeKind::Object(object) = &self.types[index].kind else {
            return;
        };

        let entity = object
            .fields
            .values()
            .find(|field| Some(field.rust) == member.entity);
        let entity = entity
            .map(|field| field.ty.named())
            .filter(|index| tells_gates(&self.types, *index));
        let is_json: Vec<_> = object
            .fields
            .values()
            .map(|field| is_json(&self.types, field))
            .collect();

        let TypeKind::Object(object) = &mut self.types[index].kind else {
            return;
        };

        for (field, _) in object
            .fields
            .values_mut()
            .zip(is_json)
            .filter(|(_, is_json)| *is_json)
        {
            // `cascade` contains the changed rows of all types, and other JSON only data of the
            // entity. A guard of the field itself decides beside their gates.
            field.gated = match (field.gated, entity) {
                _ if field.rust == "cascade" => Some(Gated::Everything),
                (Some(Gated::Field { of, rust }), Some(entity)) => {
                    Some(Gated::Document { of, rust, entity })
                }
                (own, entity) => own.or(entity.map(Gated::AllOf)),
            };
        }
    }
}

fn is_json(types: &[TypeDef], field: &FieldDef) -> bool {
    matches!(
        types[field.ty.named()].kind,
        TypeKind::Scalar {
            kind: ScalarKind::Json,
            ..
        }
    )
}

fn is_gated(types: &[TypeDef], def: &TypeDef) -> bool {
    match &def.kind {
        TypeKind::Object(object) => object
            .fields
            .values()
            .any(|field| field.gated.is_some() || field.is_checked()),
        TypeKind::Abstract(abstract_type) => abstract_type
            .members
            .iter()
            .any(|member| tells_gates(types, *member)),
        _ => false,
    }
}

/// Whether values of this type have gated fields.
fn tells_gates(types: &[TypeDef], index: TypeIndex) -> bool {
    is_gated(types, &types[index])
}
