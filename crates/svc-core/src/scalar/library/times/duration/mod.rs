//! Lengths of time.

mod parse;

use std::fmt::{self, Display, Write as _};
use std::str::FromStr;

use crate::scalar::library::ScalarError;
use crate::scalar::library::form::text_form;

/// A length of time: PostgreSQL's `interval`.
///
/// Months, days and microseconds are kept apart, since months and days differ in length. Canonical
/// is the ISO 8601 form as PostgreSQL writes it, each part with its own sign: `P1Y2M3DT4H5M6.5S`,
/// `PT36H`, `P-1D`, `PT0S`. Read are ISO 8601 durations (with weeks, a sign in front as in XML
/// Schema, and a fraction in the last of hours, minutes and seconds) and the output of PostgreSQL
/// with each `intervalstyle`.
///
/// ```
/// use svc::scalar::Duration;
///
/// let duration: Duration = "P1WT90M".parse()?;
/// assert_eq!(duration.to_string(), "P7DT1H30M");
/// assert_eq!((duration.days(), duration.microseconds()), (7, 5_400_000_000));
/// assert_eq!("1 year 2 mons -04:05:06".parse::<Duration>()?.to_string(), "P1Y2MT-4H-5M-6S");
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Duration {
    months: i32,
    days: i32,
    microseconds: i64,
}

impl Duration {
    /// Creates a duration of months, days and microseconds.
    #[must_use]
    pub fn new(months: i32, days: i32, microseconds: i64) -> Self {
        Self {
            months,
            days,
            microseconds,
        }
    }

    /// Returns the years and months, in months.
    #[must_use]
    pub fn months(self) -> i32 {
        self.months
    }

    /// Returns the weeks and days, in days.
    #[must_use]
    pub fn days(self) -> i32 {
        self.days
    }

    /// Returns the hours, minutes and seconds, in microseconds.
    #[must_use]
    pub fn microseconds(self) -> i64 {
        self.microseconds
    }
}

impl TryFrom<std::time::Duration> for Duration {
    type Error = ScalarError;
    fn try_from(duration: std::time::Duration) -> Result<Self, ScalarError> {
        let microseconds = i64::try_from(duration.as_micros());
        let rule = "expected a duration within 64 bits of microseconds";
        let microseconds =
            microseconds.map_err(|_| ScalarError::new(rule, &format!("{duration:?}")))?;
        Ok(Self {
            microseconds,
            ..Self::default()
        })
    }
}

impl FromStr for Duration {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let rule = "expected a duration such as `P1DT2H30M` (ISO 8601)";

        // No unit in the other styles of PostgreSQL contains this letter.
        let found = if text.contains(['P', 'p']) {
            parse::iso(text)
        } else {
            parse::postgres(text)
        };
        found.ok_or_else(|| ScalarError::new(rule, text))
    }
}

impl Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from("P");
        let part = |text: &mut String, number: i64, unit: char| {
            if number != 0 {
                // Writing to a String cannot fail.
                let _ = write!(text, "{number}{unit}");
            }
        };

        part(&mut text, (self.months / 12).into(), 'Y');
        part(&mut text, (self.months % 12).into(), 'M');
        part(&mut text, self.days.into(), 'D');

        // `P` alone is no duration (ISO 8601), so zero is `PT0S`.
        if self.microseconds != 0 || text == "P" {
            text.push('T');
        }

        let (seconds, fraction) = (
            self.microseconds / 1_000_000,
            (self.microseconds % 1_000_000).unsigned_abs(),
        );
        part(&mut text, seconds / 3600, 'H');
        part(&mut text, seconds / 60 % 60, 'M');

        if seconds % 60 != 0 || fraction != 0 || text == "PT" {
            // Less than a second has no whole part that could contain the sign.
            let sign = if self.microseconds < 0 { "-" } else { "" };
            let digits = format!(".{fraction:06}");
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            let _ = write!(text, "{sign}{}{digits}S", (seconds % 60).unsigned_abs());
        }

        f.pad(&text)
    }
}

text_form!(
    Duration,
    description = "A length of time (ISO 8601) such as `P1DT2H30M`.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc3339#appendix-A",
    sql_type = "interval"
);
