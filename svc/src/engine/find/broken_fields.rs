//! The fields that cannot be read of the views as they are.

use std::sync::{Arc, Weak};

use super::full_rows::{stored_fields, wanted_rows};
use crate::postgres::{Catalogue, Database, DbError, Source};
use crate::schema::{FieldKind, Model, Through, TypeIndex, TypeKind};
use crate::sql::Views;

/// Says of each stored field and key of a relation that its view cannot give why that is so. Views that are missing are
/// told of elsewhere.
pub(crate) fn broken_fields(model: &Model, catalogue: &Catalogue) -> Vec<String> {
    let mut broken = Vec::new();
    for (row, def) in model.types.iter().enumerate() {
        let name = match &def.kind {
            TypeKind::Object(object) => object.source,
            TypeKind::Abstract(abstract_type) => abstract_type.source,
            _ => None,
        };
        if let Some(source) = name.and_then(|name| catalogue.source(name)) {
            broken.extend(of_row(Views { model, catalogue, rules: None }, row, source));
            broken.extend(
                far_keys(model, row).into_iter().filter_map(|(name, key, end)| lacking(catalogue, name, key, end)),
            );
        }
    }
    broken.sort();
    broken.dedup();
    broken
}

fn of_row(views: Views<'_>, row: TypeIndex, source: &Source) -> Vec<String> {
    if source.columns.keys().all(|column| source.denied.contains(column)) {
        return vec![format!("the service may not read `{0}`: GRANT SELECT ON {0} TO its role", source.name)];
    }
    let why = |stored: &'static str| {
        let column = if source.columns.contains_key(stored) { stored } else { "data" };
        match wanted_rows(views, row, Some(&[stored])) {
            Err(error) => Some(error.to_string()),
            Ok(_) if source.denied.contains(column) => {
                Some(format!("the service may not read the column `{column}` of `{}`", source.name))
            }
            Ok(_) => None,
        }
    };
    stored_fields(views.model, row).into_iter().filter_map(|(stored, _)| why(stored)).collect()
}

/// The keys with which relations end: each with its view, and the end that it is.
fn far_keys(model: &Model, row: TypeIndex) -> Vec<(&str, &'static str, &'static str)> {
    let objects = model.possible_types(row).iter().filter_map(|index| model.object(*index));
    let mut keys = Vec::new();
    for field in objects.flat_map(|object| object.fields.values()) {
        let FieldKind::Relation(relation) = field.kind else { continue };
        keys.extend(model.source(relation.row).map(|source| (source, relation.to, "to")));
        if let Some(Through { source, here, there }) = relation.through {
            keys.extend([(source, here, "here"), (source, there, "there")]);
        }
    }
    keys
}

/// Why a view that is there cannot give a key.
fn lacking(catalogue: &Catalogue, name: &str, key: &str, end: &'static str) -> Option<String> {
    let source = catalogue.source(name)?;
    let is_there = source.columns.contains_key(key) || source.data().is_some();
    (!is_there).then(|| DbError::NoKey { source_name: source.name.clone(), key: key.to_owned(), end }.to_string())
}

/// Writes what cannot be read to the log, each time that it has changed.
pub(crate) async fn note_broken_fields(database: Weak<Database>, model: Arc<Model>) {
    let mut known = Vec::new();
    loop {
        let Some(database) = Database::when_up(database.clone()).await else { return };
        let mut changes = database.told_of_changes();
        if let Ok(catalogue) = database.catalogue().await {
            let broken = broken_fields(&model, &catalogue);
            for why in broken.iter().filter(|why| !known.contains(*why)) {
                tracing::warn!(why, "a field cannot be read");
            }
            known = broken;
        }
        drop(database);
        if changes.changed().await.is_err() {
            return;
        }
    }
}
