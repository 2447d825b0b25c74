//! Connections: a page of rows with cursors, the total count, and whether there are rows before and
//! after the page, with one statement.

mod total;

pub(crate) use total::total;

use super::columns::{Wanted, needs_whole_rows, row_shapes};
use super::read::{PageRead, Read};
use super::rows::full_rows;
use crate::graphql::complete::{
    Cells, CompletedValue, Decoded, Outdated, PageNode, PageShape, RowsOfPage, complete_page,
    complete_page_items,
};
use crate::graphql::context::ExecutionContext;
use crate::graphql::plan::PlanField;
use crate::graphql::response::Path;
use crate::limits::Limits;
use crate::repository::{ConnectionSpec, Db, Edge, Slice};
use crate::sql::{Selected, Subquery, Views, select_subqueries};
use svc_core::Error;
use svc_core::exact_json::ExactJson;
use svc_postgres::{Catalog, DbError, Rows};

/// A page read by a separate statement.
struct Asking {
    parts: Vec<Subquery>,
    shape: PageShape,
}

impl Asking {
    fn new(
        page: PageRead,
        views: Views<'_>,
        limits: &Limits,
        list: Vec<Selected>,
        wanted: &Wanted,
        careful: bool,
    ) -> Result<Self, DbError> {
        let mut parts = Vec::new();
        let add = |part| {
            parts.push(part);
            parts.len() - 1
        };
        let shape = page.ask(views, limits, list, wanted, careful, add)?;
        Ok(Self { parts, shape })
    }

    /// Returns the page from the result of the statement.
    fn node<'a>(&self, rows: &'a Rows) -> Result<PageNode<'a>, Outdated> {
        match self.parts.is_empty() {
            true => Ok(PageNode::default()),
            false => self.shape.page(&Cells::Nth(rows, 0)),
        }
    }
}

/// Completes a field with a page.
pub(super) async fn write_page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    page: PageRead,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    match read_page(cx, field, page.clone(), path).await {
        Err(error) if error.is_of_data() => read_page(&cx.careful(&error), field, page, path).await,
        result => result,
    }
}

async fn read_page(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    page: PageRead,
    path: &Path<'_>,
) -> Result<CompletedValue, DbError> {
    let catalog = cx.database.catalog().await?;
    let (views, wanted, row) = (
        cx.context.db().views(&catalog),
        Wanted::of(field),
        page.read.row,
    );

    if needs_whole_rows(field) {
        let (list, whole) = full_rows(views, row)?;
        let asking = Asking::new(page, views, cx.limits, list, &wanted, cx.careful)?;
        let rows = fetch(cx, &catalog, &asking).await?;
        let answer = asking.node(&rows)?;
        let decoded = Decoded::new(cx.model, &whole, answer.records.iter().cloned());
        let items = complete_page_items(
            cx,
            field,
            &[RowsOfPage {
                rows: &decoded,
                path,
            }],
        )
        .await;

        return complete_page(
            cx,
            field,
            (&answer, &asking.shape),
            items.into_iter().next().unwrap_or_default(),
            path,
        );
    }

    let (list, shapes) = row_shapes(cx, views, field, row)?;
    let mut asking = Asking::new(page, views, cx.limits, list, &wanted, cx.careful)?;
    asking.shape.shapes = shapes;
    let rows = fetch(cx, &catalog, &asking).await?;
    let answer = asking.node(&rows)?;

    complete_page(cx, field, (&answer, &asking.shape), Vec::new(), path)
}

async fn fetch(
    cx: &ExecutionContext<'_>,
    catalog: &Catalog,
    asking: &Asking,
) -> Result<Rows, DbError> {
    // Only `__typename` is selected, which needs no statement.
    if asking.parts.is_empty() {
        return Ok(Rows::default());
    }
    let statement = select_subqueries(cx.context.db().views(catalog), &asking.parts)?;
    cx.database.fetch(cx.session(), &statement).await
}

/// Returns a page of typed rows for a resolver.
pub(crate) async fn typed_slice(db: &Db, spec: &ConnectionSpec) -> Result<Slice<ExactJson>, Error> {
    let slice = || async move {
        let catalog = db.app.database.catalog().await?;
        let read = Read::all(db, spec.find.clone())?;
        let (list, whole) = full_rows(db.views(&catalog), read.row)?;
        let page = PageRead {
            read,
            page: spec.page.clone(),
        };

        let asking = Asking::new(
            page,
            db.views(&catalog),
            &db.app.limits,
            list,
            &Wanted::all(),
            false,
        )?;

        let statement = select_subqueries(db.views(&catalog), &asking.parts)?;
        let rows = db.app.database.fetch(db.session(), &statement).await?;
        let answer = asking.node(&rows)?;
        let edges = answer
            .records
            .iter()
            .zip(&answer.cursors)
            .map(|(cells, cursor)| {
                let node = whole.object(cells.clone()).map_err(DbError::refused)?;
                Ok(Edge {
                    node,
                    cursor: cursor.clone(),
                })
            });

        Ok(Slice {
            edges: edges.collect::<Result<_, DbError>>()?,
            has_next_page: answer.has_next,
            has_previous_page: answer.has_previous,
        })
    };

    db.app
        .database
        .following(slice)
        .await
        .map_err(DbError::into_error)
}
