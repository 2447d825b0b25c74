//! Completes values (GraphQL specification, section 6.4.3): checks them against their declared
//! types, writes JSON in request order, and propagates null to the nearest nullable field.
//!
//! The rules are implemented once, in [`value`], over three kinds of nodes: values of resolvers,
//! JSON documents and columns. [`tree`] does the same for fields that wait.

mod answer;
mod cells;
mod column;
pub(super) mod cursor;
mod full_rows;
mod joined;
mod json;
mod list;
mod page;
mod partial;
mod resolved;
mod rows;
mod tree;
mod typed;

pub use super::response::CompletedValue;
pub(crate) use answer::write_answer;
pub(crate) use cells::{Cells, Outdated, Records};
pub(crate) use full_rows::FullRows;
pub(crate) use joined::{join, join_after};
pub(crate) use json::field_bounds;
pub(crate) use list::RowList;
pub(crate) use page::{RowsOfPage, complete_page, complete_page_items};
pub(crate) use partial::{Unread, UnreadValues, write_partial};
pub(crate) use resolved::Found;
pub(crate) use rows::{
    EdgeShape, Guarded, PageNode, PageShape, RowColumn, RowNode, RowShape, RowSource, RowSources,
    address, write_row,
};
pub(crate) use tree::{complete_all, complete_value, guarded, root_value};
pub(crate) use typed::Decoded;

use super::context::ExecutionContext;
use super::plan::{Leaf, OutType, PlanField, PlanKind, Selection};
use super::response::{FieldError, Path, PropagatedNull, Writing};
use svc_core::Error;
use svc_core::exact_json::write_text;
use svc_core::scalar::LeafError;
use svc_postgres::DbError;

/// The result of a walk, and the bytes it has written.
type Written = (Result<(), PropagatedNull>, Vec<u8>);

