//! Fields that cannot be read from the views as they are.

use super::{Finding, Severity};
use crate::graphql::find::{stored_fields, wanted_rows};
use crate::sql::Views;
use svc_core::schema::{FieldKind, Model, Through, TypeIndex};
use svc_postgres::{Catalog, DbError, Source};

/// The stored fields and relation keys that their views cannot provide. Missing views are reported
/// elsewhere.
pub(super) fn broken_fields(model: &Model, catalog: &Catalog) -> Vec<Finding> {
    let mut broken = Vec::new();
    for row in 0..model.types.len() {
        let Some(source) = model.source(row).and_then(|name| catalog.source(name)) else {
            continue;
        };

        broken.extend(of_row(
            Views {
                model,
                catalog,
                rules: None,
            },
            row,
            source,
        ));

        broken.extend(
            far_keys(model, row)
                .into_iter()
                .filter_map(|key| lacking(catalog, key)),
        );
    }

    broken
}

fn of_row(views: Views<'_>, row: TypeIndex, source: &Source) -> Vec<Finding> {
    let fault = |field: String, cause: String, remedy: String| Finding {
        severity: Severity::Fault,
        source: source.name.clone(),
        field,
        cause,
        remedy,
    };

    // Without any right to the view, one finding replaces one for each field.
    if source
        .columns
        .keys()
        .all(|column| source.denied.contains(column))
    {
        let grant = format!("GRANT SELECT ON {} TO its role", source.name);
        return vec![fault(
            String::new(),
            format!("the service may not read `{}`", source.name),
            grant,
        )];
    }

    let broken = |stored: &'static str| {
        // A field without a column is read from `data`, so the right to `data` decides.
        let column = if source.columns.contains_key(stored) {
            stored
        } else {
            "data"
        };

        let field = field_of(views.model, row, stored);
        match wanted_rows(views, row, Some(&[stored])) {
            Err(error) => {
                let (cause, remedy) = told(&error, source, stored);
                Some(fault(field, cause, remedy))
            }
            Ok(_) if source.denied.contains(column) => {
                let cause = format!(
                    "the service may not read the column `{column}` of `{}`",
                    source.name
                );
                Some(fault(
                    field,
                    cause,
                    format!("GRANT SELECT ON {} TO its role", source.name),
                ))
            }
            Ok(_) => None,
        }
    };

    stored_fields(views.model, row)
        .into_iter()
        .filter_map(|(stored, _)| broken(stored))
        .collect()
}

/// The field with a stored name, or the relation with such a key, as `Type.field`.
fn field_of(model: &Model, row: TypeIndex, stored: &str) -> String {
    let objects = || {
        model
            .possible_types(row)
            .iter()
            .filter_map(|index| Some((index, model.object(*index)?)))
    };

    let fields = || {
        objects()
            .flat_map(|(index, object)| object.fields.values().map(move |field| (index, field)))
    };

    let has_it = |kind: &FieldKind| matches!(kind, FieldKind::Stored { stored: name, .. } if *name == stored);
    let ends_in_it = |kind: &FieldKind| matches!(kind, FieldKind::Relation(relation) if relation.from.contains(&stored));
    let found = fields().find(|(_, field)| has_it(&field.kind));
    let found = found.or_else(|| fields().find(|(_, field)| ends_in_it(&field.kind)));

    found.map_or_else(String::new, |(index, field)| {
        format!("{}.{}", model.types[*index].name, field.name)
    })
}

/// The cause and the remedy of a value that cannot be read.
fn told(error: &DbError, source: &Source, stored: &str) -> (String, String) {
    match (error, source.columns.get(stored)) {
        (DbError::NoSource { .. }, Some(column)) => (
            format!("{error}; its column is {}", column.sql),
            "cast the column in the view".to_owned(),
        ),
        (DbError::NoSource { .. }, None) => (
            error.to_string(),
            "add the column, or name another: `#[svc(stored = \"…\")]`".to_owned(),
        ),
        (
            DbError::NoKey {
                source_name,
                key,
                end,
            },
            _,
        ) => no_key(source_name, key, end),
        _ => (error.to_string(), "change the view or the type".to_owned()),
    }
}

fn no_key(source: &str, key: &str, end: &str) -> (String, String) {
    let cause = format!(
        "a relation needs the key `{key}` of `{source}`, which has neither such a column nor a `data` column"
    );
    (
        cause,
        format!("add it to the view, or name another with `#[relation({end} = \"…\")]`"),
    )
}

/// A key at the far end of a relation.
struct FarKey<'m> {
    /// The relation, as `Type.field`.
    field: String,
    source: &'m str,
    key: &'static str,
    end: &'static str,
}

fn far_keys(model: &Model, row: TypeIndex) -> Vec<FarKey<'_>> {
    let objects = model
        .possible_types(row)
        .iter()
        .filter_map(|index| Some((*index, model.object(*index)?)));
    let mut keys = Vec::new();
    for (index, field) in
        objects.flat_map(|(index, object)| object.fields.values().map(move |field| (index, field)))
    {
        let FieldKind::Relation(relation) = field.kind else {
            continue;
        };
        if relation.is_derived() {
            continue;
        }

        let name = || format!("{}.{}", model.types[index].name, field.name);
        let to = model
            .source(relation.row)
            .map(|source| (source, relation.to, "to"));
        let joining = relation.through.into_iter().flat_map(
            |Through {
                 source,
                 here,
                 there,
             }| [(source, here, "here"), (source, there, "there")],
        );

        let ends = to.into_iter().chain(joining);

        keys.extend(ends.flat_map(|(source, names, end)| {
            names.iter().map(move |key| FarKey {
                field: name(),
                source,
                key,
                end,
            })
        }));
    }

    keys
}

/// The finding for an existing view that cannot provide a key.
fn lacking(catalog: &Catalog, far: FarKey<'_>) -> Option<Finding> {
    let source = catalog.source(far.source)?;
    if source.columns.contains_key(far.key) || source.data().is_some() {
        return None;
    }

    let (cause, remedy) = no_key(&source.name, far.key, far.end);
    Some(Finding {
        severity: Severity::Fault,
        source: source.name.clone(),
        field: far.field,
        cause,
        remedy,
    })
}
