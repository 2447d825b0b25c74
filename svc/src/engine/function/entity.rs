//! The entity that a mutation wrote: the JSON that the function gave, or the row of the view.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::Error;
use crate::engine::complete::UnreadValues;
use crate::engine::find::{read_row, typed_rows};
use crate::engine::plan::{Calls, Children, PlanKind};
use crate::mutation::Response;
use crate::repository::{Db, FindSpec};
use crate::schema::{FieldKind, Model, ScalarKind, TypeIndex, TypeKind};
use crate::sql::{Subject, col};

/// The named type of an entity, and whether the field holds a list of it.
#[derive(Clone, Copy)]
pub(super) struct EntityType {
    pub(super) ty: TypeIndex,
    pub(super) list: bool,
}

/// An entity as far as it could be read.
pub(super) struct Entity {
    pub(super) json: Option<String>,
    pub(super) unread: Option<UnreadValues>,
}

impl Entity {
    pub(super) fn whole(json: Option<String>) -> Self {
        Self { json, unread: None }
    }
}

/// The entity's JSON. Of a type that a row policy binds it is always the row of the view, if that is permitted. Where the function gave none, or left out what is selected, the row with its id is read from the
/// view, as a query would: what is selected of it, or all where a method needs it.
///
/// # Errors
/// When the row cannot be read.
pub(super) async fn entity(
    db: &Db,
    EntityType { ty, list }: EntityType,
    response: &Response<'_>,
    selected: Option<Vec<&Children>>,
) -> Result<Entity, Error> {
    let model = &db.app.model;
    let given = response.entity.map(|raw| with_type_name(model, ty, raw.get(), response.entity_type.as_deref()));
    if is_governed(db, ty)? {
        return governed(db, EntityType { ty, list }, response.entity_id.clone(), given).await;
    }
    if list
        || !has_source(model, ty)
        || given.as_deref().is_some_and(|given| has_all(model, ty, given, selected.as_deref()))
    {
        return Ok(Entity::whole(given));
    }
    let id_given = || given.as_deref().and_then(own_id).map(|id| serde_json::from_str(&id).unwrap_or(id));
    let id = response.entity_id.clone().or_else(id_given);
    let row = model.by_rust.iter().find(|(_, index)| **index == ty).map(|(row, _)| *row);
    let (Some(id), Some(row)) = (id, row) else { return Ok(Entity::whole(given)) };
    let find = FindSpec { filter: col("id").eq(id), limit: Some(1), ..FindSpec::new(row) };
    let wanted = selected.as_deref().and_then(stored_selected);
    match read_row(db, &find, wanted.as_deref()).await? {
        Some((row, errors)) => Ok(Entity { json: Some(row.to_string()), unread: UnreadValues::of(errors) }),
        None => Ok(Entity::whole(given)),
    }
}

/// Whether a row policy keeps rows of this type back, so that a function's own word for them is not enough.
pub(super) fn is_governed(db: &Db, ty: TypeIndex) -> Result<bool, Error> {
    let rule = db.rules.as_ref().map_or(Ok(None), |rules| rules.rule(Subject::Rows(ty)))?;
    Ok(rule.is_some())
}

/// The rows of the view with the ids of what the function gave, as far as the row policies permit them.
async fn governed(
    db: &Db,
    EntityType { ty, list }: EntityType,
    entity_id: Option<String>,
    given: Option<String>,
) -> Result<Entity, Error> {
    let model = &db.app.model;
    let row = model.by_rust.iter().find(|(_, index)| **index == ty).map(|(row, _)| *row);
    let Some(row) = row.filter(|_| has_source(model, ty)) else { return Ok(Entity::whole(None)) };
    let id_of = |raw: &str| own_id(raw).map(|id| serde_json::from_str(&id).unwrap_or(id));
    let ids: Vec<String> = match given.as_deref() {
        Some(given) if list => {
            let items: Option<Vec<&RawValue>> = serde_json::from_str(given)?;
            items.into_iter().flatten().filter_map(|item| id_of(item.get())).collect()
        }
        given => entity_id.or_else(|| given.and_then(id_of)).into_iter().collect(),
    };
    let mut rows = HashMap::new();
    if !ids.is_empty() {
        let find = FindSpec { filter: col("id").is_in(ids.clone()), ..FindSpec::new(row) };
        for row in typed_rows(db, db.reader(), &find).await? {
            let json = row.to_string();
            rows.extend(id_of(&json).map(|id| (id, json)));
        }
    }
    let mut permitted = ids.iter().filter_map(|id| rows.remove(id));
    Ok(Entity::whole(match list {
        true => given.map(|_| format!("[{}]", permitted.collect::<Vec<_>>().join(","))),
        false => permitted.next(),
    }))
}

