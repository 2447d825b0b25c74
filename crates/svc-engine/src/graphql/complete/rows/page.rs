//! Writes a page: its edges, nodes, `pageInfo` and total.

use super::{RowNode, RowShape, RowValues};
use crate::graphql::complete::cursor::encode;
use crate::graphql::complete::{
    Cells, Outdated, PropagatedNull, Records, Walk, key, typename, value,
};
use crate::graphql::heap_size;
use crate::graphql::plan::{OutType, PlanField, PlanKind, Selection};
use crate::graphql::response::{CompletedValue, Path};
use svc_core::exact_json::write_text;
use svc_core::scalar::write_integer;
use svc_core::schema::Part;
use svc_postgres::Oid;

/// The positions in a row of the parts of a page.
#[derive(Debug, Default)]
pub(crate) struct PageShape {
    /// The mark of the list's order, which its cursors contain.
    pub(crate) mark: u32,
    pub(crate) limit: usize,
    /// Whether the page is read backward, from the end.
    pub(crate) backward: bool,
    /// The columns with the rows, with the total count, and with whether there are rows beyond the
    /// page.
    pub(crate) rows: Option<usize>,
    pub(crate) total: Option<usize>,
    pub(crate) beyond: Option<usize>,
    /// The position in each record of the list of order keys.
    pub(crate) keys: Option<usize>,
    /// The types of the values in each record.
    pub(crate) types: Box<[Oid]>,
    /// The shapes of the rows for each selected `nodes` and `node`.
    pub(crate) shapes: Vec<(usize, RowShape)>,
    /// The edge fields of each selected `edges` that has some.
    pub(crate) edges: Vec<EdgeShape>,
}

/// The position of an edge's own fields, which come from the row of the join table.
#[derive(Debug)]
pub(crate) struct EdgeShape {
    /// The `address` of the `edges` field.
    pub(crate) field: usize,
    /// The position of the record with the row of the join table.
    pub(crate) column: usize,
    pub(crate) shape: RowShape,
}

impl EdgeShape {
    /// Returns the row of the join table for a row of the page.
    fn row<'a>(&self, cells: &Cells<'a>) -> Result<Option<Cells<'a>>, Outdated> {
        cells
            .get(self.column)
            .map(|bytes| Cells::record(bytes, &self.shape.types))
            .transpose()
    }
}

impl PageShape {
    /// Returns the page in a row.
    ///
    /// # Errors
    /// If the view has changed since the statement was written.
    pub(crate) fn page<'a>(&self, cells: &Cells<'a>) -> Result<PageNode<'a>, Outdated> {
        let cell = |part: Option<usize>| part.and_then(|part| cells.get(part));
        let records = cell(self.rows).map(Records::new).unwrap_or_default();
        let mut records = records
            .iter(&self.types)
            .collect::<Result<Vec<Cells<'a>>, _>>()?;

        // The extra row is the last one that was read, so it is removed before the order is
        // restored.
        let more = records.len() > self.limit;
        records.truncate(self.limit);

        // A page has the order of the list in both directions ("Edge order" in Relay's
        // specification of connections).
        if self.backward {
            records.reverse();
        }

        let cursors = self.keys.map(|column| {
            records
                .iter()
                .map(|cells| self.cursor(cells, column))
                .collect()
        });

        let of_edge = |edge: &EdgeShape| {
            records
                .iter()
                .map(|cells| edge.row(cells))
                .collect::<Result<_, _>>()
        };

        let edges = self.edges.iter().map(of_edge).collect::<Result<_, _>>()?;
        let beyond = cell(self.beyond) == Some(&[1]);
        let total = cell(self.total)
            .and_then(|bytes| bytes.try_into().ok())
            .map(i64::from_be_bytes);

        Ok(PageNode {
            edges,
            records,
            cursors: cursors.unwrap_or_default(),
            total: total.unwrap_or(0),
            has_next: if self.backward { beyond } else { more },
            has_previous: if self.backward { more } else { beyond },
        })
    }

    fn cursor(&self, cells: &Cells<'_>, column: usize) -> String {
        let keys = cells.get(column).map(Records::new).unwrap_or_default();
        let keys: Vec<_> = keys
            .values()
            .map(|key| key.and_then(|key| std::str::from_utf8(key).ok()))
            .collect();
        encode(self.mark, &keys)
    }

    /// Bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        let shapes = self
            .shapes
            .iter()
            .map(|(_, shape)| size_of::<usize>() + shape.weight());
        let edges = self
            .edges
            .iter()
            .map(|edge| size_of::<EdgeShape>() + edge.shape.weight());
        let types = heap_size::slice::<Oid>(self.types.len());
        heap_size::ALLOCATION + size_of::<Self>() + types + shapes.chain(edges).sum::<usize>()
    }
}

/// A page read from a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageNode<'a> {
    pub(crate) records: Vec<Cells<'a>>,
    /// For each of the edge shapes, the row of the join table for each record.
    pub(crate) edges: Vec<Vec<Option<Cells<'a>>>>,
    /// One cursor for each record, if a cursor is selected.
    pub(crate) cursors: Vec<String>,
    pub(crate) total: i64,
    pub(crate) has_next: bool,
    pub(crate) has_previous: bool,
}

