//! The values by which rows are grouped: one table of calendar periods for the schema and for SQL.

use super::ScalarKind;

/// A value by which rows are grouped: a field of theirs or of the one row that a relation leads to, or the period that
/// a date of theirs lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupKey {
    /// The Rust name of the relation.
    pub(crate) relation: Option<&'static str>,
    pub(crate) stored: &'static str,
    pub(crate) period: Option<Period>,
}

/// A period of the calendar, by its beginning in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    Year,
    Quarter,
    Month,
    /// From Monday on.
    Week,
    Day,
    Hour,
}

impl Period {
    /// The periods that values of a scalar are put into.
    pub(crate) fn of(kind: ScalarKind) -> &'static [Self] {
        const ALL: [Period; 6] =
            [Period::Year, Period::Quarter, Period::Month, Period::Week, Period::Day, Period::Hour];
        match kind {
            ScalarKind::DateTime => &ALL,
            ScalarKind::Date => &ALL[..5],
            _ => &[],
        }
    }

    /// Its name, in SQL and in names of the schema.
    pub(crate) fn name(self) -> &'static str {
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
