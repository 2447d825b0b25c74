//! The rows and values that a statement reads, before they become SQL.

use std::sync::Arc;

use crate::sql::ComputedColumnCall;
use crate::sql::expr::{ColumnForm, Select};
use crate::sql::ir::{Column, Filter, GroupOrder, GroupValue, Having, Order};
use svc_core::schema::{AggregateFunction, Relation, TypeIndex};
use svc_postgres::RowsCall;

/// A selection of rows of a type: the condition, the order, and the values to read.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) row: TypeIndex,
    pub(crate) list: Vec<Selected>,
    pub(crate) filter: Filter,
    /// The key of the groups. Rows with the same values here form one group, and the list consists
    /// of these values and aggregates.
    pub(crate) group: Vec<GroupValue>,
    /// The condition on groups.
    pub(crate) having: Option<Having>,
    pub(crate) order: Vec<Order>,
    /// The order of groups.
    pub(crate) group_order: Vec<GroupOrder>,
    /// Whether to read the list from its end.
    pub(crate) backward: bool,
    pub(crate) page: Option<Window>,
    /// Reads only rows past these cursors.
    pub(crate) past: Vec<Keyset>,
    /// Whether to order by the given keys only and also read the rows next to the page, which show
    /// the reader whether that order is ambiguous.
    pub(crate) neighbours: bool,
    /// Whether to use careful casts.
    pub(crate) careful: bool,
    /// The source of the rows, if it is not the view.
    pub(crate) from: Option<Arc<RowsCall>>,
    /// Whether to keep the order of the rows in `from`.
    pub(crate) as_given: bool,
    /// The type of the junction rows between these rows and the query's parent.
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

    /// Whether the rows are sorted by an aggregate of related rows. That costs so much per row that
    /// PostgreSQL's own estimates decide whether to plan for each request's values.
    pub(crate) fn sorts_by_aggregate(&self) -> bool {
        self.order
            .first()
            .is_some_and(|key| key.aggregate.is_some())
    }

    /// Whether the query reads aggregates or groups instead of rows.
    pub(crate) fn is_computed(&self) -> bool {
        let is_aggregate =
            |selected: &Selected| matches!(selected, Selected::Count | Selected::Aggregate(..));
        !self.group.is_empty() || self.list.iter().any(is_aggregate)
    }
}

/// The keys of a row in the order of the list, as text; `None` is null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keyset {
    pub(crate) keys: Vec<Option<String>>,
    /// Selects the rows before the keys instead of after them.
    pub(crate) before: bool,
    /// Selects the complement: the row with the keys, and the rows on its other side.
    pub(crate) inverted: bool,
}

/// A page of an ordered list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub(crate) limit: i64,
    pub(crate) offset: i64,
}

impl Window {
    /// The page extended by its adjacent rows: the previous one, if there is one, and the next one.
    pub(crate) fn with_neighbours(self) -> Self {
        let before = i64::from(self.offset > 0);
        Self {
            limit: self.limit.saturating_add(1 + before),
            offset: self.offset - before,
        }
    }
}

/// A value to read for each row.
#[derive(Debug, Clone)]
pub(crate) enum Selected {
    /// A column of the view.
    Column(String, Select),
    /// The result of a row function.
    Call(Arc<ComputedColumnCall>, Select),
    /// A key of the view's `data`, as JSON.
    Key(String),
    /// A value whose text is UTF-8, otherwise null.
    Utf8(CheckedText),
    /// Whether the text of a value is not UTF-8.
    NotUtf8(CheckedText),
    /// Whether a careful cast cannot read one of the row's keys of the relation.
    BadKey(Relation),
    /// Whether a careful cast cannot read one of the values in the rows or in the group.
    Bad(GroupValue),
    /// A subquery over the rows that a relation leads to.
    Related(Relation, Box<Subquery>),
    /// A record of the junction row between this row and the query's parent, with the list of a
    /// query.
    Edge(Box<Query>),
    /// A list of records that depends on the query's parent and not on the row.
    Rows(Box<Query>),
    /// The order keys, as a list of texts.
    OrderKeys,
    /// A value of a group's key, in the form of its type.
    Value(GroupValue, ColumnForm),
    /// The number of rows.
    Count,
    /// An aggregate of a stored field.
    Aggregate(AggregateFunction, Column, ColumnForm),
}

/// A value of a row whose text may not be UTF-8, in a database that does not check its texts.
#[derive(Debug, Clone)]
pub(crate) enum CheckedText {
    /// A column of the view.
    Column(String, Select),
    /// A key of the view's `data`, as JSON.
    Key(String),
}

/// One of several results that are read at once.
#[derive(Debug, Clone)]
pub(crate) enum Subquery {
    /// A record: the first row, or the aggregates of all rows.
    Row(Query),
    /// A list of records.
    Rows(Query),
    /// The number of matching rows.
    Count(Query),
    /// Whether a row matches.
    Exists(Query),
}

impl Subquery {
    pub(in crate::sql) fn query(&self) -> &Query {
        match self {
            Self::Row(query) | Self::Rows(query) | Self::Count(query) | Self::Exists(query) => {
                query
            }
        }
    }
}
