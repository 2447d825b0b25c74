//! Careful casts, which skip values that they cannot read.
//!
//! A text that is invalid for its type fails the whole statement, although the other rows have nothing to do with it.
//! Such a statement is run again with careful casts, which return null for that text and report it where it is
//! selected. Ordinary statements use plain casts, because checking each text costs more than casting it, and prevents
//! the use of indexes.

use super::Builder;
use super::operand::Operand;

/// The maximum length in characters of a text that is cast: PostgreSQL rejects numbers with more digits than it can
/// store.
const MAX_LENGTH: usize = 6_000;

/// A day that exists in every year.
const DAY: &str =
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))";
/// A year with a 29 February.
const LEAP_YEAR: &str = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)";
/// A year BC, as far back as PostgreSQL's calendar goes. There is no year 0, so other years are leap years.
const YEAR_BC: &str = "(?!0000)([0-3][0-9]{3}|4[0-6][0-9]{2}|470[0-9]|471[0-2])";
const TIME: &str =
    r"(([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9](\.[0-9]{1,9})?|60(\.0{1,9})?))?|24:00(:00(\.0{1,9})?)?)";
/// The offset from UTC; PostgreSQL accepts less than 16 hours.
const OFFSET: &str = "( ?(Z|[-+](0[0-9]|1[0-5])(:?[0-5][0-9])?))?";
/// ISO 8601, and PostgreSQL's own output format.
const INTERVAL: &str = r"P(?=[-0-9T])(-?[0-9]{1,7}Y)?(-?[0-9]{1,7}M)?(-?[0-9]{1,7}W)?(-?[0-9]{1,7}D)?(T(?=[-0-9])(-?[0-9]{1,7}H)?(-?[0-9]{1,7}M)?(-?[0-9]{1,9}(\.[0-9]{1,9})?S)?)?|(?=[-0-9])(-?[0-9]{1,7} years?( |$))?(-?[0-9]{1,7} mons?( |$))?(-?[0-9]{1,7} days?( |$))?(-?[0-9]{2,7}:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?";
const BYTE: &str = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";

impl Builder<'_> {
    /// Casts a text to another type; a careful cast returns null for a text that is invalid for that type.
    pub(super) fn cast_text(&self, text: &str, cast: &str) -> String {
        match pattern(cast).filter(|_| self.careful) {
            Some(pattern) => {
                let is_read = format!("length({text}) <= {MAX_LENGTH} AND {text} ~ '^{pattern}$'");
                format!("(CASE WHEN {is_read} THEN {text}::{cast} END)")
            }
            None => format!("{text}::{cast}"),
        }
    }
}

impl Operand {
    /// Whether a careful cast has skipped the value of a row.
    pub(super) fn is_bad(&self) -> String {
        match &self.text {
            Some(text) => format!("(({text}) IS NOT NULL AND ({}) IS NULL)", self.sql),
            None => "false".to_owned(),
        }
    }
}

/// Returns the pattern of a type's texts, for types whose input PostgreSQL validates strictly. It never matches a text
/// that PostgreSQL rejects, regardless of the digits and blanks of its locale.
fn pattern(cast: &str) -> Option<String> {
    Some(match cast {
        "numeric" => {
            let blanks = r"[ \t\n\r\f\v]*";
            format!(r"{blanks}[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{{1,4}})?{blanks}|NaN|-?Infinity")
        }
        "int8" | "bigint" => "-?([0-9]{1,18}|[0-8][0-9]{18})".to_owned(),
        "boolean" => "true|false|t|f|yes|no|on|off|1|0".to_owned(),
        "uuid" => "[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}".to_owned(),
        "date" => format!("{}|{YEAR_BC}-{DAY} BC|-?infinity", date()),
        "time" => TIME.to_owned(),
        "timestamptz" => {
            format!("{}[T ]{TIME}{OFFSET}|{YEAR_BC}-{DAY}[T ]{TIME}{OFFSET} BC|-?infinity", date())
        }
        "interval" => INTERVAL.to_owned(),
        "inet" => format!(r"{BYTE}(\.{BYTE}){{3}}(/([12]?[0-9]|3[0-2]))?"),
        "macaddr8" => "[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}((:[0-9a-fA-F]{2}){2})?".to_owned(),
        "ltree" => r"[A-Za-z0-9_]{1,255}(\.[A-Za-z0-9_]{1,255})*".to_owned(),
        _ => return None,
    })
    .map(|pattern| format!("({pattern})"))
}

fn date() -> String {
    format!("((?!0000)[0-9]{{4}}-{DAY}|{LEAP_YEAR}-02-29)")
}
