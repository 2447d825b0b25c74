//! Full rows: all stored fields, for the user's structs.

use crate::graphql::complete::{FullRows, RowSource};
use crate::graphql::find::columns::Columns;
use crate::graphql::plan::OutType;
use crate::sql::{Selected, Views};
use svc_core::Error;
use svc_core::schema::{FieldKind, Model, TypeIndex, TypeKind};
use svc_postgres::DbError;

/// Returns the columns to read for each row, and their use as the fields of its object.
pub(in crate::graphql::find) fn full_rows(
    views: Views<'_>,
    row: TypeIndex,
) -> Result<(Vec<Selected>, FullRows), DbError> {
    wanted_rows(views, row, None)
}

/// Like `full_rows`, but only for the stored names in `wanted`, if there are any.
pub(in crate::graphql) fn wanted_rows(
    views: Views<'_>,
    row: TypeIndex,
    wanted: Option<&[&str]>,
) -> Result<(Vec<Selected>, FullRows), DbError> {
    let model = views.model;
    let mut columns = Columns::new(views, row)?;
    let is_abstract = matches!(model.types[row].kind, TypeKind::Abstract(_));
    let mut fields = Vec::new();

    if is_abstract {
        fields.push(("__typename", None, columns.stored("__typename", None)?));
    }

    let is_wanted = |stored: &str| wanted.is_none_or(|wanted| wanted.contains(&stored));
    for (stored, ty) in stored_fields(model, row)
        .into_iter()
        .filter(|(stored, _)| is_wanted(stored))
    {
        // A member of an interface may store fields that other members do not have.
        let source = match columns.stored(stored, ty.as_ref()) {
            Err(_) if is_abstract => RowSource::Nothing,
            // Only the keys of relations have no type. The error has to say so, as no field of the
            // type has the name of the key.
            Err(DbError::NoSource {
                source_name,
                field: key,
            }) if ty.is_none() => {
                return Err(DbError::NoKey {
                    source_name,
                    key,
                    end: "from",
                });
            }
            source => source?,
        };

        fields.push((stored, ty, source));
    }

    let (list, data) = columns.finish();
    let no_object = Error::internal("a row is not an object of its type");

    Ok((
        list,
        FullRows {
            row,
            is_abstract,
            no_object,
            fields,
            data,
        },
    ))
}

/// Returns the stored names and types of all fields of the rows, without duplicate names. The keys
/// of relations have no type.
pub(in crate::graphql) fn stored_fields(
    model: &Model,
    row: TypeIndex,
) -> Vec<(&'static str, Option<OutType>)> {
    let objects = || {
        model
            .possible_types(row)
            .iter()
            .filter_map(|index| model.object(*index))
    };

    let fields = || objects().flat_map(|object| object.fields.values());
    let mut stored: Vec<(&'static str, Option<OutType>)> = Vec::new();

    // Fields come first: a key that is also a field needs the type of the field.
    for field in fields() {
        if let FieldKind::Stored { stored: name, .. } = field.kind
            && !stored.iter().any(|(known, _)| *known == name)
        {
            stored.push((name, Some(OutType::of(model, &field.ty).with_nulls())));
        }
    }

    for field in fields() {
        let FieldKind::Relation(relation) = field.kind else {
            continue;
        };
        for key in relation.from {
            if !stored.iter().any(|(known, _)| known == key) {
                stored.push((key, None));
            }
        }
    }

    stored
}
