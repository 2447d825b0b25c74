//! The entity that a mutation wrote: the JSON that the function returned, or the row of the view.

use std::any::TypeId;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::given::{Given, id_of, list, stored_keys};
use crate::graphql::complete::UnreadValues;
use crate::graphql::find::{read_row, typed_rows};
use crate::graphql::plan::{Calls, Children, PlanKind};
use crate::mutation_result::Response;
use crate::repository::{Db, FindSpec};
use crate::sql::{Subject, col};
use svc_core::Error;
use svc_core::schema::{Model, ScalarKind, TypeIndex, TypeKind};

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

/// Returns the entity's JSON. For a type with a row policy, it is always the row of the view, if
/// that row is permitted. If the function returned no entity, only its id, or not all selected
/// fields, the row with its id is read from the view, as in a query: the selected fields, or all
/// fields if a method needs them.
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
    let given = response.entity.map(|raw| {
        Given {
            model,
            ty,
            named: response.entity_type.as_deref(),
        }
        .complete(raw.get())
    });

    if is_governed(db, ty)? {
        return governed(
            db,
            EntityType { ty, list },
            response.entity_id.clone(),
            given,
        )
        .await;
    }

    let Some(row) = row_of(model, ty) else {
        return Ok(Entity::whole(given));
    };
    if list {
        return entities(db, ty, row, given, selected).await;
    }

    if given
        .as_deref()
        .is_some_and(|given| has_all(model, ty, given, selected.as_deref()))
    {
        return Ok(Entity::whole(given));
    }

    let Some(id) = response
        .entity_id
        .clone()
        .or_else(|| given.as_deref().and_then(id_of))
    else {
        return Ok(Entity::whole(given));
    };

    let find = FindSpec {
        filter: col("id").eq(id),
        limit: Some(1),
        ..FindSpec::new(row)
    };

    let wanted = selected.as_deref().and_then(stored_selected);

    match read_row(db, &find, wanted.as_deref()).await? {
        Some((row, errors)) => Ok(Entity {
            json: Some(row.to_string()),
            unread: UnreadValues::of(errors),
        }),
        // The view may lack the row, for example after a deletion; then a returned object is the
        // entity, but an id alone is not.
        None => Ok(Entity::whole(given.filter(|given| given.starts_with('{')))),
    }
}

/// Like `entity`, for each item of a list, with one read for all incomplete items. An item that is
/// missing in the view is omitted if the function returned only its id, like a deleted one.
async fn entities(
    db: &Db,
    ty: TypeIndex,
    row: TypeId,
    given: Option<String>,
    selected: Option<Vec<&Children>>,
) -> Result<Entity, Error> {
    let model = &db.app.model;
    let items = given
        .as_deref()
        .and_then(|given| serde_json::from_str::<Vec<&RawValue>>(given).ok());
    let Some(items) = items else {
        return Ok(Entity::whole(given));
    };

    let is_complete = |item: &RawValue| has_all(model, ty, item.get(), selected.as_deref());
    let lacking: Vec<_> = items
        .iter()
        .filter(|item| !is_complete(item))
        .filter_map(|item| id_of(item.get()))
        .collect();

    if lacking.is_empty() {
        return Ok(Entity::whole(given));
    }

    let find = FindSpec {
        filter: col("id").is_in(lacking),
        ..FindSpec::new(row)
    };

    let wanted = selected.as_deref().and_then(stored_selected);
    let mut rows = HashMap::new();
    for row in typed_rows(db, db.reader(), &find, wanted.as_deref()).await? {
        let json = row.to_string();
        rows.extend(id_of(&json).map(|id| (id, json)));
    }

    let read = |item: &RawValue| {
        // Without a row of the view, an object or null is the item, and an id leaves it out.
        let known = || {
            item.get()
                .starts_with(['{', 'n'])
                .then(|| item.get().to_owned())
        };

        if is_complete(item) {
            known()
        } else {
            id_of(item.get())
                .and_then(|id| rows.get(&id).cloned())
                .or_else(known)
        }
    };

    Ok(Entity::whole(Some(list(
        items.into_iter().filter_map(read),
    ))))
}

/// The row type of a schema type that has a view.
fn row_of(model: &Model, ty: TypeIndex) -> Option<TypeId> {
    let row = model
        .by_rust
        .iter()
        .find(|(_, index)| **index == ty)
        .map(|(row, _)| *row);
    row.filter(|_| has_source(model, ty))
}