/// The stored names that are selected; `None` for all, where a method or a relation needs the row as a struct.
fn stored_selected(selected: &[&Children]) -> Option<Vec<&'static str>> {
    if selected.iter().any(|children| children.waits() != Calls::None) {
        return None;
    }
    let selections = selected.iter().flat_map(|children| children.iter());
    let stored = selections.flat_map(|selection| &selection.fields).filter_map(|field| match field.kind {
        PlanKind::Stored { stored, .. } => Some(stored),
        _ => None,
    });
    Some(stored.chain(["id"]).collect())
}

/// Whether an entity has a key for everything that is selected.
fn has_all(model: &Model, ty: TypeIndex, entity: &str, selected: Option<&[&Children]>) -> bool {
    let Ok(keys) = serde_json::from_str::<HashMap<String, &RawValue>>(entity) else {
        // No object, which is reported where it is completed.
        return true;
    };
    let whole = selected.is_none_or(|all| all.iter().any(|children| children.needs_whole_rows()));
    if whole && !stored_keys(model, ty).all(|key| keys.contains_key(key)) {
        return false;
    }
    let selections = selected.unwrap_or_default().iter().flat_map(|children| children.iter());
    selections.flat_map(|selection| &selection.fields).all(|field| match field.kind {
        PlanKind::Stored { stored, .. } => keys.contains_key(stored),
        PlanKind::Relation(relation) => keys.contains_key(relation.from),
        _ => true,
    })
}

/// Whether the JSON of a value of this type may have a key `status` that is not a response's.
pub(super) fn holds_status(model: &Model, ty: TypeIndex) -> bool {
    matches!(model.types[ty].kind, TypeKind::Scalar { kind: ScalarKind::Json, .. })
        || stored_keys(model, ty).any(|key| key == "status")
}

/// The keys under which objects of a type are stored.
fn stored_keys(model: &Model, ty: TypeIndex) -> impl Iterator<Item = &'static str> {
    let objects = model.possible_types(ty).iter().filter_map(|index| model.object(*index));
    objects.flat_map(|object| object.fields.values()).filter_map(|field| match field.kind {
        FieldKind::Stored { stored, .. } => Some(stored),
        _ => None,
    })
}

fn has_source(model: &Model, ty: TypeIndex) -> bool {
    match &model.types[ty].kind {
        TypeKind::Object(object) => object.source.is_some(),
        TypeKind::Abstract(abstract_type) => abstract_type.source.is_some(),
        _ => false,
    }
}

/// The JSON of an entity's `id`.
pub(super) fn own_id(entity: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Identified<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    serde_json::from_str::<Identified<'_>>(entity).ok()?.id.map(|id| id.get().to_owned())
}

/// An entity of an interface or union names its type; a function may name it beside the entity.
fn with_type_name(model: &Model, ty: TypeIndex, entity: &str, entity_type: Option<&str>) -> String {
    let is_abstract = matches!(model.types[ty].kind, TypeKind::Abstract(_));
    match (entity_type, entity.strip_prefix('{')) {
        (Some(name), Some(rest)) if is_abstract && !entity.contains("\"__typename\"") => {
            let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
            format!("{{\"__typename\":{}{comma}{rest}", Value::from(name))
        }
        _ => entity.to_owned(),
    }
}
