//! Completes pages whose rows have asynchronous methods.

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

/// Completes the rows of each selected `nodes` and `node`, for all pages together.
pub(crate) async fn complete_page_items<'a>(
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    pages: &[RowsOfPage<'a>],
) -> Vec<Vec<Completed>> {
    let mut completed: Vec<Vec<Completed>> = pages.iter().map(|_| Vec::new()).collect();
    for part in field
        .children
        .iter()
        .flat_map(|selection| &selection.fields)
    {
        let lists: Vec<Path<'_>> = pages.iter().map(|page| page.path.key(&part.key)).collect();
        let items: Vec<Vec<Path<'_>>> = lists
            .iter()
            .zip(pages)
            .map(|(list, page)| {
                (0..page.rows.rows().len())
                    .map(|index| list.index(index))
                    .collect()
            })
            .collect();

        match part.kind {
            PlanKind::Part(Part::Nodes) => {
                complete_rows(
                    cx,
                    (part, item_type(&part.ty)),
                    pages,
                    &items,
                    &mut completed,
                )
                .await;
            }
            PlanKind::Part(Part::Edges) => {
                for node in part.children.iter().flat_map(|selection| &selection.fields) {
                    if !matches!(node.kind, PlanKind::Part(Part::Node)) {
                        continue;
                    }
                    let nodes: Vec<Vec<Path<'_>>> = items
                        .iter()
                        .map(|items| items.iter().map(|item| item.key(&node.key)).collect())
                        .collect();
                    complete_rows(cx, (node, &node.ty), pages, &nodes, &mut completed).await;
                }
            }
            _ => {}
        }
    }

    completed
}

/// Completes the rows of all pages as values of one field, and assigns the results to their pages.
async fn complete_rows(
    cx: &ExecutionContext<'_>,
    (field, ty): (&PlanField, &OutType),
    pages: &[RowsOfPage<'_>],
    paths: &[Vec<Path<'_>>],
    completed: &mut [Vec<Completed>],
) {
    let rows = pages
        .iter()
        .zip(paths)
        .flat_map(|(page, paths)| page.rows.rows().iter().zip(paths));
    let spots = rows.map(|(row, path)| (Found::Row(row), path)).collect();
    let mut done = complete_all(cx, field, ty, spots).await.into_iter();

    // The results are in the order of the spots: page by page, and row by row within each.
    for (completed, paths) in completed.iter_mut().zip(paths) {
        completed.push((address(field), done.by_ref().take(paths.len()).collect()));
    }
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