/// Whether policies restrict the rows or the fields of this type, so that the function's result is
/// not enough.
pub(in crate::graphql) fn is_governed(db: &Db, ty: TypeIndex) -> Result<bool, Error> {
    let Some(rules) = &db.rules else {
        return Ok(false);
    };
    let is_masked =
        || stored_keys(&db.app.model, ty).any(|stored| rules.mask(ty, stored).is_some());
    Ok(rules.rule(Subject::Rows(ty))?.is_some() || is_masked())
}

/// The rows of the view with the ids that the function returned, as far as the row policies permit
/// them.
async fn governed(
    db: &Db,
    EntityType { ty, list: is_list }: EntityType,
    entity_id: Option<String>,
    given: Option<String>,
) -> Result<Entity, Error> {
    let Some(row) = row_of(&db.app.model, ty) else {
        return Ok(Entity::whole(None));
    };

    let ids: Vec<String> = match given.as_deref() {
        Some(given) if is_list => {
            let items: Option<Vec<&RawValue>> = serde_json::from_str(given)?;
            items
                .into_iter()
                .flatten()
                .filter_map(|item| id_of(item.get()))
                .collect()
        }
        given => entity_id
            .or_else(|| given.and_then(id_of))
            .into_iter()
            .collect(),
    };

    let mut rows = HashMap::new();
    if !ids.is_empty() {
        let find = FindSpec {
            filter: col("id").is_in(ids.clone()),
            ..FindSpec::new(row)
        };
        for row in typed_rows(db, db.reader(), &find, None).await? {
            let json = row.to_string();
            rows.extend(id_of(&json).map(|id| (id, json)));
        }
    }

    // The function may return a row more than once.
    let mut permitted = ids.iter().filter_map(|id| rows.get(id).cloned());

    Ok(Entity::whole(match is_list {
        true => given.map(|_| list(permitted)),
        false => permitted.next(),
    }))
}

/// The selected stored names; `None` for all, if a method or a relation needs the row as a struct.
fn stored_selected(selected: &[&Children]) -> Option<Vec<&'static str>> {
    if selected
        .iter()
        .any(|children| children.waits() != Calls::None)
    {
        return None;
    }

    let selections = selected.iter().flat_map(|children| children.iter());
    let stored = selections
        .flat_map(|selection| &selection.fields)
        .filter_map(|field| match field.kind {
            PlanKind::Stored { stored, .. } => Some(stored),
            _ => None,
        });

    // The id finds the item that a row belongs to, even if the client does not select it.
    Some(stored.chain(["id"]).collect())
}

/// Whether an entity has a key for every selected field.
fn has_all(model: &Model, ty: TypeIndex, entity: &str, selected: Option<&[&Children]>) -> bool {
    let Ok(keys) = serde_json::from_str::<HashMap<String, &RawValue>>(entity) else {
        // A value that is neither an object nor an id is reported when it is completed.
        return id_of(entity).is_none();
    };

    let whole = selected.is_none_or(|all| all.iter().any(|children| children.needs_whole_rows()));
    if whole && !stored_keys(model, ty).all(|key| keys.contains_key(key)) {
        return false;
    }

    let selections = selected
        .unwrap_or_default()
        .iter()
        .flat_map(|children| children.iter());

    selections
        .flat_map(|selection| &selection.fields)
        .all(|field| match field.kind {
            PlanKind::Stored { stored, .. } => keys.contains_key(stored),
            PlanKind::Relation(relation) => relation.from.iter().all(|key| keys.contains_key(*key)),
            PlanKind::Function(..) => keys.contains_key("id"),
            _ => true,
        })
}

/// Whether the JSON of a value of this type may have a key `status` that is not a response's.
pub(super) fn holds_status(model: &Model, ty: TypeIndex) -> bool {
    matches!(
        model.types[ty].kind,
        TypeKind::Scalar {
            kind: ScalarKind::Json,
            ..
        }
    ) || stored_keys(model, ty).any(|key| key == "status")
}

pub(super) fn has_source(model: &Model, ty: TypeIndex) -> bool {
    match &model.types[ty].kind {
        TypeKind::Object(object) => object.source.is_some(),
        TypeKind::Abstract(abstract_type) => abstract_type.source.is_some(),
        _ => false,
    }
}
