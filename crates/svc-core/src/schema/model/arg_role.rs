//! The roles of arguments and of fields of input objects.

use async_graphql::Value;

/// The role of an argument of a planned field; arguments of other fields are simply passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgRole {
    /// Passed to the function; on a planned field an equality filter on the stored value of this
    /// name.
    Declared,
    /// Like [`Declared`](Self::Declared) for a planned field, but null selects all rows.
    DeclaredUnlessNull,
    /// Passed to the source of a planned field's rows, or written to the rows that a filter
    /// selects.
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
    /// The arguments of a row function, next to its conditions or in its order.
    Arguments,
    /// A field of a `where` or an `orderBy` whose value a function computes, with its cost.
    Computed(u64),
    /// A field of the conditions on a stored value, with the number of comparisons that it counts
    /// as.
    Comparison(u64),
}

impl ArgRole {
    /// Whether the program declares it.
    pub fn is_declared(self) -> bool {
        matches!(
            self,
            Self::Declared | Self::DeclaredUnlessNull | Self::Given
        )
    }

    /// Whether a value has the same effect as omitting the argument.
    pub fn ignores(self, value: &Value) -> bool {
        self == Self::DeclaredUnlessNull && *value == Value::Null
    }
}
