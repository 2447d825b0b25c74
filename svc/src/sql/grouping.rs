//! Groups of rows, before they are SQL: what their rows share, which groups are kept, and in which order they are.

use super::filter::{Column, Computed, Direction, Nulls};
use crate::scalar::sql_value::SqlValue;
use crate::schema::{GroupKey, Operator, Period};

/// A value that the rows of a group share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupValue {
    pub(crate) column: Column,
    /// The period in place of the instant or the date.
    pub(crate) period: Option<Period>,
}

impl GroupValue {
    pub(crate) fn of(key: GroupKey) -> Self {
        let path = key.relation.into_iter().chain([key.stored]);
        Self { column: Column::at(path.map(str::to_owned).collect()), period: key.period }
    }
}

impl From<Column> for GroupValue {
    fn from(column: Column) -> Self {
        Self { column, period: None }
    }
}

/// Something that all rows of a group have together.
#[derive(Debug, Clone)]
pub(crate) enum OfGroup {
    /// A value that its rows share.
    Value(GroupValue),
    /// A value that is computed over its rows.
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
    /// Not this; a condition that is unknown because of a null does not hold.
    Not(Box<Having>),
    Compare(OfGroup, Operator, SqlValue),
}

impl Having {
    /// The columns of which aggregates are compared.
    pub(super) fn columns(&self) -> Vec<&Column> {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().flat_map(Self::columns).collect(),
            Self::Not(inner) => inner.columns(),
            Self::Compare(OfGroup::Computed(Computed::Of(_, column, _)), ..) => vec![column],
            Self::Compare(..) => Vec::new(),
        }
    }
}
