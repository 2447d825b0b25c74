//! Pages and aggregates of relations of values already in memory: one statement for all parents.

use super::{Parent, is_bad, position};
use crate::graphql::complete::{
    Cells, CompletedValue, Decoded, Found, Outdated, PageNode, PageShape, RowNode, RowsOfPage,
    complete_all, complete_page, complete_page_items,
};
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::aggregate::aggregate_query;
use crate::graphql::find::columns::{Wanted, bad_key, edge_shapes, needs_whole_rows, row_shapes};
use crate::graphql::find::read::Read;
use crate::graphql::find::rows::full_rows;
use crate::graphql::plan::PlanField;
use crate::graphql::response::Path;
use crate::sql::{Selected, Subquery, select_related};
use svc_core::schema::{Relation, Resolved, Shape};
use svc_postgres::{Catalog, DbError, Rows};

/// Completes a page or an aggregate of a relation for many parents, one value for each parent.
pub(super) async fn follow_beside(
    cx: &ExecutionContext<'_>,
    field: &PlanField,
    relation: Relation,
    keys: &[String],
    parents: &[Parent<'_>],
) -> Result<Vec<CompletedValue>, DbError> {
    let catalog = cx.database.catalog().await?;
    let asking = Asking {
        cx,
        field,
        relation,
        keys,
        catalog: &catalog,
    };

    if relation.shape == Shape::Aggregate {
        asking.aggregates(parents).await
    } else if needs_whole_rows(field) {
        asking.whole_pages(parents).await
    } else {
        asking.pages(parents).await
    }
}

/// The data needed to write the statement, and the keys of the parents.
struct Asking<'a> {
    cx: &'a ExecutionContext<'a>,
    field: &'a PlanField,
    relation: Relation,
    /// Sorted. In the result, a row for parents without a key follows the rows of the keys.
    keys: &'a [String],
    catalog: &'a Catalog,
}

/// The result of a statement, with a row for each key, and the number of its parts.
struct Answer {
    rows: Rows,
    parts: usize,
}

impl Asking<'_> {
    async fn aggregates(&self, parents: &[Parent<'_>]) -> Result<Vec<CompletedValue>, DbError> {
        let read = Read::beside(self.cx, self.field, self.relation)?;
        let (query, shape) = aggregate_query(self.cx, self.catalog, self.field, read)?;
        let answer = self.fetch(&[Subquery::Row(query)]).await?;
        self.complete(&answer, parents, |row| {
            RowNode::record(answer.rows.cell(row, 0), &shape)
        })
        .await
    }

    /// Completes pages whose rows are written to bytes directly.
    async fn pages(&self, parents: &[Parent<'_>]) -> Result<Vec<CompletedValue>, DbError> {
        let views = self.cx.context.db().views(self.catalog);
        let (list, shapes) = row_shapes(self.cx, views, self.field, self.relation.row)?;
        let (parts, shape) = self.parts(list)?;
        let (answer, shape) = (self.fetch(&parts).await?, PageShape { shapes, ..shape });
        self.complete(&answer, parents, |row| {
            RowNode::page(&Cells::Nth(&answer.rows, row), &shape)
        })
        .await
    }

    /// Completes pages whose rows are decoded into the user's structs, to call their methods.
    async fn whole_pages(&self, parents: &[Parent<'_>]) -> Result<Vec<CompletedValue>, DbError> {
        let (cx, field) = (self.cx, self.field);
        let (list, whole) = full_rows(cx.context.db().views(self.catalog), self.relation.row)?;
        let (parts, shape) = self.parts(list)?;
        let answer = self.fetch(&parts).await?;
        let pages = (0..=self.keys.len()).map(|row| shape.page(&Cells::Nth(&answer.rows, row)));
        let pages = pages.collect::<Result<Vec<PageNode<'_>>, Outdated>>()?;
        let rows = pages.iter().map(|page| page.records.iter().cloned());
        let decoded: Vec<_> = rows
            .map(|rows| Decoded::new(cx.model, &whole, rows))
            .collect();
        let found: Vec<_> = parents
            .iter()
            .map(|parent| (self.row(&answer, parent), parent.1))
            .collect();
        let good = found.iter().filter_map(|(at, path)| {
            Some(RowsOfPage {
                rows: &decoded[(*at)?],
                path,
            })
        });

        let mut items = complete_page_items(cx, field, &good.collect::<Vec<_>>())
            .await
            .into_iter();
        let error = bad_key(self.relation);
        let completed = found.iter().map(|(at, path)| match at {
            // `items` has values only for the parents whose key could be read, in their order.
            Some(at) => complete_page(
                cx,
                field,
                (&pages[*at], &shape),
                items.next().unwrap_or_default(),
                path,
            ),
            None => Ok(CompletedValue::failed(cx, &error, field, path)),
        });

        completed.collect()
    }

    /// Returns the parts of a page; `list` is selected for each row.
    fn parts(&self, mut list: Vec<Selected>) -> Result<(Vec<Subquery>, PageShape), DbError> {
        let cx = self.cx;
        let mut parts = Vec::new();
        let add = |part| {
            parts.push(part);
            parts.len() - 1
        };

        let page = Read::page_beside(cx, self.field, self.relation)?;
        let views = cx.context.db().views(self.catalog);
        let edges = edge_shapes(cx, views, self.field, self.relation, &mut list)?;
        let shape = page.ask(
            views,
            cx.limits,
            list,
            &Wanted::of(self.field),
            cx.careful,
            add,
        )?;

        Ok((parts, PageShape { edges, ..shape }))
    }

    async fn fetch(&self, parts: &[Subquery]) -> Result<Answer, DbError> {
        if parts.is_empty() {
            return Ok(Answer {
                rows: Rows::default(),
                parts: 0,
            });
        }

        let views = self.cx.context.db().views(self.catalog);
        let statement = select_related(views, &self.relation, parts, self.keys.to_vec())?;
        let rows = self
            .cx
            .database
            .fetch(self.cx.session(), &statement)
            .await?;

        Ok(Answer {
            rows,
            parts: parts.len(),
        })
    }

    /// Returns the index of the result row for a parent; `None` if its key cannot be read.
    fn row(&self, answer: &Answer, (key, _): &Parent<'_>) -> Option<usize> {
        match position(self.keys, *key) {
            Some(row) if is_bad(&answer.rows, row, answer.parts) => None,
            found => Some(found.unwrap_or(self.keys.len())),
        }
    }

    /// Completes the value of each parent from its row of the result.
    async fn complete<'n>(
        &self,
        answer: &'n Answer,
        parents: &[Parent<'_>],
        node: impl Fn(usize) -> RowNode<'n>,
    ) -> Result<Vec<CompletedValue>, DbError> {
        let nodes: Vec<RowNode<'n>> = (0..=self.keys.len()).map(node).collect();

        // Checked before any value is completed, so that the read can be repeated as a whole.
        if nodes.iter().any(|node| matches!(node, RowNode::Outdated)) {
            return Err(DbError::Changed);
        }

        let error = bad_key(self.relation);
        let spot = |parent: &Parent<'_>| match self.row(answer, parent) {
            Some(row) => Found::Stored(&nodes[row]),
            None => Found::Value(Resolved::Failed(&error)),
        };

        let spots: Vec<(Found<'_>, &Path<'_>)> = parents
            .iter()
            .map(|parent| (spot(parent), parent.1))
            .collect();

        Ok(complete_all(self.cx, self.field, &self.field.ty, spots).await)
    }
}
