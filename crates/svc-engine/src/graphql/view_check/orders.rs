//! Default orders that their views cannot provide.

use super::{Finding, Severity};
use crate::graphql::find::default_key;
use crate::sql::{Filter, Query, Views, select_rows};
use svc_core::schema::{EDGE, FieldKind, Model, OrderKey, TypeIndex, TypeKind};
use svc_postgres::Catalog;

/// The fields whose `order_by` names a column that their rows do not have.
pub(super) fn broken_orders(model: &Model, catalog: &Catalog) -> Vec<Finding> {
    let objects = model.types.iter().filter_map(|def| match &def.kind {
        TypeKind::Object(object) => Some((def, object)),
        _ => None,
    });
    let fields =
        objects.flat_map(|(def, object)| object.fields.values().map(move |field| (def, field)));
    let mut broken = Vec::new();
    for (def, field) in fields {
        let (keys, row, joining): (&[OrderKey], _, _) = match field.kind {
            FieldKind::Root(run, Some(row), _) => (
                run.planned().map_or(&[], |planned| planned.order),
                row,
                None,
            ),
            FieldKind::Relation(relation) if !relation.is_derived() => {
                (relation.order, relation.row, relation.joining)
            }
            _ => continue,
        };

        // A missing view is reported elsewhere.
        let Some(source) = model.source(row).and_then(|name| catalog.source(name)) else {
            continue;
        };

        let cause = |key: &OrderKey| match edge_key(key).zip(joining) {
            Some((key, joining)) => cause(model, catalog, joining, &key),
            None => cause(model, catalog, row, key),
        };

        broken.extend(keys.iter().filter_map(cause).map(|cause| Finding {
            severity: Severity::Fault,
            source: source.name.clone(),
            field: format!("{}.{}", def.name, field.name),
            cause,
            remedy: "name columns or stored fields of the rows in `order_by`".to_owned(),
        }));
    }

    broken
}

/// The key of the joining rows, if an order key names one.
fn edge_key(key: &OrderKey) -> Option<OrderKey> {
    let column = key.column.strip_prefix(EDGE)?.strip_prefix('.')?;
    Some(OrderKey { column, ..*key })
}

/// The reason why rows cannot be ordered by a key.
fn cause(model: &Model, catalog: &Catalog, row: TypeIndex, key: &OrderKey) -> Option<String> {
    // The statement is only written, not run: writing it finds unknown columns.
    let query = Query {
        order: vec![default_key(key)],
        ..Query::new(row, Filter::All(Vec::new()))
    };

    let written = select_rows(
        Views {
            model,
            catalog,
            rules: None,
        },
        &query,
    );

    written
        .err()
        .map(|error| format!("the default order names `{}`: {error}", key.column))
}
