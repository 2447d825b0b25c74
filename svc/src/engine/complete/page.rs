//! Writes a page: its edges, nodes, `pageInfo` and total.

use super::resolved::Found;
use super::rows::{RowNode, RowShape};
use super::tree::complete_all;
use super::{Cells, Decoded, PropagatedNull, Walk, key, typename, value};
use crate::engine::completed_value::CompletedValue;
use crate::engine::execution_context::ExecutionContext;
use crate::engine::path::Path;
use crate::engine::plan::{OutType, PlanField, PlanKind, Selection};
use crate::json::write_text;
use crate::postgres::DbError;
use crate::scalar::write_integer;
use crate::schema::Part;

/// A page in hand.
pub(crate) struct PageNode<'a> {
    pub(crate) records: Vec<Cells<'a>>,
    /// One for each record, when a cursor is selected.
    pub(crate) cursors: Vec<String>,
    pub(crate) total: i64,
    pub(crate) has_next: bool,
    pub(crate) has_previous: bool,
}

/// The rows of one selected `nodes` or `node` that were completed before, because their methods wait.
pub(crate) type Completed = (usize, Vec<CompletedValue>);

/// Completes the rows of each `nodes` and `node` of a page whose methods are called.
pub(crate) async fn complete_page_items<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    rows: &'a Decoded<'a>,
    path: &'a Path<'a>,
) -> Vec<Completed> {
    let mut completed = Vec::new();
    for part in field.children.iter().flat_map(|selection| &selection.fields) {
        let here = path.key(&part.key);
        let items: Vec<Path<'_>> = (0..rows.rows().len()).map(|index| here.index(index)).collect();
        match part.kind {
            PlanKind::Part(Part::Nodes) => {
                let spots =
                    items.iter().enumerate().map(|(index, path)| (Found::Row(&rows.rows()[index]), path)).collect();
                completed.push((address(part), complete_all(cx, part, item_type(&part.ty), spots).await));
            }
            PlanKind::Part(Part::Edges) => {
                for node in part.children.iter().flat_map(|selection| &selection.fields) {
                    if !matches!(node.kind, PlanKind::Part(Part::Node)) {
                        continue;
                    }
                    let paths: Vec<Path<'_>> = items.iter().map(|item| item.key(&node.key)).collect();
                    let spots =
                        paths.iter().enumerate().map(|(index, path)| (Found::Row(&rows.rows()[index]), path)).collect();
                    completed.push((address(node), complete_all(cx, node, &node.ty, spots).await));
                }
            }
            _ => {}
        }
    }
    completed
}

/// Tells the selected fields of one plan apart.
pub(crate) fn address(field: &PlanField) -> usize {
    std::ptr::from_ref(field).addr()
}

fn item_type(ty: &OutType) -> &OutType {
    match ty.nullable().0 {
        OutType::List(item) => item,
        other => other,
    }
}

/// Completes a field whose value is a page; rows have the given shapes, or were completed before.
///
/// # Errors
/// When the view of a row has changed since the statement was written.
pub(crate) fn complete_page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    page: &PageNode<'_>,
    shapes: &[(usize, RowShape)],
    completed: Vec<Completed>,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let completed = completed.into_iter().map(|(field, completed)| (field, completed.into_iter())).collect();
    CompletedValue::walk_rows(cx, 0, |walk, out| {
        let mut writer = Writer { page, shapes, completed };
        let Some(selection) = field.children.iter().next() else { return Err(PropagatedNull) };
        writer.page(walk, selection, path, out)
    })
}

struct Writer<'a> {
    page: &'a PageNode<'a>,
    shapes: &'a [(usize, RowShape)],
    completed: Vec<(usize, std::vec::IntoIter<CompletedValue>)>,
}

impl Writer<'_> {
    fn page(
        &mut self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        walk.cx.spend(selection, 1);
        out.push(b'{');
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            let path = path.key(&field.key);
            match field.kind {
                PlanKind::Part(Part::Edges) => {
                    self.list(&path, out, |writer, row, path, out| writer.edge(walk, field, row, path, out))?;
                }
                PlanKind::Part(Part::Nodes) => self.list(&path, out, |writer, row, path, out| {
                    writer.row(walk, field, item_type(&field.ty), row, path, out)
                })?,
                PlanKind::Part(Part::PageInfo) => self.page_info(walk, field, out),
                PlanKind::Part(_) => write_integer(out, self.page.total),
                PlanKind::Denied => walk.denied(field, &path, out)?,
                _ => typename(out, selection),
            }
        }
        out.push(b'}');
        Ok(())
    }

    fn list(
        &mut self,
        path: &Path<'_>,
        out: &mut Vec<u8>,
        mut write: impl FnMut(&mut Self, usize, &Path<'_>, &mut Vec<u8>) -> Result<(), PropagatedNull>,
    ) -> Result<(), PropagatedNull> {
        out.push(b'[');
        for row in 0..self.page.records.len() {
            if row > 0 {
                out.push(b',');
            }
            write(self, row, &path.index(row), out)?;
        }
        out.push(b']');
        Ok(())
    }

    fn edge(
        &mut self,
        walk: &mut Walk<'_>,
        edges: &PlanField,
        row: usize,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let Some(selection) = edges.children.iter().next() else { return Err(PropagatedNull) };
        walk.cx.spend(selection, 1);
        out.push(b'{');
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            match field.kind {
                PlanKind::Part(Part::Node) => self.row(walk, field, &field.ty, row, &path.key(&field.key), out)?,
                PlanKind::Part(_) => {
                    write_text(out, <[String]>::get(&self.page.cursors, row).map_or("", String::as_str));
                }
                PlanKind::Denied => walk.denied(field, &path.key(&field.key), out)?,
                _ => typename(out, selection),
            }
        }
        out.push(b'}');
        Ok(())
    }

    fn row(
        &mut self,
        walk: &mut Walk<'_>,
        field: &PlanField,
        ty: &OutType,
        row: usize,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        let address = address(field);
        if let Some((_, completed)) = self.completed.iter_mut().find(|(known, _)| *known == address) {
            let value = completed.next().unwrap_or(CompletedValue { bytes: Err(PropagatedNull), errors: Vec::new() });
            walk.errors.extend(value.errors);
            out.extend_from_slice(&value.bytes?);
            return Ok(());
        }
        let shape = self.shapes.iter().find(|(known, _)| *known == address).map(|(_, shape)| shape);
        let node = shape.map_or(RowNode::Null, |shape| RowNode::Row(self.page.records[row].clone(), shape));
        value(walk, field, ty, &node, path, out)
    }

    fn page_info(&self, walk: &Walk<'_>, field: &PlanField, out: &mut Vec<u8>) {
        out.push(b'{');
        for selection in field.children.iter() {
            walk.cx.spend(selection, 1);
            for (index, field) in selection.fields.iter().enumerate() {
                key(out, index, field);
                let (flag, cursor) = match field.kind {
                    PlanKind::Part(Part::HasNextPage) => (Some(self.page.has_next), None),
                    PlanKind::Part(Part::HasPreviousPage) => (Some(self.page.has_previous), None),
                    PlanKind::Part(Part::StartCursor) => (None, self.page.cursors.first()),
                    PlanKind::Part(_) => (None, self.page.cursors.last()),
                    _ => {
                        typename(out, selection);
                        continue;
                    }
                };
                match (flag, cursor) {
                    (Some(flag), _) => out.extend_from_slice(if flag { b"true" } else { b"false" }),
                    (None, Some(cursor)) => write_text(out, cursor),
                    (None, None) => out.extend_from_slice(b"null"),
                }
            }
        }
        out.push(b'}');
    }
}
