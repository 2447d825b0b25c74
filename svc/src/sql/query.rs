//! The rows and values that a statement reads, before it is SQL.

use std::sync::Arc;

use super::column::{ColumnForm, Select};
use super::filter::{Column, Filter, Order};
use super::grouping::{GroupOrder, GroupValue, Having};
use super::{Keyset, RowCall};
use crate::postgres::RowsCall;
use crate::schema::{AggregateFunction, Relation, TypeIndex};

/// Rows of a type: which of them, in which order, and what of each.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) row: TypeIndex,
    pub(crate) list: Vec<Selected>,
    pub(crate) filter: Filter,
    /// Rows with the same values here become one; what is selected of them are these values and aggregates.
    pub(crate) group: Vec<GroupValue>,
    /// Only groups that match.
    pub(crate) having: Option<Having>,
    pub(crate) order: Vec<Order>,
    /// The order of groups.
    pub(crate) group_order: Vec<GroupOrder>,
    /// Read the list from its end.
    pub(crate) backward: bool,
    pub(crate) page: Option<Window>,
    /// Only rows past these cursors.
    pub(crate) past: Vec<Keyset>,
    /// Order by the given keys alone, and read the rows next to the page as well, so that its reader sees whether that
    /// order leaves anything open.
    pub(crate) neighbours: bool,
    /// Read with careful casts.
    pub(crate) careful: bool,
    /// The source of the rows, if it is not the view.
    pub(crate) from: Option<Arc<RowsCall>>,
    /// Keep the order in which `from` gives the rows.
    pub(crate) as_given: bool,
    /// The type of the rows that join these to what the query is tied to.
    pub(crate) joining: Option<TypeIndex>,
}

impl Query {
    /// All rows that match.
    pub(crate) fn new(row: TypeIndex, filter: Filter) -> Self {
        Self {
            row,
            list: Vec::new(),
            filter,
            group: Vec::new(),
            having: None,
            order: Vec::new(),
            group_order: Vec::new(),
            backward: false,
            page: None,
            past: Vec::new(),
            neighbours: false,
            careful: false,
            from: None,
            as_given: false,
            joining: None,
        }
    }

    /// Whether its rows are sorted by what is computed over related rows. That costs so much for each row that PostgreSQL
    /// finds out by its own estimates whether planning for each request's values is worth it.
    pub(crate) fn sorts_by_aggregate(&self) -> bool {
        self.order.first().is_some_and(|key| key.aggregate.is_some())
    }

    /// Whether it reads aggregates of rows, or groups, and no rows.
    pub(crate) fn is_computed(&self) -> bool {
        let is_aggregate = |selected: &Selected| matches!(selected, Selected::Count | Selected::Aggregate(..));
        !self.group.is_empty() || self.list.iter().any(is_aggregate)
    }
}

/// The part of an ordered list that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) limit: i64,
    pub(crate) offset: i64,
}

impl Window {
    /// The page with the rows next to it: one before, where there is one, and one after.
    pub(crate) fn with_neighbours(self) -> Self {
        let before = i64::from(self.offset > 0);
        Self { limit: self.limit.saturating_add(1 + before), offset: self.offset - before }
    }
}

/// One value that is read of each row.
#[derive(Debug, Clone)]
pub(crate) enum Selected {
    /// A column of the view.
    Column(String, Select),
    /// The value that a function computes of the row.
    Call(Arc<RowCall>, Select),
    /// A key of the view's `data`, as JSON.
    Key(String),
    /// Whether the row has a key of the relation that a careful cast cannot read.
    BadKey(Relation),
    /// Whether one of the rows or of the group has a value that a careful cast cannot read.
    Bad(GroupValue),
    /// All that is read of the rows that a relation leads to.
    Related(Relation, Box<Subquery>),
    /// A record of the row that joins this one to what its query is tied to: of it, the list of a query.
    Edge(Box<Query>),
    /// A list of records that does not depend on the row, but on what its query is tied to.
    Rows(Box<Query>),
    /// The keys of the order, as a list of texts.
    OrderKeys,
    /// A value that the rows of a group share, in the form of its type.
    Value(GroupValue, ColumnForm),
    /// The number of rows.
    Count,
    /// An aggregate of a stored field.
    Aggregate(AggregateFunction, Column, ColumnForm),
}

/// One of several things that are read at once.
#[derive(Debug, Clone)]
pub(crate) enum Subquery {
    /// A record: the first row, or what is computed over all rows.
    Row(Query),
    /// A list of records.
    Rows(Query),
    /// The number of rows that match.
    Count(Query),
    /// Whether a row matches.
    Exists(Query),
}

impl Subquery {
    pub(super) fn query(&self) -> &Query {
        match self {
            Self::Row(query) | Self::Rows(query) | Self::Count(query) | Self::Exists(query) => query,
        }
    }
}