/// The state of one walk.
pub(crate) struct Walk<'a> {
    pub(crate) cx: &'a ExecutionContext<'a>,
    pub(crate) errors: Vec<FieldError>,
    /// Whether the walk met a row whose view has changed since its statement was written.
    pub(crate) outdated: bool,
    /// Counts the bytes that the walk writes.
    writing: Writing<'a>,
    /// Whether the response has exceeded its maximum size, so that nothing more is written.
    is_full: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(cx: &'a ExecutionContext<'a>) -> Self {
        Self {
            cx,
            errors: Vec::new(),
            outdated: false,
            writing: cx.answer.begin(),
            is_full: false,
        }
    }

    /// Reports a row whose view has changed, and requests a new check of the views.
    #[cold]
    fn outdated(&mut self, field: &PlanField, path: &Path<'_>) -> PropagatedNull {
        self.outdated = true;
        self.cx.database.may_have_changed();
        self.errors
            .push(FieldError::new(&DbError::Changed.into_error(), field, path));
        PropagatedNull
    }

    /// Reports a value that cannot be written as the field's type: because its row is outdated,
    /// because it failed, or because of `message`.
    #[cold]
    fn unfit<N: Node>(
        &mut self,
        node: &N,
        field: &PlanField,
        path: &Path<'_>,
        message: String,
    ) -> PropagatedNull {
        if node.is_outdated() {
            return self.outdated(field, path);
        }

        match node.failure() {
            Some(error) => {
                self.fail(error, field, path);
                PropagatedNull
            }
            None => self.broken(field, path, message),
        }
    }

    /// Reports a scalar or an enum value that does not match its type.
    #[cold]
    fn not_a_leaf<N: Node>(
        &mut self,
        node: &N,
        leaf: &Leaf,
        LeafError(error): LeafError,
        field: &PlanField,
        path: &Path<'_>,
    ) -> PropagatedNull {
        // Only logged: the client may not be allowed to see the stored value.
        tracing::debug!(field = field.coordinate, error, "a value breaks its type");
        self.unfit(node, field, path, leaf.not_valid())
    }

    /// Reports a null for a non-null type, or a denied field.
    #[cold]
    fn missing(
        &mut self,
        field: &PlanField,
        ty: &OutType,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        // A denied field reads nothing and has a non-null type, so it arrives here as an unexpected
        // null.
        if field.denial.is_some() {
            return self.denied(field, path, out);
        }

        let message = format!(
            "Cannot return null for non-nullable field {}.",
            field.coordinate
        );
        let null = self.broken(field, path, message);
        if !self.cx.ends_error(field, ty) {
            return Err(null);
        }

        out.extend_from_slice(b"null");

        Ok(())
    }

    /// Reports a denied field and writes null if the error ends there.
    #[cold]
    pub(crate) fn denied(
        &mut self,
        field: &PlanField,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let Some(denial) = &field.denial else {
            return self.failed(
                &Error::internal("a denied field has no denial"),
                field,
                path,
                out,
            );
        };

        self.fail(&denial.error(), field, path);
        if !self.cx.on_error.ends_at(!denial.is_required) {
            return Err(PropagatedNull);
        }

        if denial.is_required || field.is_boundary {
            self.cx.answer.note_forced_null();
        }

        out.extend_from_slice(b"null");

        Ok(())
    }

    /// Aborts the walk if the response exceeds its maximum size.
    fn bounded(&mut self, out: &[u8]) -> Result<(), PropagatedNull> {
        if out.len() <= self.writing.room {
            return Ok(());
        }
        self.is_full = true;
        Err(PropagatedNull)
    }

    /// Finishes the walk over one value: counts its bytes, and reports an error if there were too
    /// many.
    fn end(
        mut self,
        field: &PlanField,
        ty: &OutType,
        path: &Path<'_>,
        written: Written,
    ) -> CompletedValue {
        let (result, out) = written;
        match result {
            Ok(()) => self.writing.finish(out.len()),
            Err(PropagatedNull) => self.writing.give_up(out.len()),
        }

        if self.is_full {
            // The other errors belong to values that are not sent.
            self.errors.clear();
            self.fail(&self.cx.limits.answer_too_large(), field, path);
            return CompletedValue {
                bytes: Err(PropagatedNull),
                errors: self.errors,
            }
            .stop_null(self.cx, field, ty);
        }

        CompletedValue {
            bytes: result.map(|()| out),
            errors: self.errors,
        }
    }

    #[cold]
    fn broken(&mut self, field: &PlanField, path: &Path<'_>, message: String) -> PropagatedNull {
        if self.has_room() {
            let place = self.place(field);
            self.errors.push(FieldError::value(
                message,
                &place,
                self.cx.development,
                field,
                path,
            ));
        }

        PropagatedNull
    }

    /// The source of a field's value in the database, for the log.
    fn place(&self, field: &PlanField) -> String {
        let own = field
            .coordinate
            .split('.')
            .next()
            .and_then(|name| self.cx.model.type_named(name));

        let source = own.and_then(|(index, _)| self.cx.model.object(index)?.source);
        let (Some(source), PlanKind::Stored { stored, .. }) = (source, field.kind) else {
            return "not of a view of its own".to_owned();
        };

        match self.cx.database.has_column(source, stored) {
            true => format!("the column `{stored}` of `{source}`"),
            false => {
                format!("the key `{stored}` of `data` of `{source}`, which has no such column")
            }
        }
    }

    /// Whether another error may be sent: the number is limited, as a thousand rows can have a
    /// thousand errors.
    fn has_room(&self) -> bool {
        self.errors.len() < self.cx.max_errors()
    }

    /// Reports an error of a resolver, if there is room for it.
    #[cold]
    fn fail(&mut self, error: &Error, field: &PlanField, path: &Path<'_>) {
        let error = FieldError::new(error, field, path);
        if self.has_room() {
            self.errors.push(error);
        }
    }

    /// Reports the error of a failed field and writes null if the error ends there.
    #[cold]
    pub(crate) fn failed(
        &mut self,
        error: &Error,
        field: &PlanField,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        self.fail(error, field, path);
        if !self.cx.ends_error(field, &field.ty) {
            return Err(PropagatedNull);
        }
        out.extend_from_slice(b"null");
        Ok(())
    }
}

/// A value that can be walked.
pub(crate) trait Node: Sized {
    fn is_null(&self) -> bool;

    /// Returns the error that replaces a value; called only for a node that cannot be written.
    fn failure(&self) -> Option<&Error> {
        None
    }

    /// Whether it does not match its statement, because a view has changed.
    fn is_outdated(&self) -> bool {
        false
    }

