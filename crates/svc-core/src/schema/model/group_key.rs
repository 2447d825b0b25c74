//! The grouping keys of rows. The calendar periods are shared by the schema and SQL.

use crate::schema::ScalarKind;

/// A value that rows are grouped by: a field of the rows or of the row that a to-one relation leads
/// to, or the period that contains a date of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupKey {
    /// The Rust name of the relation.
    pub relation: Option<&'static str>,
    pub stored: &'static str,
    pub period: Option<Period>,
}

/// A calendar period, identified by its start in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    Year,
    Quarter,
    Month,
    /// Starts on Monday.
    Week,
    Day,
    Hour,
}

impl Period {
    /// The periods available for values of a scalar.
    pub fn of(kind: ScalarKind) -> &'static [Self] {
        const ALL: [Period; 6] = [
            Period::Year,
            Period::Quarter,
            Period::Month,
            Period::Week,
            Period::Day,
            Period::Hour,
        ];

        match kind {
            ScalarKind::DateTime => &ALL,
            // A date has no hours.
            ScalarKind::Date => &ALL[..5],
            _ => &[],
        }
    }

    /// Its name, in SQL and in names of the schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::Week => "week",
            Self::Day => "day",
            Self::Hour => "hour",
        }
    }
}
