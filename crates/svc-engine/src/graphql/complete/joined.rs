//! Values completed one by one, each with a separate buffer, and joined in order.

use super::{PropagatedNull, Walk};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{OutType, PlanField};
use crate::graphql::response::{CompletedValue, Path};
use svc_core::Error;
use svc_postgres::DbError;

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

        // The bytes are dropped: a response must not mix rows of two versions of a view.
        if walk.outdated {
            return Err(DbError::Changed);
        }
        Ok(walk.end(field, &field.ty, path, (result, out)))
    }

    /// Completes a field that failed before it had a value.
    #[cold]
    pub(crate) fn failed(
        cx: &ExecutionContext<'_>,
        error: &Error,
        field: &PlanField,
        path: &Path<'_>,
    ) -> Self {
        CompletedValue::walk(cx, |walk, out| walk.failed(error, field, path, out))
    }

    /// Puts the parts of `head`, and `tail`, around the bytes of the value. The bytes move inside
    /// their buffer, as a copy would double the memory of a large response.
    pub(crate) fn between(mut self, head: [&[u8]; 3], tail: u8) -> Self {
        if let Ok(bytes) = &mut self.bytes {
            let before: usize = head.iter().map(|part| part.len()).sum();
            let length = bytes.len();

            // One more byte, to close the response.
            bytes.reserve_exact(before + 2);
            bytes.resize(length + before, 0);
            bytes.copy_within(..length, before);

            let mut free = &mut bytes[..before];
            for part in head {
                let (own, rest) = free.split_at_mut(part.len());
                own.copy_from_slice(part);
                free = rest;
            }

            bytes.push(tail);
        }

        self
    }

    /// Stops the propagation of a null here if errors end in a value of this type.
    pub(crate) fn stop_null(
        mut self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        ty: &OutType,
    ) -> Self {
        if self.bytes.is_err() && cx.ends_error(field, ty) {
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
        // Also if the value propagates null: its errors explain the null.
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