/// The `address` of a selected `nodes` or `node`, and its rows, completed in advance because their
/// methods wait.
pub(crate) type Completed = (usize, Vec<CompletedValue>);

/// Identifies a selected field within one plan by its address.
pub(crate) fn address(field: &PlanField) -> usize {
    // A plan never moves its fields, and a copy of a plan has no cached shapes.
    std::ptr::from_ref(field).addr()
}

pub(in crate::graphql::complete) fn item_type(ty: &OutType) -> &OutType {
    match ty.nullable().0 {
        OutType::List(item) => item,
        other => other,
    }
}

/// Writes the selected fields of a page whose rows have the given shapes.
pub(super) fn write_page_fields(
    walk: &mut Walk<'_>,
    (page, shape): (&PageNode<'_>, &PageShape),
    selection: &Selection,
    path: &Path<'_>,
    out: &mut Vec<u8>,
) -> Result<(), PropagatedNull> {
    PageWriter {
        page,
        shape,
        completed: Vec::new(),
    }
    .fields(walk, selection, path, out)
}

pub(in crate::graphql::complete) struct PageWriter<'a> {
    pub(in crate::graphql::complete) page: &'a PageNode<'a>,
    pub(in crate::graphql::complete) shape: &'a PageShape,
    pub(in crate::graphql::complete) completed: Vec<(usize, std::vec::IntoIter<CompletedValue>)>,
}

impl<'a> PageWriter<'a> {
    pub(in crate::graphql::complete) fn page(
        &mut self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        walk.cx.spend(selection, 1);
        out.push(b'{');
        self.fields(walk, selection, path, out)?;
        out.push(b'}');
        Ok(())
    }

    fn fields(
        &mut self,
        walk: &mut Walk<'_>,
        selection: &Selection,
        path: &Path<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), PropagatedNull> {
        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);
            let path = path.key(&field.key);
            match field.kind {
                PlanKind::Part(Part::Edges) => {
                    self.list(&path, out, |writer, row, path, out| {
                        writer.edge(walk, field, row, path, out)
                    })?;
                }
                PlanKind::Part(Part::Nodes) => {
                    self.list(&path, out, |writer, row, path, out| {
                        writer.row(walk, field, item_type(&field.ty), row, path, out)
                    })?;
                }
                PlanKind::Part(Part::PageInfo) => self.page_info(walk, field, out),
                PlanKind::Part(_) => write_integer(out, self.page.total),
                PlanKind::Denied => walk.denied(field, &path, out)?,
                _ => typename(out, selection),
            }
        }

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
        let Some(selection) = edges.children.iter().next() else {
            return Err(PropagatedNull);
        };

        let values = self.edge_values(edges, row, selection);
        walk.cx.spend(selection, 1);
        out.push(b'{');

        for (index, field) in selection.fields.iter().enumerate() {
            key(out, index, field);

            match field.kind {
                PlanKind::Part(Part::Node) => {
                    self.row(walk, field, &field.ty, row, &path.key(&field.key), out)?;
                }
                PlanKind::Part(_) => {
                    write_text(
                        out,
                        <[String]>::get(&self.page.cursors, row).map_or("", String::as_str),
                    );

                    // Cursors do not pass through `value`, which checks the size of the response.
                    walk.bounded(out)?;
                }
                PlanKind::Stored { .. } => {
                    let node = values
                        .as_ref()
                        .map_or(RowNode::Null, |values| values.node(index));
                    value(walk, field, &field.ty, &node, &path.key(&field.key), out)?;
                }
                PlanKind::Denied => walk.denied(field, &path.key(&field.key), out)?,
                _ => typename(out, selection),
            }
        }

        out.push(b'}');

        Ok(())
    }

    /// Returns the edge fields from the row of the join table.
    fn edge_values(
        &self,
        edges: &PlanField,
        row: usize,
        selection: &Selection,
    ) -> Option<RowValues<'a, 'a>> {
        let address = address(edges);
        let at = self
            .shape
            .edges
            .iter()
            .position(|edge| edge.field == address)?;

        let cells = self.page.edges.get(at)?.get(row)?.as_ref()?;
        Some(RowValues::new(
            cells,
            &self.shape.edges[at].shape,
            selection,
        ))
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
        if let Some((_, completed)) = self
            .completed
            .iter_mut()
            .find(|(known, _)| *known == address)
        {
            let value = completed.next().unwrap_or(CompletedValue {
                bytes: Err(PropagatedNull),
                errors: Vec::new(),
            });
            walk.errors.extend(value.errors);
            let bytes = value.bytes?;

            // The bytes were counted when the row was completed, and the page counts them again.
            walk.cx.answer.take_back(bytes.len());
            out.extend_from_slice(&bytes);
            return walk.bounded(out);
        }

        let shape = self
            .shape
            .shapes
            .iter()
            .find(|(known, _)| *known == address)
            .map(|(_, shape)| shape);

        let node = shape.map_or(RowNode::Null, |shape| {
            RowNode::Row(self.page.records[row].clone(), shape)
        });

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
