//! Completes the selected fields of objects of one type, each by the source of its value.

use futures_util::FutureExt as _;
use futures_util::future::join_all;

use super::batch::call_batch;
use super::{complete_all, guarded, outcomes};
use crate::graphql::complete::joined::join;
use crate::graphql::complete::resolved::{Found, Instance};
use crate::graphql::complete::{PropagatedNull, key, typename};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Checked, PlanField, PlanKind, Selection};
use crate::graphql::resolver::Method;
use crate::graphql::response::{CompletedValue, Path};
use svc_core::Error;

/// Completes the selected fields of objects of one type.
pub(super) async fn fields<'a>(
    cx: &'a ExecutionContext<'a>,
    selection: &'a Selection,
    objects: Vec<(Instance<'a>, &'a Path<'a>)>,
) -> Vec<CompletedValue> {
    cx.spend(selection, objects.len());
    let paths: Vec<Vec<Path<'_>>> = selection
        .fields
        .iter()
        .map(|field| {
            objects
                .iter()
                .map(|(_, path)| path.key(&field.key))
                .collect()
        })
        .collect();

    let columns = selection.fields.iter().zip(&paths).map(|(field, paths)| {
        let spots = objects
            .iter()
            .zip(paths)
            .map(|((object, _), path)| (*object, path))
            .collect();
        one_field(cx, selection, field, spots)
    });

    let mut columns: Vec<_> = join_all(columns)
        .await
        .into_iter()
        .map(Vec::into_iter)
        .collect();

    let write = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
        key(out, index, &selection.fields[index]);
        out.extend_from_slice(bytes);
    };

    objects
        .iter()
        .map(|_| {
            join(
                columns
                    .iter_mut()
                    .filter_map(Iterator::next)
                    .collect::<Vec<_>>(),
                write,
                *b"{}",
            )
        })
        .collect()
}

/// Completes one field of objects of one type.
async fn one_field<'a>(
    cx: &'a ExecutionContext<'a>,
    selection: &'a Selection,
    field: &'a PlanField,
    objects: Vec<(Instance<'a>, &'a Path<'a>)>,
) -> Vec<CompletedValue> {
    match field.kind {
        PlanKind::Checked(checked) => checked_field(cx, selection, field, checked, objects).await,
        kind => by_kind(cx, selection, field, kind, objects).await,
    }
}

/// Completes a field for the objects that its checks allow.
async fn checked_field<'a>(
    cx: &'a ExecutionContext<'a>,
    selection: &'a Selection,
    field: &'a PlanField,
    checked: Checked,
    objects: Vec<(Instance<'a>, &'a Path<'a>)>,
) -> Vec<CompletedValue> {
    let asked = cx.field_question(field);
    let question = match &asked {
        Ok(question) => question,
        Err(error) => {
            return objects
                .iter()
                .map(|(_, path)| CompletedValue::failed(cx, error, field, path))
                .collect();
        }
    };

    // A row that cannot be decoded into its struct has no object to check.
    let decided = join_all(objects.iter().map(|(object, _)| async move {
        Ok::<_, &Error>(
            cx.gate
                .check_object(question, checked.checks, object.object()?)
                .await,
        )
    }));

    let decided = decided.await;
    let is_allowed = |decision: &Result<_, _>| matches!(decision, Ok(Ok(())));

    // A denied object is left out here, so nothing is read or called for it.
    let allowed = objects
        .iter()
        .zip(&decided)
        .filter(|(_, decision)| is_allowed(decision))
        .map(|(object, _)| *object);

    let mut done = by_kind(cx, selection, field, checked.kind(), allowed.collect())
        .await
        .into_iter();
    let mut completed = Vec::with_capacity(objects.len());
    for ((_, path), decision) in objects.iter().zip(&decided) {
        completed.push(match decision {
            // `done` has the values of the allowed objects only, in their order.
            Ok(Ok(())) => done.next().unwrap_or(CompletedValue {
                bytes: Err(PropagatedNull),
                errors: Vec::new(),
            }),
            Ok(Err(denied)) => CompletedValue::failed(cx, denied, field, path),
            Err(unreadable) => CompletedValue::failed(cx, unreadable, field, path),
        });
    }

    completed
}

