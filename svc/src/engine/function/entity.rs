//! The entity that a mutation wrote: the JSON that the function gave, or the row of the view.

use std::any::TypeId;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::given::{Given, id_of, list, stored_keys};
use crate::Error;
use crate::engine::complete::UnreadValues;
use crate::engine::find::{read_row, typed_rows};
use crate::engine::plan::{Calls, Children, PlanKind};
use crate::mutation::Response;
use crate::repository::{Db, FindSpec};
use crate::schema::{Model, ScalarKind, TypeIndex, TypeKind};
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

/// The entity's JSON. Of a type that a row policy binds it is always the row of the view, if that is permitted. Where the
/// function gave none, its id alone, or left out what is selected, the row with its id is read from the view, as a query
/// would: what is selected of it, or all where a method needs it.
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
    let given =
        response.entity.map(|raw| Given { model, ty, named: response.entity_type.as_deref() }.complete(raw.get()));
    if is_governed(db, ty)? {
        return governed(db, EntityType { ty, list }, response.entity_id.clone(), given).await;
    }
    let Some(row) = row_of(model, ty) else { return Ok(Entity::whole(given)) };
    if list {
        return entities(db, ty, row, given, selected).await;
    }
    if given.as_deref().is_some_and(|given| has_all(model, ty, given, selected.as_deref())) {
        return Ok(Entity::whole(given));
    }
    let Some(id) = response.entity_id.clone().or_else(|| given.as_deref().and_then(id_of)) else {
        return Ok(Entity::whole(given));
    };
    let find = FindSpec { filter: col("id").eq(id), limit: Some(1), ..FindSpec::new(row) };
    let wanted = selected.as_deref().and_then(stored_selected);
    match read_row(db, &find, wanted.as_deref()).await? {
        Some((row, errors)) => Ok(Entity { json: Some(row.to_string()), unread: UnreadValues::of(errors) }),
        None => Ok(Entity::whole(given.filter(|given| given.starts_with('{')))),
    }
}

/// The same for each item of a list, with one read for all that are not complete. An item that the view does not have, and
/// of which the function gave the id alone, is left out, as one that was deleted.
async fn entities(
    db: &Db,
    ty: TypeIndex,
    row: TypeId,
    given: Option<String>,
    selected: Option<Vec<&Children>>,
) -> Result<Entity, Error> {
    let model = &db.app.model;
    let items = given.as_deref().and_then(|given| serde_json::from_str::<Vec<&RawValue>>(given).ok());
    let Some(items) = items else { return Ok(Entity::whole(given)) };
    let is_complete = |item: &RawValue| has_all(model, ty, item.get(), selected.as_deref());
    let lacking: Vec<_> = items.iter().filter(|item| !is_complete(item)).filter_map(|item| id_of(item.get())).collect();
    if lacking.is_empty() {
        return Ok(Entity::whole(given));
    }
    let find = FindSpec { filter: col("id").is_in(lacking), ..FindSpec::new(row) };
    let wanted = selected.as_deref().and_then(stored_selected);
    let mut rows = HashMap::new();
    for row in typed_rows(db, db.reader(), &find, wanted.as_deref()).await? {
        let json = row.to_string();
        rows.extend(id_of(&json).map(|id| (id, json)));
    }
    let read = |item: &RawValue| {
        let known = || item.get().starts_with(['{', 'n']).then(|| item.get().to_owned());
        if is_complete(item) { known() } else { id_of(item.get()).and_then(|id| rows.get(&id).cloned()).or_else(known) }
    };
    Ok(Entity::whole(Some(list(items.into_iter().filter_map(read)))))
}

/// The type of rows that a view has for a type of the schema.
fn row_of(model: &Model, ty: TypeIndex) -> Option<TypeId> {
    let row = model.by_rust.iter().find(|(_, index)| **index == ty).map(|(row, _)| *row);
    row.filter(|_| has_source(model, ty))
}

/// Whether policies keep rows of this type back, or fields of them, so that a function's own word is not enough.
pub(in crate::engine) fn is_governed(db: &Db, ty: TypeIndex) -> Result<bool, Error> {
    let Some(rules) = &db.rules else { return Ok(false) };
    let is_masked = || stored_keys(&db.app.model, ty).any(|stored| rules.mask(ty, stored).is_some());
    Ok(rules.rule(Subject::Rows(ty))?.is_some() || is_masked())
}

/// The rows of the view with the ids of what the function gave, as far as the row policies permit them.
async fn governed(
    db: &Db,
    EntityType { ty, list: is_list }: EntityType,
    entity_id: Option<String>,
    given: Option<String>,
) -> Result<Entity, Error> {
    let Some(row) = row_of(&db.app.model, ty) else { return Ok(Entity::whole(None)) };
    let ids: Vec<String> = match given.as_deref() {
        Some(given) if is_list => {
            let items: Option<Vec<&RawValue>> = serde_json::from_str(given)?;
            items.into_iter().flatten().filter_map(|item| id_of(item.get())).collect()
        }
        given => entity_id.or_else(|| given.and_then(id_of)).into_iter().collect(),
    };
    let mut rows = HashMap::new();
    if !ids.is_empty() {
        let find = FindSpec { filter: col("id").is_in(ids.clone()), ..FindSpec::new(row) };
        for row in typed_rows(db, db.reader(), &find, None).await? {
            let json = row.to_string();
            rows.extend(id_of(&json).map(|id| (id, json)));
        }
    }
    let mut permitted = ids.iter().filter_map(|id| rows.remove(id));
    Ok(Entity::whole(match is_list {
        true => given.map(|_| list(permitted)),
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
        // What is neither an object nor an id is reported where it is completed.
        return id_of(entity).is_none();
    };
    let whole = selected.is_none_or(|all| all.iter().any(|children| children.needs_whole_rows()));
    if whole && !stored_keys(model, ty).all(|key| keys.contains_key(key)) {
        return false;
    }
    let selections = selected.unwrap_or_default().iter().flat_map(|children| children.iter());
    selections.flat_map(|selection| &selection.fields).all(|field| match field.kind {
        PlanKind::Stored { stored, .. } => keys.contains_key(stored),
        PlanKind::Relation(relation) => relation.from.iter().all(|key| keys.contains_key(*key)),
        PlanKind::Function(..) => keys.contains_key("id"),
        _ => true,
    })
}

/// Whether the JSON of a value of this type may have a key `status` that is not a response's.
pub(super) fn holds_status(model: &Model, ty: TypeIndex) -> bool {
    matches!(model.types[ty].kind, TypeKind::Scalar { kind: ScalarKind::Json, .. })
        || stored_keys(model, ty).any(|key| key == "status")
}

pub(super) fn has_source(model: &Model, ty: TypeIndex) -> bool {
    match &model.types[ty].kind {
        TypeKind::Object(object) => object.source.is_some(),
        TypeKind::Abstract(abstract_type) => abstract_type.source.is_some(),
        _ => false,
    }
}
