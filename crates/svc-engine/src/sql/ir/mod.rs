//! Conditions, orders, groups and calls, before they become SQL.

mod computed_column;
mod filter;
mod grouping;
mod row_filter;

pub(crate) use computed_column::ComputedColumnCall;
pub(crate) use filter::{
    AggregateComparison, AggregateFilter, Computed, Direction, Nulls, OrderAggregate, Rank,
};
pub use filter::{Column, Filter, Order, asc, col, desc};
pub(crate) use grouping::{GroupOrder, GroupValue, Having, OfGroup};
pub(crate) use row_filter::RowFilter;
