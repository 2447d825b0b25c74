//! Rows found by node id: one statement for each type, like a relation that starts at the ids.

use async_graphql::Value;
use futures_util::future::join_all;

use super::write_relation;
use crate::graphql::complete::{CompletedValue, join};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{
    Admission, Children, OutType, PlanField, PlanKind, Selection, Slot, node_id,
};
use crate::graphql::response::Path;
use svc_core::Error;
use svc_core::schema::{FieldKind, Model, Relation, ScalarKind, Shape, TypeIndex};
use svc_postgres::DbError;

/// A requested row; `None` if its type is not a node type.
type Wanted = Option<(TypeIndex, String)>;

/// The requested rows of one type.
struct OfType {
    /// Their positions among the ids.
    places: Vec<usize>,
    field: PlanField,
    relation: Relation,
}

/// Resolves `node` or `nodes`.
pub(crate) async fn write_nodes(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    let field = admission.field();
    let wanted = match wanted(cx, field) {
        Ok(wanted) => wanted,
        Err(error) => return CompletedValue::failed(cx, &error, field, path),
    };

    let items: Vec<Path<'_>> = (0..wanted.len()).map(|index| path.index(index)).collect();
    let spot = |place: usize| {
        if field.ty.is_list() {
            &items[place]
        } else {
            path
        }
    };

    let types = by_type(field, &wanted);
    let reads = types.iter().map(|of| {
        let key = |place: &usize| wanted[*place].as_ref().map(|(_, own)| own.as_str());
        let parents = of.places.iter().map(|place| (key(place), spot(*place)));
        write_relation(cx, &of.field, of.relation, parents.collect())
    });

    let read = join_all(reads).await;
    let mut values: Vec<CompletedValue> = wanted.iter().map(|_| null(cx)).collect();
    for (of, rows) in types.iter().zip(read) {
        for (place, row) in of.places.iter().zip(rows) {
            values[*place] = row;
        }
    }

    if field.ty.is_list() {
        return join(values, comma, *b"[]");
    }

    values.pop().unwrap_or_else(|| null(cx))
}

fn wanted(cx: &ExecutionContext<'_>, field: &PlanField) -> Result<Vec<Wanted>, Error> {
    let mut wanted = Vec::new();
    for arg in field.args.iter() {
        let Some(value) = cx.argument(arg)? else {
            continue;
        };

        let ids = match value.as_ref() {
            Value::List(ids) => ids.as_slice(),
            one => std::slice::from_ref(one),
        };

        // `nodes` has no page, so the number of its ids has the same maximum.
        if ids.len() > cx.limits.max_page as usize {
            let given = i64::try_from(ids.len()).unwrap_or(i64::MAX);
            return Err(
                DbError::PageTooLarge("the number of ids", given, cx.limits.max_page).into_error(),
            );
        }

        for id in ids {
            let Value::String(text) = id else {
                return Err(Error::internal("the id of a node is not a string"));
            };
            wanted.push(row_of(cx.model, &field.children, text)?);
        }
    }

    Ok(wanted)
}

/// Returns the row that an id identifies.
fn row_of(model: &Model, nodes: &Children, text: &str) -> Result<Wanted, Error> {
    let (name, own) = node_id::read(text)?;
    let Some((index, _)) = model
        .type_named(&name)
        .filter(|(index, _)| nodes.of(*index).is_some())
    else {
        // Like the id of a deleted row, an id of another type finds no row and is no error.
        return Ok(None);
    };

    match key_kind(model, index) {
        Some((_, kind)) if is_valid(kind, &own) => Ok(Some((index, own))),
        _ => Err(node_id::not_an_id(text)),
    }
}

/// Returns the index and the scalar type of the id field of a type.
fn key_kind(model: &Model, node: TypeIndex) -> Option<(usize, ScalarKind)> {
    model
        .object(node)?
        .fields
        .values()
        .find_map(|field| match field.kind {
            FieldKind::NodeId { index, kind, .. } => Some((index, kind)),
            _ => None,
        })
}

/// Whether a text can be an id; invalid texts are not sent to PostgreSQL, as no row has them.
fn is_valid(kind: ScalarKind, own: &str) -> bool {
    match kind {
        ScalarKind::Uuid => own.parse::<uuid::Uuid>().is_ok(),
        ScalarKind::Int => own.parse::<i32>().is_ok(),
        ScalarKind::BigInt => own.parse::<i64>().is_ok(),
        _ => !own.contains('\0'),
    }
}

fn by_type(field: &PlanField, wanted: &[Wanted]) -> Vec<OfType> {
    let of_type = |selection: &std::sync::Arc<Selection>| {
        let row = selection.type_index;
        let is_of_it = |wanted: &Wanted| wanted.as_ref().is_some_and(|(index, _)| *index == row);
        let places: Vec<usize> = (0..wanted.len())
            .filter(|place| is_of_it(&wanted[*place]))
            .collect();
        let relation = Relation {
            index: 0,
            shape: Shape::Optional,
            row,
            from: &["id"],
            to: &["id"],
            through: None,
            joining: None,
            order: &[],
            // An unreadable key is the client's error and not a fault of the stored data.
            is_from_client: true,
        };

        let rows = PlanField {
            key: field.key.clone(),
            prefix: field.prefix.clone(),
            name: field.name.clone(),
            coordinate: field.coordinate.clone(),
            kind: PlanKind::Relation(relation),
            // Nullable: an id without a row gives null.
            ty: OutType::Composite,
            args: std::sync::Arc::default(),
            children: Children::One(selection.clone()),
            offsets: field.offsets.clone(),
            gated: None,
            is_boundary: false,
            denial: None,
            statements: Slot::default(),
        };

        OfType {
            places,
            field: rows,
            relation,
        }
    };

    field
        .children
        .iter()
        .map(of_type)
        .filter(|of| !of.places.is_empty())
        .collect()
}

fn null(cx: &ExecutionContext<'_>) -> CompletedValue {
    CompletedValue::walk(cx, |_, out| {
        out.extend_from_slice(b"null");
        Ok(())
    })
}

fn comma(out: &mut Vec<u8>, index: usize, bytes: &[u8]) {
    if index > 0 {
        out.push(b',');
    }
    out.extend_from_slice(bytes);
}
