//! The roles of arguments and of fields of input objects.

use async_graphql::Value;

/// The role of an argument of a planned field; of other fields it is simply passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgRole {
    /// Passed to the function; on a planned field an equality filter on the stored value of this name.
    Declared,
    /// The same for a planned field, where null asks for all rows.
    DeclaredUnlessNull,
    /// Given to what the rows of a planned field come from.
    Given,
    /// `where`.
    Where,
    /// `orderBy`.
    OrderBy,
    /// `limit`.
    Limit,
    /// `offset`.
    Offset,
    /// `first`.
    First,
    /// `after`.
    After,
    /// `last`.
    Last,
    /// `before`.
    Before,
    /// `by`.
    GroupBy,
    /// `having`.
    Having,
    /// A field of a `where` or an `orderBy` that leads through a relation.
    Hop,
    /// The arguments of a function of the row, beside its conditions or in its order.
    Arguments,
    /// A field of a `where` or an `orderBy` whose value a function computes, and its cost.
    Computed(u64),
    /// A field of the conditions on a stored value, and the number of comparisons that it counts as.
    Comparison(u64),
}

impl ArgRole {
    /// Whether the program declares it.
    pub(crate) fn is_declared(self) -> bool {
        matches!(self, Self::Declared | Self::DeclaredUnlessNull | Self::Given)
    }

    /// Whether a value of it asks for no more than its absence.
    pub(crate) fn ignores(self, value: &Value) -> bool {
        self == Self::DeclaredUnlessNull && *value == Value::Null
    }
}
