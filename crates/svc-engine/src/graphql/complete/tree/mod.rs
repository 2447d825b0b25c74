//! Completes values with fields that wait. The walk goes level by level: a field is completed for
//! all objects of a level at once, so that the rows of a relation are read with one statement,
//! however many parents there are. Each value gets a separate buffer, and the values are joined in
//! request order.

mod batch;
mod fields;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};

use self::fields::fields;
use super::joined::join;
use super::resolved::{Found, Instance};
use super::{PropagatedNull, Walk, value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{Admission, OutType, PlanField, Selection};
use crate::graphql::resolver::{Completed, Outcome, ReturnedQuery};
use crate::graphql::response::{CompletedValue, Path};
use svc_core::Error;

/// Completes the outcome of a root field's resolver.
pub(crate) async fn root_value(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    outcome: Outcome<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    one(outcomes(cx, admission.field(), vec![(outcome, path)]).await)
}

/// Completes a value of the field's type.
pub(crate) async fn complete_value(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    found: Found<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    one(complete_all(cx, field, &field.ty, vec![(found, path)]).await)
}

fn one(completed: Vec<CompletedValue>) -> CompletedValue {
    completed.into_iter().next().unwrap_or(CompletedValue {
        bytes: Err(PropagatedNull),
        errors: Vec::new(),
    })
}

/// A value and its path.
type Spot<'a> = (Found<'a>, &'a Path<'a>);

/// Completes the values of one field on many objects, one value for each object. Does not wait if
/// no field below waits.
pub(crate) fn complete_all<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    ty: &'a OutType,
    spots: Vec<Spot<'a>>,
) -> BoxFuture<'a, Vec<CompletedValue>> {
    if !field.children.wait() {
        let completed = spots
            .into_iter()
            .map(|spot| walked(cx, field, ty, &spot))
            .collect();
        return std::future::ready(completed).boxed();
    }

    // Boxed, as the futures contain each other: objects complete fields, and fields complete
    // objects.
    match ty.nullable().0 {
        OutType::List(item) => lists(cx, field, ty, item, spots).boxed(),
        OutType::Composite => objects(cx, field, ty, spots).boxed(),
        _ => std::future::ready(
            spots
                .iter()
                .map(|spot| walked(cx, field, ty, spot))
                .collect(),
        )
        .boxed(),
    }
}

fn walked(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    ty: &OutType,
    (node, path): &Spot<'_>,
) -> CompletedValue {
    let mut walk = Walk::new(cx);
    let mut out = Vec::new();
    let result = value(&mut walk, field, ty, node, path, &mut out);
    walk.end(field, ty, path, (result, out))
}

/// Completes the items of all lists together.
async fn lists<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    ty: &'a OutType,
    item: &'a OutType,
    spots: Vec<Spot<'a>>,
) -> Vec<CompletedValue> {
    let paths: Vec<Vec<Path<'_>>> = spots
        .iter()
        .map(|(found, path)| {
            (0..found.items().unwrap_or(0))
                .map(|index| path.index(index))
                .collect()
        })
        .collect();

    let items = spots.iter().zip(&paths).flat_map(|((found, _), paths)| {
        paths
            .iter()
            .enumerate()
            .map(move |(index, path)| (found.item(index), path))
    });

    let mut completed = complete_all(cx, field, item, items.collect())
        .await
        .into_iter();
    let comma = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(bytes);
    };

    let list = spots.iter().map(|spot| match spot.0.items() {
        Some(items) => {
            let items: Vec<_> = completed.by_ref().take(items).collect();
            join(items, comma, *b"[]").stop_null(cx, field, ty)
        }
        None => walked(cx, field, ty, spot),
    });

    list.collect()
}

/// Completes all objects together, type by type.
async fn objects<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    ty: &'a OutType,
    spots: Vec<Spot<'a>>,
) -> Vec<CompletedValue> {
    let mut completed: Vec<Option<CompletedValue>> = Vec::with_capacity(spots.len());
    let mut groups: Vec<(&Selection, Vec<usize>)> = Vec::new();
    for (index, (node, path)) in spots.iter().enumerate() {
        let Some(instance) = Instance::of(node) else {
            // Null, rows, or an unsuitable value: the synchronous walk completes or reports it.
            completed.push(Some(walked(cx, field, ty, &spots[index])));
            continue;
        };

        completed.push(match instance.selection(cx, field) {
            Ok(selection) => {
                cx.note_result(field, selection);
                match groups
                    .iter_mut()
                    .find(|(known, _)| std::ptr::eq(*known, selection))
                {
                    Some((_, members)) => members.push(index),
                    None => groups.push((selection, vec![index])),
                }
                None
            }
            Err(why) => Some(
                CompletedValue::walk(cx, |walk, _| Err(walk.broken(field, path, why)))
                    .stop_null(cx, field, ty),
            ),
        });
    }

    let by_type = join_all(groups.iter().map(|(selection, members)| {
        let objects = members.iter().filter_map(|index| {
            let (value, path) = &spots[*index];
            Some((Instance::of(value)?, *path))
        });
        fields(cx, selection, objects.collect())
    }));

    for ((_, members), done) in groups.iter().zip(by_type.await) {
        for (index, value) in members.iter().zip(done) {
            completed[*index] = Some(value.stop_null(cx, field, ty));
        }
    }

    completed
        .into_iter()
        .map(|value| {
            value.unwrap_or(CompletedValue {
                bytes: Err(PropagatedNull),
                errors: Vec::new(),
            })
        })
        .collect()
}

/// Completes the outcomes of calls: all values together, and each query with its own statement.
async fn outcomes<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    calls: Vec<(Outcome<'a>, &'a Path<'a>)>,
) -> Vec<CompletedValue> {
    let values = calls.iter().filter_map(|(outcome, path)| match outcome {
        Ok(Completed::Value(value)) => Some((Found::Value(value.resolve()), *path)),
        _ => None,
    });
    let values = complete_all(cx, field, &field.ty, values.collect());
    let others = join_all(calls.iter().map(|(outcome, path)| async move {
        match outcome {
            Ok(Completed::Value(_)) => None,
            Ok(Completed::Query(query)) => match ReturnedQuery::of(&**query) {
                Ok(query) => Some(cx.reads.query(cx, field, query.clone(), path).await),
                Err(error) => Some(CompletedValue::failed(cx, &error, field, path)),
            },
            Err(error) => Some(CompletedValue::failed(cx, error, field, path)),
        }
    }));

    // Together, so that the relations of the values and the queries are read at the same time.
    let (values, others) = futures_util::future::join(values, others).await;
    let mut values = values.into_iter();

    // `values` has one result for each `None` in `others`, in the same order.
    others
        .into_iter()
        .filter_map(|other| other.or_else(|| values.next()))
        .collect()
}

/// Converts a panic of a resolver into an error.
pub(crate) async fn guarded<T>(run: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    // The future is dropped after a panic, so no code sees the state that it left.
    match std::panic::AssertUnwindSafe(run).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => Err(svc_telemetry::panic::error("the resolver", &*panic)),
    }
}