/// Completes one field by the source of its value.
async fn by_kind<'a>(
    cx: &'a ExecutionContext<'a>,
    selection: &'a Selection,
    field: &'a PlanField,
    kind: PlanKind,
    objects: Vec<(Instance<'a>, &'a Path<'a>)>,
) -> Vec<CompletedValue> {
    match kind {
        PlanKind::Stored { index, stored, .. } => {
            let nodes: Vec<_> = objects
                .iter()
                .map(|(object, _)| object.node(field, stored))
                .collect();
            let spots = objects
                .iter()
                .zip(&nodes)
                .map(|((object, path), node)| match node {
                    Some(node) => (Found::Stored(node), *path),
                    None => (Found::Value(object.field(index)), *path),
                });

            complete_all(cx, field, &field.ty, spots.collect()).await
        }
        PlanKind::Relation(relation) => {
            let keys: Vec<_> = objects
                .iter()
                .map(|(object, _)| object.key(relation))
                .collect();
            let parents = objects
                .iter()
                .zip(&keys)
                .map(|((_, path), key)| (key.as_deref(), *path));

            cx.reads
                .relation(cx, field, relation, parents.collect())
                .await
        }
        PlanKind::Function(function, _) => {
            let ids: Vec<_> = objects
                .iter()
                .map(|(object, _)| object.id(cx.model, selection.type_index))
                .collect();
            let rows = objects
                .iter()
                .zip(&ids)
                .map(|((_, path), id)| (id.as_deref(), *path));
            cx.reads.function(cx, field, function, rows.collect()).await
        }
        PlanKind::Method(method, _) => called(cx, field, method, &objects).await,
        PlanKind::Typename => type_names(cx, selection, objects.len()),
        // The fields below it run later.
        PlanKind::Query => objects.iter().map(|_| CompletedValue::null()).collect(),
        PlanKind::Denied => all_denied(cx, field, &objects),
        PlanKind::Introspection | PlanKind::Part(_) | PlanKind::Checked(_) | PlanKind::Root(..) => {
            all_misplaced(cx, field, &objects)
        }
    }
}

/// Writes the name of the type, once for each object.
fn type_names(
    cx: &ExecutionContext<'_>,
    selection: &Selection,
    objects: usize,
) -> Vec<CompletedValue> {
    let name = |_| {
        CompletedValue::walk(cx, |_, out| {
            typename(out, selection);
            Ok(())
        })
    };

    (0..objects).map(name).collect()
}

/// Completes a field that the client may not access.
fn all_denied(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    objects: &[(Instance<'_>, &Path<'_>)],
) -> Vec<CompletedValue> {
    let denied = |(_, path): &(_, &Path<'_>)| {
        CompletedValue::walk(cx, |walk, out| walk.denied(field, path, out))
    };

    objects.iter().map(denied).collect()
}

/// Completes a field that cannot occur on the value of a resolver.
fn all_misplaced(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    objects: &[(Instance<'_>, &Path<'_>)],
) -> Vec<CompletedValue> {
    let error = Error::internal("the field belongs to no value of a resolver");

    objects
        .iter()
        .map(|(_, path)| CompletedValue::failed(cx, &error, field, path))
        .collect()
}

/// Calls a method for the objects and completes the outcomes.
async fn called<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    method: Method,
    objects: &[(Instance<'a>, &'a Path<'a>)],
) -> Vec<CompletedValue> {
    // A row that could not be decoded has no receiver; its error takes its place below.
    let receivers = objects
        .iter()
        .filter_map(|(object, path)| Some((object.object().ok()?, *path)));

    let done = match method {
        // Boxed, so that the futures of other fields do not grow.
        Method::Batch(run) => {
            call_batch(cx, field, run, receivers.collect())
                .boxed()
                .await
        }
        Method::Async(run) => {
            let calls = receivers.map(|(object, path)| async move {
                let outcome = match cx.call_method(field) {
                    Ok(call) => guarded(run(object.as_any(), call)).await,
                    Err(error) => Err(error),
                };
                (outcome, path)
            });
            outcomes(cx, field, join_all(calls).await).await
        }
        Method::Sync(run) => {
            let calls = receivers.map(|(object, path)| {
                let call = cx.call_method(field);
                (call.and_then(|call| run(object.as_any(), call)), path)
            });
            outcomes(cx, field, calls.collect()).await
        }
    };

    let mut done = done.into_iter();
    let value = |(object, path): &(Instance<'a>, &'a Path<'a>)| match object.object() {
        Ok(_) => done.next().unwrap_or(CompletedValue {
            bytes: Err(PropagatedNull),
            errors: Vec::new(),
        }),
        Err(error) => CompletedValue::failed(cx, error, field, path),
    };

    objects.iter().map(value).collect()
}
