//! Casts that leave out what they cannot read.
//!
//! A text of a row that breaks its type fails the whole statement, though the other rows have nothing to do with it.
//! Such a statement is run again with careful casts: they give null for that text, and say so where it is selected.
//! Ordinary statements do without, as the look at each text costs more than the cast, and hides it from indexes.

use super::Builder;
use super::operand::Operand;

/// A day of a month, as PostgreSQL and RFC 3339 write it; the last day of February in years that can have it.
const DATE: &str = r"(\d{4,6}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))|\d{2,4}([02468][048]|[13579][26])-02-29)";
const TIME: &str = r"(([01]\d|2[0-3]):[0-5]\d(:([0-5]\d(\.\d+)?|60))?|24:00(:00)?)";

impl Builder<'_> {
    /// A text as another type; with care, null where it is none of that type.
    pub(super) fn cast_text(&self, text: &str, cast: &str) -> String {
        match pattern(cast).filter(|_| self.careful) {
            Some(pattern) => format!("(CASE WHEN {text} ~ '^{pattern}$' THEN {text}::{cast} END)"),
            None => format!("{text}::{cast}"),
        }
    }
}

impl Operand {
    /// Whether a row has a value that a careful cast has left out.
    pub(super) fn is_bad(&self) -> String {
        match &self.text {
            Some(text) => format!("(({text}) IS NOT NULL AND ({}) IS NULL)", self.sql),
            None => "false".to_owned(),
        }
    }
}

/// Returns the pattern of a type's texts, where PostgreSQL is strict about them.
fn pattern(cast: &str) -> Option<String> {
    Some(match cast {
        "numeric" => r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,4})?\s*|NaN|-?Infinity".to_owned(),
        "int8" | "bigint" => r"-?\d{1,18}".to_owned(),
        "boolean" => "true|false|t|f|yes|no|on|off|1|0".to_owned(),
        "uuid" => "[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}".to_owned(),
        "date" => format!("{DATE}( BC)?|-?infinity"),
        "time" => TIME.to_owned(),
        "timestamptz" => format!(r"{DATE}[T ]{TIME}\s*(Z|[-+]\d\d(:?\d\d)?)?( BC)?|-?infinity"),
        _ => return None,
    })
    .map(|pattern| format!("({pattern})"))
}
