//! Pages read without their tiebreaker, in the client's order alone. The unique key that pages get at last matters only among rows with equal keys,
//! and costs PostgreSQL a sort where its index has the client's order. So a page is read without that key, with the rows
//! next to it, and counts if no two neighbours are equal; otherwise it is read again with the key.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Row;

use super::read::Read;
use crate::engine::complete::RowList;
use crate::engine::execution_context::ExecutionContext;
use crate::engine::plan::PlanField;
use crate::postgres::{Catalogue, DbError, RowSink, Statement, cell};
use crate::schema::Shape;
use crate::sql::{Query, Select, Selected, Window, telling_columns};

/// A statement that reads a page without the last unique key.
#[derive(Debug)]
pub(super) struct WithoutTiebreaker {
    /// Its columns are those of the statement with the key, and perhaps more.
    pub(super) statement: Statement,
    /// The columns that tell rows apart.
    columns: Vec<usize>,
    /// Whether equal rows were found. They will be found again, so later requests ask for the unique key at once.
    ties_seen: AtomicBool,
}

impl WithoutTiebreaker {
    /// The statement for the rows that `read` asks for, if they are a page that may do without the key.
    pub(super) fn new(
        cx: &ExecutionContext<'_>,
        catalogue: &Catalogue,
        field: &PlanField,
        read: &Read,
    ) -> Result<Option<Self>, DbError> {
        if read.shape != Shape::List || read.order.is_empty() {
            return Ok(None);
        }
        let views = cx.context.db().views(catalogue);
        let (mut query, _) = read.clone().query(cx, catalogue, field)?;
        let Some(names) = telling_columns(views, &query)? else { return Ok(None) };
        let columns = names.into_iter().map(|name| position(&mut query, name)).collect();
        query.neighbours = true;
        let statement = Statement::rows(views, &query)?;
        Ok(Some(Self { statement, columns, ties_seen: AtomicBool::new(false) }))
    }

    /// Whether it is worth a try.
    pub(super) fn is_promising(&self) -> bool {
        !self.ties_seen.load(Ordering::Relaxed)
    }

    /// Takes the rows that the statement reads for `page`.
    pub(super) fn page<'a>(&'a self, list: RowList<'a>, page: Window) -> UnbrokenPage<'a> {
        let first = usize::from(page.offset > 0);
        let end = usize::try_from(page.limit).unwrap_or(usize::MAX).saturating_add(first);
        let (last, next) = (Vec::new(), Vec::new());
        UnbrokenPage { statement: self, list, page: first..end, at: 0, last, next, is_tied: false }
    }
}

/// Returns the position of a plain column in the select list; it is added at the end if it is not there yet, so that
/// the others stay in place.
fn position(query: &mut Query, name: String) -> usize {
    let is_it = |selected: &Selected| matches!(selected, Selected::Column(known, Select::Plain) if *known == name);
    query.list.iter().position(is_it).unwrap_or_else(|| {
        query.list.push(Selected::Column(name, Select::Plain));
        query.list.len() - 1
    })
}

/// The rows of a page and its neighbours, which are completed for as long as each differs from the one before.
pub(super) struct UnbrokenPage<'a> {
    statement: &'a WithoutTiebreaker,
    list: RowList<'a>,
    /// The rows that are the page's.
    page: Range<usize>,
    at: usize,
    /// The values that tell the row before apart, and room for those of the next one.
    last: Vec<u8>,
    next: Vec<u8>,
    is_tied: bool,
}

impl<'a> UnbrokenPage<'a> {
    /// The page, and whether it is one. Where the order leaves open which rows are on it, or where, the list is empty.
    pub(super) fn finish(mut self) -> (RowList<'a>, bool) {
        if self.is_tied {
            self.statement.ties_seen.store(true, Ordering::Relaxed);
            self.list.restart();
        }
        (self.list, !self.is_tied)
    }

    /// Whether a row equals the one before in all columns that tell rows apart. Nulls are equal, as they are in an order.
    fn is_tie(&mut self, row: &Row) -> bool {
        self.next.clear();
        for column in &self.statement.columns {
            let value = cell(row, *column);
            // A length keeps values apart that follow each other.
            self.next.extend(value.map_or(-1, |value| value.len() as i64).to_be_bytes());
            self.next.extend(value.unwrap_or_default());
        }
        std::mem::swap(&mut self.last, &mut self.next);
        self.last == self.next
    }
}

impl RowSink for UnbrokenPage<'_> {
    fn row(&mut self, row: Row) {
        if self.is_tied {
            return;
        }
        // The first row has none before it, and what it is compared with is empty, which no row is.
        self.is_tied = self.is_tie(&row);
        if !self.is_tied && self.page.contains(&self.at) {
            self.list.row(row);
        }
        self.at += 1;
    }

    fn restart(&mut self) {
        self.list.restart();
        self.last.clear();
        (self.at, self.is_tied) = (0, false);
    }
}
