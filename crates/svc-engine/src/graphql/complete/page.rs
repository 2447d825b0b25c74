//! Completes pages whose rows have asynchronous methods.

use futures_util::future::join_all;

use super::resolved::Found;
use super::rows::{Completed, PageNode, PageShape, PageWriter, address, item_type};
use super::tree::complete_all;
use super::{Decoded, PropagatedNull};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::{OutType, PlanField, PlanKind};
use crate::graphql::response::{CompletedValue, Path};
use svc_core::schema::Part;
use svc_postgres::DbError;

/// The rows of a page as the user's structs, and the path of the page.
#[derive(Clone, Copy)]
pub(crate) struct RowsOfPage<'a> {
    pub(crate) rows: &'a Decoded<'a>,
    pub(crate) path: &'a Path<'a>,
}

/// A place of a page whose values are its rows: a selected `nodes`, or a selected `node` in `edges`.
#[derive(Clone, Copy)]
struct RowPlace<'a> {
    /// The field in the page that has the place: the field itself, or its `edges`.
    part: &'a PlanField,
    field: &'a PlanField,
}

impl<'a> RowPlace<'a> {
    /// The type of the value of one row.
    fn ty(self) -> &'a OutType {
        if self.is_in_edges() {
            &self.field.ty
        } else {
            item_type(&self.field.ty)
        }
    }

    fn is_in_edges(self) -> bool {
        !std::ptr::eq(self.part, self.field)
    }
}

/// Completes the rows of each selected `nodes` and `node`, for all pages together.
pub(crate) async fn complete_page_items<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    pages: &[RowsOfPage<'a>],
) -> Vec<Vec<Completed>> {
    // The places are completed concurrently, so that their methods do not wait for each other.
    let places = row_places(field);
    let rows = places.iter().copied();
    let done = join_all(rows.map(|place| complete_rows(cx, place, pages))).await;

    let mut completed: Vec<Vec<Completed>> = pages.iter().map(|_| Vec::new()).collect();
    for (place, done) in places.iter().zip(done) {
        let mut done = done.into_iter();
        for (completed, page) in completed.iter_mut().zip(pages) {
            let rows = page.rows.rows().len();
            completed.push((address(place.field), done.by_ref().take(rows).collect()));
        }
    }

    completed
}

/// Returns the places of a page in request order.
fn row_places(field: &PlanField) -> Vec<RowPlace<'_>> {
    let mut places = Vec::new();
    let parts = field.children.iter();
    for part in parts.flat_map(|selection| &selection.fields) {
        match part.kind {
            PlanKind::Part(Part::Nodes) => places.push(RowPlace { part, field: part }),
            PlanKind::Part(Part::Edges) => {
                let below = part.children.iter();
                let nodes = below
                    .flat_map(|selection| &selection.fields)
                    .filter(|node| matches!(node.kind, PlanKind::Part(Part::Node)));
                places.extend(nodes.map(|field| RowPlace { part, field }));
            }
            _ => {}
        }
    }

    places
}

/// Completes the rows of all pages at one place, page by page.
async fn complete_rows(
    cx: &ExecutionContext<'_>,
    place: RowPlace<'_>,
    pages: &[RowsOfPage<'_>],
) -> Vec<CompletedValue> {
    let lists: Vec<Path<'_>> = pages
        .iter()
        .map(|page| page.path.key(&place.part.key))
        .collect();
    let items: Vec<Path<'_>> = lists
        .iter()
        .zip(pages)
        .flat_map(|(list, page)| (0..page.rows.rows().len()).map(move |index| list.index(index)))
        .collect();

    let nodes: Vec<Path<'_>>;
    let paths = if place.is_in_edges() {
        nodes = items
            .iter()
            .map(|item| item.key(&place.field.key))
            .collect();
        &nodes
    } else {
        &items
    };

    let rows = pages.iter().flat_map(|page| page.rows.rows());
    let spots = rows
        .zip(paths)
        .map(|(row, path)| (Found::Row(row), path))
        .collect();

    complete_all(cx, place.field, place.ty(), spots).await
}

/// Completes a field whose value is a page of the given shape. The shape also has the shapes of the
/// rows, unless they were completed before.
///
/// # Errors
/// If the view of a row has changed since the statement was written.
pub(crate) fn complete_page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    (page, shape): (&PageNode<'_>, &PageShape),
    completed: Vec<Completed>,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let items = completed
        .into_iter()
        .map(|(field, completed)| (field, completed.into_iter()))
        .collect();
    let completed = CompletedValue::walk_rows(cx, (field, path), 0, |walk, out| {
        let mut writer = PageWriter {
            page,
            shape,
            completed: items,
        };
        let Some(selection) = field.children.iter().next() else {
            return Err(PropagatedNull);
        };
        writer.page(walk, selection, path, out)
    })?;

    Ok(completed.stop_null(cx, field, &field.ty))
}
