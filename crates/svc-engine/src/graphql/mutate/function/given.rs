//! The JSON returned by a function, read as entities.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use svc_core::schema::{FieldKind, Model, TypeIndex, TypeKind};

/// The result of a function, to be read as an entity of a type or a list of entities.
pub(super) struct Given<'a> {
    pub(super) model: &'a Model,
    pub(super) ty: TypeIndex,
    /// The type that the function names next to the entity.
    pub(super) named: Option<&'a str>,
}

impl Given<'_> {
    /// Returns an entity or a list of entities, each with all the data that the function returned
    /// for it.
    pub(super) fn complete(&self, json: &str) -> String {
        match serde_json::from_str::<Vec<&RawValue>>(json) {
            Ok(items) => list(items.into_iter().map(|item| self.object(item.get()))),
            Err(_) => self.object(json),
        }
    }

    fn object(&self, json: &str) -> String {
        self.with_type_name(self.with_data(json).as_deref().unwrap_or(json))
    }

    /// Merges the fields in `data`, where a row of a view has the rest of its fields.
    fn with_data(&self, json: &str) -> Option<String> {
        let mut row: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
        let data: BTreeMap<String, &RawValue> =
            serde_json::from_str(row.get("data")?.get()).ok()?;

        // Here `data` is a field of the type, and does not hold the rest of the row.
        if stored_keys(self.model, self.ty).any(|key| key == "data") {
            return None;
        }

        row.remove("data");

        // A column takes precedence over a key of the document, as in reads of the view.
        for (key, value) in data {
            row.entry(key).or_insert(value);
        }

        serde_json::to_string(&row).ok()
    }

    /// Adds the type name to an entity of an interface or union, if the function names the type
    /// next to the entity.
    fn with_type_name(&self, entity: &str) -> String {
        let is_abstract = matches!(self.model.types[self.ty].kind, TypeKind::Abstract(_));
        match (self.named, entity.strip_prefix('{')) {
            (Some(name), Some(rest)) if is_abstract && !has_type_name(entity) => {
                let comma = if rest.trim_start().starts_with('}') {
                    ""
                } else {
                    ","
                };
                format!("{{\"__typename\":{}{comma}{rest}", Value::from(name))
            }
            _ => entity.to_owned(),
        }
    }
}

/// Whether an object names its type itself, and not only in an object inside of it.
fn has_type_name(entity: &str) -> bool {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(entity)
        .map_or(true, |keys| keys.contains_key("__typename"))
}

/// JSON values as a list.
pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// The text of an entity's id: the id of the object, or an id given instead of the object.
pub(in crate::graphql) fn id_of(given: &str) -> Option<String> {
    let id = if given.starts_with('{') {
        own_id(given)?
    } else {
        given.to_owned()
    };

    match serde_json::from_str(&id).ok()? {
        Value::String(id) => Some(id),
        Value::Number(_) => Some(id),
        _ => None,
    }
}

/// The JSON of an entity's `id`.
pub(super) fn own_id(entity: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Identified<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }

    serde_json::from_str::<Identified<'_>>(entity)
        .ok()?
        .id
        .map(|id| id.get().to_owned())
}

/// The stored names of the fields of a type's objects.
pub(super) fn stored_keys(model: &Model, ty: TypeIndex) -> impl Iterator<Item = &'static str> {
    let objects = model
        .possible_types(ty)
        .iter()
        .filter_map(|index| model.object(*index));
    objects
        .flat_map(|object| object.fields.values())
        .filter_map(|field| match field.kind {
            FieldKind::Stored { stored, .. } => Some(stored),
            _ => None,
        })
}
