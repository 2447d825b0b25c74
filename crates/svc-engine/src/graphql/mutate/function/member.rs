//! A member of a result as stored JSON, which the engine completes.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::mutation_result::Response;
use svc_core::exact_json::Fields;
use svc_core::schema::{FieldDef, FieldKind, Model, ResultMember, Shape, TypeIndex};

/// The parts of a member.
pub(super) struct Member<'a> {
    pub(super) meta: &'a ResultMember,
    /// The JSON of the fields that every member of its kind has.
    pub(super) automatic: [(&'static str, String); 4],
    /// The entity's JSON.
    pub(super) entity: Option<String>,
    pub(super) response: &'a Response<'a>,
    /// The values that an exception carries for further fields.
    pub(super) extensions: &'a Fields,
}

impl Member<'_> {
    /// `{"__typename": "CreateUserSuccess", …}` with the stored names as keys.
    pub(super) fn write(&self, model: &Model) -> String {
        let mut out = format!("{{\"__typename\":{}", Value::from(self.meta.name));
        let object = model
            .type_named(self.meta.name)
            .and_then(|(index, _)| model.object(index));
        for field in object.into_iter().flat_map(|object| object.fields.values()) {
            let FieldKind::Stored { stored, .. } = field.kind else {
                continue;
            };

            let raw = |raw: &&RawValue| raw.get().to_owned();
            let json = match self.automatic.iter().find(|(name, _)| *name == field.rust) {
                Some((_, json)) => Some(json.clone()),
                None if self.meta.entity == Some(field.rust) => self.entity.clone(),
                None if field.rust == "cascade" => self.response.cascade.as_ref().map(raw),
                None if field.rust == "metadata" => self.response.raw_metadata.as_ref().map(raw),
                None => {
                    let raised = || self.extensions.get(stored).map(ToString::to_string);
                    self.response.metadata.get(stored).map(raw).or_else(raised)
                }
            };

            if let Some(json) = json {
                out.push(',');
                out.push_str(&Value::from(stored).to_string());
                out.push(':');
                out.push_str(&json);
            }
        }

        out.push('}');

        out
    }
}

/// The field that holds a member's entity.
pub(super) fn entity_field<'m>(model: &'m Model, member: &ResultMember) -> Option<&'m FieldDef> {
    let (index, _) = model.type_named(member.name)?;
    let fields = &model.object(index)?.fields;
    fields
        .values()
        .find(|field| Some(field.rust) == member.entity)
}

/// Returns the client-facing names of stored fields. A name without a field stays as it is.
pub(super) fn graphql_names(
    model: &Model,
    ty: Option<TypeIndex>,
    stored: &[String],
) -> Vec<String> {
    let objects = ty.map(|ty| model.possible_types(ty)).unwrap_or_default();
    let fields = || {
        objects
            .iter()
            .filter_map(|index| model.object(*index))
            .flat_map(|object| object.fields.values())
    };

    let name = |name: &String| {
        let by_stored = fields()
            .find(|field| matches!(field.kind, FieldKind::Stored { stored, .. } if stored == name));
        let by_rust = || fields().find(|field| field.rust == name);
        // The key of a relation is shown as the field of that relation.
        let by_key = || fields().find(|field| leads_by(field, name));
        by_stored
            .or_else(by_rust)
            .or_else(by_key)
            .map_or(name, |field| &field.name)
            .clone()
    };

    let mut names: Vec<String> = Vec::with_capacity(stored.len());

    // Two keys of one relation have the same client-facing name.
    for name in stored.iter().map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }

    names
}

/// Whether a field is a relation to a single row of another view, with a key of this name.
fn leads_by(field: &FieldDef, key: &str) -> bool {
    let FieldKind::Relation(relation) = &field.kind else {
        return false;
    };
    matches!(relation.shape, Shape::One | Shape::Optional) && relation.from.contains(&key)
}
