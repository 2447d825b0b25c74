//! Values whose fields wait: everything on one level runs concurrently, each piece into bytes of its own, and
//! the pieces are joined in request order.

use std::borrow::Cow;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};

use super::resolved::{arguments, selection};
use super::{Nulled, Walk, key, typename, value};
use crate::Error;
use crate::engine::call::{Completed, Outcome};
use crate::engine::env::Env;
use crate::engine::field_error::FieldError;
use crate::engine::find::write_find;
use crate::engine::path::Path;
use crate::engine::plan::{Calls, OutType, PlanField, PlanKind, Selection};
use crate::schema::{Method, Object, Resolved};

/// A part of the answer: its bytes unless it became null, and its errors.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Result<Vec<u8>, Nulled>,
    pub(crate) errors: Vec<FieldError>,
}

impl Piece {
    /// Runs a walk into a piece.
    pub(crate) fn walk<'a>(
        env: &'a Env<'a>,
        run: impl FnOnce(&mut Walk<'a>, &mut Vec<u8>) -> Result<(), Nulled>,
    ) -> Self {
        let mut walk = Walk::new(env);
        let mut out = Vec::new();
        let bytes = run(&mut walk, &mut out).map(|()| out);
        Self { bytes, errors: walk.errors }
    }

    /// A field that failed before it had a value.
    pub(crate) fn failed(env: &Env<'_>, error: &Error, field: &PlanField, path: &Path<'_>) -> Self {
        Piece::walk(env, |walk, out| walk.failed(error, field, path, out))
    }

    /// Stops a null here when the type allows it.
    fn settle(mut self, ty: &OutType) -> Self {
        if self.bytes.is_err() && !ty.nullable().1 {
            self.bytes = Ok(b"null".to_vec());
        }
        self
    }
}

/// Joins pieces in order. After the first that is null the rest does not count, nor do its errors, as if the
/// fields had run one after the other.
pub(crate) fn join(pieces: Vec<Piece>, mut write: impl FnMut(&mut Vec<u8>, usize, &[u8]), around: [u8; 2]) -> Piece {
    let mut out = vec![around[0]];
    let mut errors = Vec::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        errors.extend(piece.errors);
        match piece.bytes {
            Ok(bytes) => write(&mut out, index, &bytes),
            Err(nulled) => return Piece { bytes: Err(nulled), errors },
        }
    }
    out.push(around[1]);
    Piece { bytes: Ok(out), errors }
}

/// Completes what a root field's resolver gave back.
pub(crate) async fn root_value(env: &Env<'_>, field: &PlanField, outcome: Outcome<'_>, path: &Path<'_>) -> Piece {
    match outcome {
        Ok(Completed::Value(answer)) => complete(env, field, &field.ty, answer.resolve(), path).await,
        Ok(Completed::Find(find)) => write_find(env, field, find, path).await,
        Err(error) => Piece::failed(env, &error, field, path),
    }
}

/// Completes a value of the field's type.
pub(crate) async fn complete_value(env: &Env<'_>, field: &PlanField, node: Resolved<'_>, path: &Path<'_>) -> Piece {
    complete(env, field, &field.ty, node, path).await
}

/// Completes a value; without waiting where nothing below waits.
fn complete<'a>(
    env: &'a Env<'a>,
    field: &'a PlanField,
    ty: &'a OutType,
    node: Resolved<'a>,
    path: &'a Path<'a>,
) -> BoxFuture<'a, Piece> {
    if field.children.calls() < Calls::Async {
        return std::future::ready(Piece::walk(env, |walk, out| value(walk, field, ty, &node, path, out))).boxed();
    }
    async move {
        let inner = ty.nullable().0;
        match (inner, node) {
            (OutType::List(item), Resolved::List(items)) => {
                let paths: Vec<_> = (0..items.len()).map(|index| path.index(index)).collect();
                let pieces =
                    paths.iter().enumerate().map(|(index, path)| complete(env, field, item, items.get(index), path));
                let comma = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
                    if index > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(bytes);
                };
                join(join_all(pieces).await, comma, *b"[]").settle(ty)
            }
            (OutType::Composite, Resolved::Object(object)) => match selection(env, field, object) {
                Ok(selection) => fields(env, selection, object, path).await.settle(ty),
                Err(why) => Piece::walk(env, |walk, _| Err(walk.broken(field, path, why))).settle(ty),
            },
            // Null, or a value that does not fit: the walk that does not wait reports it.
            (_, node) => Piece::walk(env, |walk, out| value(walk, field, ty, &node, path, out)),
        }
    }
    .boxed()
}

async fn fields<'a>(env: &'a Env<'a>, selection: &'a Selection, object: &'a dyn Object, path: &'a Path<'a>) -> Piece {
    let paths: Vec<_> = selection.fields.iter().map(|field| path.key(&field.key)).collect();
    let pieces =
        selection.fields.iter().zip(&paths).map(|(field, path)| one_field(env, selection, field, object, path));
    let pieces = join_all(pieces).await;
    let write = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
        key(out, index, &selection.fields[index]);
        out.extend_from_slice(bytes);
    };
    join(pieces, write, *b"{}")
}

async fn one_field<'a>(
    env: &'a Env<'a>,
    selection: &'a Selection,
    field: &'a PlanField,
    object: &'a dyn Object,
    path: &'a Path<'a>,
) -> Piece {
    let outcome = match field.kind {
        PlanKind::Stored { index, .. } => return complete(env, field, &field.ty, object.field(index), path).await,
        PlanKind::Method(method) => match arguments(env, field) {
            Ok(call) => match method {
                Method::Sync(run) => run(object.as_any(), call),
                Method::Async(run) => guarded(run(object.as_any(), call)).await,
            },
            Err(error) => Err(error),
        },
        PlanKind::Typename => {
            return Piece::walk(env, |_, out| {
                typename(out, selection);
                Ok(())
            });
        }
        PlanKind::Introspection | PlanKind::Root(..) => Err(Error::internal("a root field stands below the root")),
    };
    root_value(env, field, outcome, path).await
}

/// A resolver that panics fails like one that returns an error.
pub(crate) async fn guarded<'a>(run: impl Future<Output = Outcome<'a>>) -> Outcome<'a> {
    match std::panic::AssertUnwindSafe(run).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => Err(Error::internal(format!("the resolver panicked: {}", panic_text(&*panic)))),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> Cow<'static, str> {
    let text = panic.downcast_ref::<&'static str>().map(|text| Cow::Borrowed(*text));
    text.or_else(|| panic.downcast_ref::<String>().cloned().map(Cow::Owned)).unwrap_or(Cow::Borrowed("no message"))
}
