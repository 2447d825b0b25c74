//! Completes values with fields that wait. The walk goes level by level: a field is completed for
//! all objects of a level at once, so that the rows of a relation are read with one statement,
//! however many parents there are. Each value gets a separate buffer, and the values are joined in
//! request order.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};

use super::resolved::{Found, Instance};
use super::{PropagatedNull, Walk, key, typename, value};
use crate::Error;
use crate::engine::completed_value::CompletedValue;
use crate::engine::execution_context::ExecutionContext;
use crate::engine::path::Path;
use crate::engine::plan::{Admission, Checked, OutType, PlanField, PlanKind, Selection};
use crate::engine::resolver::{Completed, Method, Outcome};
use crate::postgres::DbError;

impl CompletedValue {
    /// Writes a value of a few bytes.
    pub(crate) fn walk<'a>(
        cx: &'a ExecutionContext<'a>,
        run: impl FnOnce(&mut Walk<'a>, &mut Vec<u8>) -> Result<(), PropagatedNull>,
    ) -> Self {
        let mut walk = Walk::new(cx);
        let mut out = Vec::new();
        let bytes = run(&mut walk, &mut out).map(|()| out);
        Self {
            bytes,
            errors: walk.errors,
        }
    }

    /// Runs a walk over the value of a field, with an estimated size of `size` bytes.
    pub(crate) fn walk_into<'a>(
        cx: &'a ExecutionContext<'a>,
        (field, path): (&PlanField, &Path<'_>),
        size: usize,
        run: impl FnOnce(&mut Walk<'a>, &mut Vec<u8>) -> Result<(), PropagatedNull>,
    ) -> Self {
        let mut walk = Walk::new(cx);
        let mut out = Vec::with_capacity(size);
        let result = run(&mut walk, &mut out);
        walk.end(field, &field.ty, path, (result, out))
    }

    /// Runs a walk over rows into a value, with an estimated size of `size` bytes.
    ///
    /// # Errors
    /// If the view of a row has changed since the statement was written.
    pub(crate) fn walk_rows<'a>(
        cx: &'a ExecutionContext<'a>,
        (field, path): (&PlanField, &Path<'_>),
        size: usize,
        run: impl FnOnce(&mut Walk<'a>, &mut Vec<u8>) -> Result<(), PropagatedNull>,
    ) -> Result<Self, DbError> {
        let mut walk = Walk::new(cx);
        let mut out = Vec::with_capacity(size);
        let result = run(&mut walk, &mut out);
        if walk.outdated {
            return Err(DbError::Changed);
        }
        Ok(walk.end(field, &field.ty, path, (result, out)))
    }

    /// Completes a field that failed before it had a value.
    pub(crate) fn failed(
        cx: &ExecutionContext<'_>,
        error: &Error,
        field: &PlanField,
        path: &Path<'_>,
    ) -> Self {
        CompletedValue::walk(cx, |walk, out| walk.failed(error, field, path, out))
    }

    /// Puts `head` and `tail` around the bytes of the value. The bytes move inside their buffer, as
    /// a copy would double the memory of a large response.
    pub(crate) fn between(mut self, head: &[u8], tail: u8) -> Self {
        if let Ok(bytes) = &mut self.bytes {
            // One more byte, to close the response.
            bytes.reserve_exact(head.len() + 2);
            let length = bytes.len();
            bytes.resize(length + head.len(), 0);
            bytes.copy_within(..length, head.len());
            bytes[..head.len()].copy_from_slice(head);
            bytes.push(tail);
        }

        self
    }

    /// Stops the propagation of a null here if the type is nullable.
    pub(super) fn stop_null(mut self, ty: &OutType) -> Self {
        if self.bytes.is_err() && !ty.nullable().1 {
            self.bytes = Ok(b"null".to_vec());
        }
        self
    }
}

/// Joins values in order. After the first value that propagates null, the other values and their
/// errors are dropped, as if the fields had run one after another.
pub(crate) fn join(
    completed: impl IntoIterator<Item = CompletedValue>,
    write: impl FnMut(&mut Vec<u8>, usize, &[u8]),
    around: [u8; 2],
) -> CompletedValue {
    join_after(Vec::new(), completed, write, around)
}

/// Joins values and appends them to `out`.
pub(crate) fn join_after(
    mut out: Vec<u8>,
    completed: impl IntoIterator<Item = CompletedValue>,
    mut write: impl FnMut(&mut Vec<u8>, usize, &[u8]),
    around: [u8; 2],
) -> CompletedValue {
    out.push(around[0]);
    let mut errors = Vec::new();
    for (index, value) in completed.into_iter().enumerate() {
        errors.extend(value.errors);
        match value.bytes {
            Ok(bytes) => write(&mut out, index, &bytes),
            Err(null) => {
                return CompletedValue {
                    bytes: Err(null),
                    errors,
                };
            }
        }
    }

    out.push(around[1]);

    CompletedValue {
        bytes: Ok(out),
        errors,
    }
}

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
            join(items, comma, *b"[]").stop_null(ty)
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
                    .stop_null(ty),
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
            completed[*index] = Some(value.stop_null(ty));
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

/// Completes the selected fields of objects of one type.
async fn fields<'a>(
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
        PlanKind::Typename => {
            let name = |walk: &mut Walk<'_>, out: &mut Vec<u8>| {
                let _ = walk;
                typename(out, selection);
                Ok(())
            };
            objects
                .iter()
                .map(|_| CompletedValue::walk(cx, name))
                .collect()
        }
        PlanKind::Denied => {
            let denied = |(_, path): &(_, &Path<'_>)| {
                CompletedValue::walk(cx, |walk, out| walk.denied(field, path, out))
            };
            objects.iter().map(denied).collect()
        }
        PlanKind::Introspection | PlanKind::Part(_) | PlanKind::Checked(_) | PlanKind::Root(..) => {
            let error = Error::internal("the field belongs to no value of a resolver");
            objects
                .iter()
                .map(|(_, path)| CompletedValue::failed(cx, &error, field, path))
                .collect()
        }
    }
}