    /// Returns the row that a statement read, if a resolved value has one.
    fn stored(&self) -> Option<&RowNode<'_>> {
        None
    }

    /// Writes a scalar or an enum value.
    fn leaf(&self, leaf: &Leaf, out: &mut Vec<u8>) -> Result<(), LeafError>;

    /// Walks the elements in order; `None` if this is not a list.
    fn each(
        &self,
        visit: impl FnMut(usize, Self) -> Result<(), PropagatedNull>,
    ) -> Option<Result<(), PropagatedNull>>;

    /// Returns the selection for the value's object type, or the reason why there is none.
    fn selection<'s>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'s PlanField,
    ) -> Result<&'s Selection, String>;

    /// Writes the selected fields between the braces.
    fn fields(
        &self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull>;
}

/// Completes a value of type `ty`.
pub(crate) fn value<N: Node>(
    walk: &mut Walk<'_>,
    field: &PlanField,
    ty: &OutType,
    node: &N,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    if let Some(stored) = node.stored() {
        return value(walk, field, ty, stored, path, out);
    }

    let (inner, non_null) = ty.nullable();
    if node.is_null() {
        if non_null {
            return walk.missing(field, ty, path, out);
        }
        out.extend_from_slice(b"null");
        return Ok(());
    }

    let start = out.len();

    match non_null_value(walk, field, inner, node, path, out) {
        Ok(()) => walk.bounded(out),
        // A response that is too large must not go on after a nullable field: all bytes after it
        // would be discarded.
        Err(PropagatedNull) if !walk.is_full && walk.cx.ends_error(field, ty) => {
            out.truncate(start);
            out.extend_from_slice(b"null");
            Ok(())
        }
        Err(null) => Err(null),
    }
}

fn non_null_value<N: Node>(
    walk: &mut Walk<'_>,
    field: &PlanField,
    ty: &OutType,
    node: &N,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    match ty {
        OutType::Leaf(leaf @ Leaf::Node(of)) => {
            let start = out.len();

            // The id of the row is checked as its scalar before it becomes part of the node id.
            node.leaf(&Leaf::Scalar(of.kind), out)
                .map_err(|error| walk.not_a_leaf(node, leaf, error, field, path))?;
            of.replace(out, start);
            Ok(())
        }
        OutType::Leaf(leaf) => node
            .leaf(leaf, out)
            .map_err(|error| walk.not_a_leaf(node, leaf, error, field, path)),
        OutType::NonNull(inner) => non_null_value(walk, field, inner, node, path, out),
        OutType::List(inner) => {
            out.push(b'[');
            let visited = node.each(|index, item| {
                if index > 0 {
                    out.push(b',');
                }
                value(walk, field, inner, &item, &path.index(index), out)
            });

            visited.unwrap_or_else(|| {
                Err(walk.unfit(node, field, path, "expected a list".to_owned()))
            })?;
            out.push(b']');

            Ok(())
        }
        OutType::Composite => {
            let selection = node
                .selection(walk.cx, field)
                .map_err(|why| walk.unfit(node, field, path, why))?;

            // Counted before its fields, so that an object that becomes null counts as well.
            walk.cx.spend(selection, 1);
            walk.cx.note_result(field, selection);
            out.push(b'{');
            node.fields(walk, selection, path, out)?;
            out.push(b'}');
            Ok(())
        }
    }
}

/// Completes a field whose value is a JSON document.
pub(crate) fn write_json(
    walk: &mut Walk<'_>,
    field: &PlanField,
    document: &str,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    value(
        walk,
        field,
        &field.ty,
        &json::Json::new(document.as_bytes()),
        path,
        out,
    )
}

/// Writes the comma and the key of the field at `index`.
pub(crate) fn key(out: &mut Vec<u8>, index: usize, field: &PlanField) {
    // Appended at once, because each part would check the capacity.
    out.extend_from_slice(if index > 0 {
        &field.prefix
    } else {
        field.first_prefix()
    });
}

/// Writes `__typename`.
pub(crate) fn typename(out: &mut Vec<u8>, selection: &Selection) {
    write_text(out, &selection.type_name);
}

/// Finds the GraphQL name of an enum value by its stored text.
fn enum_name<'a>(
    values: &'a [svc_core::schema::EnumValue],
    stored: &str,
) -> Result<&'a str, LeafError> {
    values
        .iter()
        .find(|value| value.stored == stored)
        .map(|value| &*value.name)
        .ok_or_else(|| {
            LeafError(format!(
                "the stored value {:?} is not one of the values of its enum",
                svc_core::exact_json::shorten(stored)
            ))
        })
}
