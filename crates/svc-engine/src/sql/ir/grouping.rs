//! Groups of rows, before they become SQL: their keys, the conditions on them, and their order.

use super::filter::{Column, Computed, Direction, Nulls};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{GroupKey, Operator, Period};

/// A value in the key of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupValue {
    pub(crate) column: Column,
    /// The period that replaces the instant or the date.
    pub(crate) period: Option<Period>,
}

impl GroupValue {
    pub(crate) fn of(key: GroupKey) -> Self {
        let path = key.relation.into_iter().chain([key.stored]);
        Self {
            column: Column::at(path.map(str::to_owned).collect()),
            period: key.period,
        }
    }
}

impl From<Column> for GroupValue {
    fn from(column: Column) -> Self {
        Self {
            column,
            period: None,
        }
    }
}

/// A property of a whole group.
#[derive(Debug, Clone)]
pub(crate) enum OfGroup {
    /// A value of its key.
    Value(GroupValue),
    /// An aggregate over its rows.
    Computed(Computed),
}

/// A key of an order of groups.
#[derive(Debug, Clone)]
pub(crate) struct GroupOrder {
    pub(crate) of: OfGroup,
    pub(crate) direction: Direction,
    pub(crate) nulls: Nulls,
}

/// A condition on groups.
#[derive(Debug, Clone)]
pub(crate) enum Having {
    /// All of these; an empty list is true.
    All(Vec<Having>),
    /// Any of these; an empty list is false.
    Any(Vec<Having>),
    /// The negation; it also matches if the condition is unknown because of a null.
    Not(Box<Having>),
    Compare(OfGroup, Operator, SqlValue),
}

impl Having {
    /// The columns whose aggregates are compared.
    pub(in crate::sql) fn columns(&self) -> Vec<&Column> {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().flat_map(Self::columns).collect(),
            Self::Not(inner) => inner.columns(),
            Self::Compare(OfGroup::Computed(Computed::Of(_, column, _)), ..) => vec![column],
            Self::Compare(..) => Vec::new(),
        }
    }
}