/// Calls a method of each object and completes the outcomes.
async fn called<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    method: Method,
    objects: &[(Instance<'a>, &'a Path<'a>)],
) -> Vec<CompletedValue> {
    let receivers = objects
        .iter()
        .filter_map(|(object, path)| Some((object.object().ok()?, *path)));
    let calls = receivers.map(|(object, path)| async move {
        let outcome = match (cx.call_method(field), method) {
            (Ok(call), Method::Sync(run)) => run(object.as_any(), call),
            (Ok(call), Method::Async(run)) => guarded(run(object.as_any(), call)).await,
            (Err(error), _) => Err(error),
        };
        (outcome, path)
    });

    let mut done = outcomes(cx, field, join_all(calls).await).await.into_iter();
    let value = |(object, path): &(Instance<'a>, &'a Path<'a>)| match object.object() {
        Ok(_) => done.next().unwrap_or(CompletedValue {
            bytes: Err(PropagatedNull),
            errors: Vec::new(),
        }),
        Err(error) => CompletedValue::failed(cx, error, field, path),
    };

    objects.iter().map(value).collect()
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
            Ok(Completed::Query(query)) => {
                Some(cx.reads.query(cx, field, (**query).clone(), path).await)
            }
            Err(error) => Some(CompletedValue::failed(cx, error, field, path)),
        }
    }));

    let (values, others) = futures_util::future::join(values, others).await;
    let mut values = values.into_iter();

    others
        .into_iter()
        .filter_map(|other| other.or_else(|| values.next()))
        .collect()
}

/// Converts a panic of a resolver into an error.
pub(crate) async fn guarded<'a>(run: impl Future<Output = Outcome<'a>>) -> Outcome<'a> {
    match std::panic::AssertUnwindSafe(run).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => Err(crate::panic::error("the resolver", &*panic)),
    }
}
