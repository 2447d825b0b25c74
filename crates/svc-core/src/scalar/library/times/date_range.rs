//! Ranges of calendar dates.

use std::fmt::{self, Display};
use std::str::FromStr;

use chrono::{Datelike as _, NaiveDate};

use crate::scalar::library::ScalarError;
use crate::scalar::library::form::text_form;

/// A range of dates: PostgreSQL's `daterange`.
///
/// The text is [PostgreSQL's](https://www.postgresql.org/docs/current/rangetypes.html): `[` and `]`
/// include a bound, `(` and `)` exclude it, and an end without a date is open. Canonical includes
/// the lower bound and excludes the upper one: `[2024-01-01,2024-02-01)` is January. A range
/// without a date is `empty`. `infinity` is read as an open end, which holds the same dates. Years
/// go from 1 to 9999.
///
/// ```
/// use svc::scalar::DateRange;
///
/// let january: DateRange = "[2024-01-01,2024-01-31]".parse()?;
/// assert_eq!(january.to_string(), "[2024-01-01,2024-02-01)");
/// assert!(january.contains("2024-01-31".parse().unwrap()));
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateRange(Option<Bounds>);

/// The first date, and the first one after the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Bounds {
    lower: Option<NaiveDate>,
    upper: Option<NaiveDate>,
}

impl DateRange {
    /// The range without a date.
    pub const EMPTY: Self = Self(None);

    /// Creates the range of the dates from `lower` to before `upper`; `None` is an open end.
    ///
    /// # Errors
    /// When `upper` is before `lower`, or a year is not within 1 and 9999.
    pub fn new(lower: Option<NaiveDate>, upper: Option<NaiveDate>) -> Result<Self, ScalarError> {
        let shown = || Self(Some(Bounds { lower, upper })).to_string();
        if [lower, upper]
            .iter()
            .flatten()
            .any(|date| !(1..=9999).contains(&date.year()))
        {
            return Err(ScalarError::new(
                "expected dates in the years 1 to 9999",
                &shown(),
            ));
        }

        match (lower, upper) {
            (Some(lower), Some(upper)) if lower > upper => Err(ScalarError::new(
                "expected a lower bound that is not after the upper one",
                &shown(),
            )),
            // The upper bound is excluded, so no day is left.
            (Some(lower), Some(upper)) if lower == upper => Ok(Self::EMPTY),
            _ => Ok(Self(Some(Bounds { lower, upper }))),
        }
    }

    /// Returns the first date; `None` when the range is open below, or empty.
    #[must_use]
    pub fn lower(self) -> Option<NaiveDate> {
        self.0?.lower
    }

    /// Returns the first date after the range; `None` when the range is open above, or empty.
    #[must_use]
    pub fn upper(self) -> Option<NaiveDate> {
        self.0?.upper
    }

    /// Whether the range has no date.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.is_none()
    }

    /// Whether the date is in the range.
    #[must_use]
    pub fn contains(self, date: NaiveDate) -> bool {
        self.0.is_some_and(|Bounds { lower, upper }| {
            lower.is_none_or(|lower| lower <= date) && upper.is_none_or(|upper| date < upper)
        })
    }
}

impl FromStr for DateRange {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        if text.eq_ignore_ascii_case("empty") {
            return Ok(Self::EMPTY);
        }
        let rule = "expected a range of dates such as `[2024-01-01,2024-02-01)` (daterange)";
        let (lower, upper) = bounds(text).ok_or_else(|| ScalarError::new(rule, text))?;
        // The message shows the text as given, because the bounds have been moved to whole days.
        Self::new(lower, upper).map_err(|error| ScalarError::new(error.rule().to_owned(), text))
    }
}

/// The bounds, the lower one included and the upper one excluded.
fn bounds(text: &str) -> Option<(Option<NaiveDate>, Option<NaiveDate>)> {
    // `get`, because slicing inside a character of a client's text would panic.
    let inner = text.get(1..text.len().checked_sub(1)?)?;
    let (lower, upper) = inner.split_once(',')?;
    let (lower, upper) = (bound(lower, "-infinity")?, bound(upper, "infinity")?);

    // Dates are discrete: an excluded lower bound is the day before the first one, and an included
    // upper bound is the last day.
    let lower = match (text.as_bytes()[0], lower) {
        (b'(', Some(lower)) => Some(lower.succ_opt()?),
        (b'(' | b'[', lower) => lower,
        _ => return None,
    };

    let upper = match (*text.as_bytes().last()?, upper) {
        (b']', Some(upper)) => Some(upper.succ_opt()?),
        (b')' | b']', upper) => upper,
        _ => return None,
    };

    Some((lower, upper))
}

fn bound(text: &str, open: &str) -> Option<Option<NaiveDate>> {
    if text.is_empty() || text == open {
        return Some(None);
    }

    // chrono also reads signs and days of one digit.
    let shape = text.len() == 10
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
    shape.then(|| text.parse().ok()).flatten().map(Some)
}

impl Display for DateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Bounds { lower, upper }) = self.0 else {
            return f.pad("empty");
        };

        let [left, right] =
            [lower, upper].map(|bound| bound.map(|date| date.to_string()).unwrap_or_default());

        // PostgreSQL writes an open end with a parenthesis, and excludes every upper bound.
        f.pad(&format!(
            "{}{left},{right})",
            if lower.is_some() { '[' } else { '(' }
        ))
    }
}

text_form!(
    DateRange,
    description =
        "A range of dates, the first included and the last excluded: `[2024-01-01,2024-02-01)`.",
    specified_by = "https://www.postgresql.org/docs/current/rangetypes.html",
    sql_type = "daterange"
);
