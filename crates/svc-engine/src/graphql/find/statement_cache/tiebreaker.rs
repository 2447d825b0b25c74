//! Pages read without their tiebreaker, in the client's order alone. The unique key at the end of a
//! page's order matters only among rows with equal keys, and costs PostgreSQL a sort if its index
//! has the client's order. Therefore a page is first read without this key, together with the rows
//! next to it, and is valid if no two adjacent rows are equal. Otherwise it is read again with the
//! key.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Row;

use crate::graphql::complete::RowList;
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::read::Read;
use crate::graphql::plan::PlanField;
use crate::sql::{Query, Select, Selected, Window, distinguishing_columns, select_rows};
use svc_core::schema::Shape;
use svc_postgres::{Catalog, DbError, RowSink, Statement, cell};

/// A statement that reads a page without the unique tiebreaker key.
#[derive(Debug)]
pub(in crate::graphql::find) struct WithoutTiebreaker {
    /// It has the columns of the statement with the key, and possibly more.
    pub(super) statement: Statement,
    /// The columns that distinguish rows in the client's order.
    columns: Vec<usize>,
    /// Whether equal rows were found. They would be found again, so later requests use the unique
    /// key from the start.
    ties_seen: AtomicBool,
}

impl WithoutTiebreaker {
    /// Returns the statement for the rows of `read`, if this is a page that can omit the key.
    pub(in crate::graphql::find) fn new(
        cx: &ExecutionContext<'_>,
        catalog: &Catalog,
        field: &PlanField,
        read: &Read,
    ) -> Result<Option<Self>, DbError> {
        // Without an order, the unique key is the only one, and its index already has it.
        if read.shape != Shape::List || read.order.is_empty() {
            return Ok(None);
        }

        let views = cx.context.db().views(catalog);
        let (mut query, _) = read.clone().query(cx, catalog, field)?;
        let Some(names) = distinguishing_columns(views, &query)? else {
            return Ok(None);
        };

        let columns = names
            .into_iter()
            .map(|name| position(&mut query, name))
            .collect();
        query.neighbours = true;
        let statement = select_rows(views, &query)?;

        Ok(Some(Self {
            statement,
            columns,
            ties_seen: AtomicBool::new(false),
        }))
    }

    /// Whether the statement is worth trying.
    pub(super) fn is_promising(&self) -> bool {
        // An outdated value only costs one more read.
        !self.ties_seen.load(Ordering::Relaxed)
    }

    /// Returns a sink for the rows that the statement reads for `page`.
    pub(in crate::graphql::find) fn page<'a>(
        &'a self,
        list: RowList<'a>,
        page: Window,
    ) -> UnbrokenPage<'a> {
        // With an offset, the statement starts at the last row of the page before.
        let first = usize::from(page.offset > 0);
        let end = usize::try_from(page.limit)
            .unwrap_or(usize::MAX)
            .saturating_add(first);
        let (last, next) = (Vec::new(), Vec::new());
        UnbrokenPage {
            statement: self,
            list,
            page: first..end,
            at: 0,
            last,
            next,
            is_tied: false,
        }
    }
}

/// Returns the position of a plain column in the select list. A missing column is appended, so that
/// the positions of the others do not change.
fn position(query: &mut Query, name: String) -> usize {
    let is_it = |selected: &Selected| matches!(selected, Selected::Column(known, Select::Plain) if *known == name);
    query.list.iter().position(is_it).unwrap_or_else(|| {
        query.list.push(Selected::Column(name, Select::Plain));
        query.list.len() - 1
    })
}

/// The rows of a page and its adjacent rows. They are completed as long as each row differs from
/// the previous one.
pub(in crate::graphql::find) struct UnbrokenPage<'a> {
    statement: &'a WithoutTiebreaker,
    list: RowList<'a>,
    /// The positions of the rows on the page.
    page: Range<usize>,
    at: usize,
    /// The distinguishing values of the previous row, and a buffer for the next row's values.
    last: Vec<u8>,
    next: Vec<u8>,
    is_tied: bool,
}

impl<'a> UnbrokenPage<'a> {
    /// Returns the page, and whether it is valid. If the order does not determine the rows of the
    /// page or their positions, the list is empty.
    pub(in crate::graphql::find) fn finish(mut self) -> (RowList<'a>, bool) {
        if self.is_tied {
            self.statement.ties_seen.store(true, Ordering::Relaxed);
            self.list.restart();
        }
        (self.list, !self.is_tied)
    }

    /// Whether a row equals the previous row in all distinguishing columns. Nulls are equal, as in
    /// an order.
    fn is_tie(&mut self, row: &Row) -> bool {
        self.next.clear();

        for column in &self.statement.columns {
            let value = cell(row, *column);
            // The length prefix separates consecutive values.
            self.next
                .extend(value.map_or(-1, |value| value.len() as i64).to_be_bytes());
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

        // The first row is compared with an empty buffer, which no row equals.
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
