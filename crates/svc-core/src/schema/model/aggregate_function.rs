//! Aggregate functions, shared by the schema and SQL.

/// An aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// The number of distinct values.
    CountDistinct,
    Sum,
    Avg,
    Min,
    Max,
}

impl AggregateFunction {
    pub(crate) const ALL: [Self; 5] = [
        Self::CountDistinct,
        Self::Sum,
        Self::Avg,
        Self::Min,
        Self::Max,
    ];

    /// Its name in snake_case; the naming setting applies.
    pub fn name(self) -> &'static str {
        match self {
            Self::CountDistinct => "count_distinct",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// The function with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|function| function.name() == name)
    }

    /// Its name as part of type names.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::CountDistinct => "CountDistinct",
            Self::Sum => "Sum",
            Self::Avg => "Avg",
            Self::Min => "Min",
            Self::Max => "Max",
        }
    }

    /// Its name as a noun in descriptions.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::CountDistinct => "number of different values",
            Self::Sum => "sum",
            Self::Avg => "average",
            Self::Min => "smallest value",
            Self::Max => "largest value",
        }
    }

    /// Its result for no values.
    pub(crate) fn of_nothing(self) -> &'static str {
        // SQL defines a sum of no values as null and not as 0.
        if self == Self::CountDistinct {
            "0"
        } else {
            "null"
        }
    }
}
