//! Careful casts, which skip values that they cannot read.
//!
//! A text that is invalid for its type fails the whole statement, although the other rows have
//! nothing to do with it. Such a statement is run again with careful casts, which return null for
//! that text and report it where it is selected. The same applies to a `json` that is not valid in
//! `jsonb`. Ordinary statements use plain casts, because checking each text costs more than casting
//! it, and prevents the use of indexes.

use super::operand::Operand;
use super::scope::Scope;
use crate::sql::Builder;
use svc_postgres::quote_literal;

/// The maximum length in characters of a text that is cast: PostgreSQL rejects numbers with more
/// digits than it can store.
const MAX_LENGTH: usize = 6_000;

/// A day that exists in every year.
const DAY: &str = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))";
/// A year with a 29 February.
const LEAP_YEAR: &str =
    "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)";
/// A year BC, as far back as PostgreSQL's calendar goes. There is no year 0, so other years are
/// leap years.
const YEAR_BC: &str = "(?!0000)([0-3][0-9]{3}|4[0-6][0-9]{2}|470[0-9]|471[0-2])";
const TIME: &str = r"(([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9](\.[0-9]{1,9})?|60(\.0{1,9})?))?|24:00(:00(\.0{1,9})?)?)";
/// The offset from UTC; PostgreSQL accepts less than 16 hours.
const OFFSET: &str = "( ?(Z|[-+](0[0-9]|1[0-5])(:?[0-5][0-9])?))?";
/// ISO 8601, and PostgreSQL's own output format.
const INTERVAL: &str = r"P(?=[-0-9T])(-?[0-9]{1,7}Y)?(-?[0-9]{1,7}M)?(-?[0-9]{1,7}W)?(-?[0-9]{1,7}D)?(T(?=[-0-9])(-?[0-9]{1,7}H)?(-?[0-9]{1,7}M)?(-?[0-9]{1,9}(\.[0-9]{1,9})?S)?)?|(?=[-0-9])(-?[0-9]{1,7} years?( |$))?(-?[0-9]{1,7} mons?( |$))?(-?[0-9]{1,7} days?( |$))?(-?[0-9]{2,7}:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?";
const BYTE: &str = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
/// A group of an IPv6 address.
const GROUP: &str = "[0-9a-fA-F]{1,4}";

/// An escaped backslash or a whole pair of surrogates in JSON.
const WHOLE_ESCAPE: &str = r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}";
/// An escape that `jsonb` rejects if it is not whole: U+0000, or half a pair of surrogates.
const BAD_ESCAPE: &str = r"\\u(0000|[dD][89a-fA-F])";
const JSON_STRING: &str = r#""([^"\\]|\\.)*""#;
/// Outside of strings, part of a number that may have more digits than `numeric`.
const LARGE_NUMBER: &str = "[0-9.]{255}|[eE][-+]?[0-9]{5}";

impl Builder<'_> {
    /// Casts a text to another type; a careful cast returns null for a text that is invalid for
    /// that type.
    pub(super) fn cast_text(&self, text: &str, cast: &str) -> String {
        if !self.careful || is_text(cast) {
            return format!("{text}::{cast}");
        }

        // Without the blanks that pad a text to its length, and in a collation that supports
        // patterns.
        let text = format!("{text}::text");
        let (plain, name) = (
            format!("{text} COLLATE pg_catalog.\"C\""),
            quote_literal(cast),
        );
        let is_read = match pattern(cast) {
            Some(pattern) => {
                let pattern = quote_literal(&format!("^{pattern}$"));
                format!("length({text}) <= {MAX_LENGTH} AND {plain} ~ {pattern}")
            }
            None if self.catalog.checks_input() => {
                format!("pg_catalog.pg_input_is_valid({text}, {name})")
            }
            // Older versions can check an enum, but no other type.
            None => format!(
                "EXISTS (SELECT FROM pg_catalog.pg_enum WHERE enumtypid = {name}::regtype AND enumlabel = {plain})"
            ),
        };

        // The condition may itself fail for a text that does not match the pattern; `CASE`
        // guarantees the order of evaluation, and `AND` does not.
        let value = match condition(cast, &plain) {
            Some(condition) => format!("CASE WHEN {condition} THEN {text}::{cast} END"),
            None => format!("{text}::{cast}"),
        };

        format!("(CASE WHEN {is_read} THEN {value} END)")
    }

    /// Carefully casts the elements of a list of texts; null replaces a text that is invalid for
    /// their type.
    pub(super) fn cast_texts(&self, texts: &str, cast: &str) -> String {
        let element = self.cast_text("x.v", cast.trim_end_matches("[]"));

        // `ARRAY` of a null list would be an empty list.
        format!(
            "(CASE WHEN {texts} IS NOT NULL THEN ARRAY(SELECT {element} FROM unnest({texts}) AS x(v)) END)"
        )
    }

    /// Converts a `json` to `jsonb`; a careful conversion returns null for a document that is
    /// valid, but not in `jsonb`.
    pub(in crate::sql) fn as_jsonb(&self, json: &str) -> String {
        if !self.careful {
            return format!("{json}::jsonb");
        }

        let is_read = if self.catalog.checks_input() {
            format!("pg_catalog.pg_input_is_valid({json}::text, 'jsonb')")
        } else {
            self.fits_jsonb(&format!("({json}::text COLLATE pg_catalog.\"C\")"))
        };

        format!("(CASE WHEN {is_read} THEN {json}::jsonb END)")
    }

    /// Whether the text of a `json` is also valid in `jsonb`, for versions that cannot check it.
    fn fits_jsonb(&self, text: &str) -> String {
        let without =
            |part: &str| format!("regexp_replace({text}, {}, '', 'g')", quote_literal(part));
        let lacks = |text: &str, part: &str| format!("{text} !~ {}", quote_literal(part));

        // Whole escapes are removed first: half of a valid pair, and `u0000` after an escaped
        // backslash, look like bad escapes. Strings are removed because their digits are not
        // numbers.
        let mut conditions = vec![
            lacks(&without(WHOLE_ESCAPE), BAD_ESCAPE),
            lacks(&without(JSON_STRING), LARGE_NUMBER),
        ];
        // Other character sets than UTF-8 lack most characters that are escaped.
        if self.catalog.encoding().is_some() {
            conditions.push(lacks(text, r"\\u"));
        }

        conditions.join(" AND ")
    }

    /// Makes a value that is read from a `json` count as unreadable if a careful cast skips the
    /// whole document.
    pub(in crate::sql) fn in_document(
        &self,
        scope: &Scope<'_>,
        name: &str,
        operand: Operand,
    ) -> Operand {
        let Some(json) = self.json_of(scope, name) else {
            return operand;
        };

        let document = self.as_jsonb(&json);
        let value = operand.text.as_ref().unwrap_or(&operand.sql);
        let text = format!(
            "(CASE WHEN {json} IS NULL OR {document} IS NOT NULL THEN ({value})::text ELSE {json}::text END)"
        );

        Operand {
            text: Some(text),
            ..operand
        }
    }

    /// The column of type `json` that a careful cast reads a value from, if it is one.
    fn json_of(&self, scope: &Scope<'_>, name: &str) -> Option<String> {
        let Scope::Row(row) = scope else { return None };
        let (column, ty) = match row.source.columns.get(name) {
            Some(ty) => (name, ty),
            None => ("data", row.source.data()?),
        };
        (self.careful && ty.name == "json").then(|| row.column(column))
    }
}

impl Operand {
    /// Whether a careful cast has skipped the value of a row.
    pub(in crate::sql) fn is_bad(&self) -> String {
        match &self.text {
            Some(text) => format!("(({text}) IS NOT NULL AND ({}) IS NULL)", self.sql),
            None => "false".to_owned(),
        }
    }
}

/// Whether a type accepts every text.
fn is_text(cast: &str) -> bool {
    let name = cast.rsplit('.').next().unwrap_or(cast);
    matches!(
        name,
        "text"
            | "varchar"
            | "character varying"
            | "char"
            | "character"
            | "bpchar"
            | "citext"
            | "name"
    )
}

/// Returns the pattern of a type's texts, for types whose input PostgreSQL validates strictly. It
/// never matches a text that PostgreSQL rejects, regardless of the digits and blanks of its locale,
/// except for texts that do not meet the type's [`condition`].
fn pattern(cast: &str) -> Option<String> {
    Some(match cast {
        "numeric" | "decimal" => {
            let blanks = r"[ \t\n\r\f\v]*";
            format!(r"{blanks}[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{{1,4}})?{blanks}|NaN|-?Infinity")
        }
        "float8" | "double precision" => {
            r"[-+]?[0-9]{1,20}(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?|NaN|-?Infinity".to_owned()
        }
        "float4" | "real" => r"[-+]?[0-9]{1,20}(\.[0-9]{1,15})?([eE][-+]?0?[0-9])?|NaN|-?Infinity".to_owned(),
        "int8" | "bigint" => "-?([0-9]{1,18}|[0-8][0-9]{18})".to_owned(),
        "int4" | "int" | "integer" => "-?([0-9]{1,9}|1[0-9]{9}|20[0-9]{8})".to_owned(),
        "int2" | "smallint" => "-?([0-9]{1,4}|[0-2][0-9]{4})".to_owned(),
        "boolean" | "bool" => "true|false|t|f|yes|no|on|off|1|0".to_owned(),
        "uuid" => "[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}".to_owned(),
        "bytea" => r"\\x([0-9a-fA-F]{2})*".to_owned(),
        "date" => format!("{}|{YEAR_BC}-{DAY} BC|-?infinity", date()),
        "time" | "time without time zone" => TIME.to_owned(),
        "timestamp" | "timestamp without time zone" => {
            format!("{}[T ]{TIME}|{YEAR_BC}-{DAY}[T ]{TIME} BC|-?infinity", date())
        }
        "timestamptz" | "timestamp with time zone" => {
            format!("{}[T ]{TIME}{OFFSET}|{YEAR_BC}-{DAY}[T ]{TIME}{OFFSET} BC|-?infinity", date())
        }
        "daterange" => {
            let bound = format!("({}|-?infinity)?", date());
            format!("empty|[[(]{bound},{bound}[])]")
        }
        "interval" => INTERVAL.to_owned(),
        "inet" | "cidr" => {
            let (ipv4, ipv6) = (ipv4(), ipv6());
            format!("{ipv4}(/([12]?[0-9]|3[0-2]))?|({ipv6})(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?")
        }
        "macaddr" => "[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}".to_owned(),
        "macaddr8" => "[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}((:[0-9a-fA-F]{2}){2})?".to_owned(),
        "ltree" => r"[A-Za-z0-9_]{1,255}(\.[A-Za-z0-9_]{1,255})*".to_owned(),
        "tsvector" => words(),
        _ => return None,
    })
    .map(|pattern| format!("({pattern})"))
}

/// Returns the condition that a text must meet in addition to its pattern. It may fail for texts
/// that do not match the pattern.
fn condition(cast: &str, text: &str) -> Option<String> {
    match cast {
        // PostgreSQL rejects a network with bits to the right of its prefix.
        "cidr" => Some(format!("network(({text})::inet) = ({text})::inet")),
        "daterange" => {
            // PostgreSQL rejects a lower bound above the upper one; an open bound makes the
            // comparison null.
            let (lower, upper) = ("'^.([^,]+),'", "',([^])]+).$'");
            Some(format!(
                "(substring({text}, {lower})::date <= substring({text}, {upper})::date) IS NOT FALSE"
            ))
        }
        _ => None,
    }
}

fn date() -> String {
    format!("((?!0000)[0-9]{{4}}-{DAY}|{LEAP_YEAR}-02-29)")
}

fn ipv4() -> String {
    format!(r"{BYTE}(\.{BYTE}){{3}}")
}

/// An address with all eight groups, or with `::` for the zeros in between.
fn ipv6() -> String {
    let whole = format!("({GROUP}:){{7}}{GROUP}");
    let at_an_end = format!(
        "({GROUP}:){{1,7}}:|:(:{GROUP}){{1,7}}|::|::([fF]{{4}}:)?{}",
        ipv4()
    );
    let between =
        (1..=6).map(|before| format!("({GROUP}:){{1,{before}}}(:{GROUP}){{1,{}}}", 7 - before));
    [whole, at_an_end]
        .into_iter()
        .chain(between)
        .collect::<Vec<_>>()
        .join("|")
}

/// Words with their positions: `'fat':2A,4 cat`.
fn words() -> String {
    // A repetition in PostgreSQL's regular expressions has a maximum of 255.
    let blank = r"[ \t\n\r\f\v]";
    let word = r"('([^'\\]|''){1,255}'|[^ \t\n\r\f\v'\\:]{1,255})";
    let position = "[1-9][0-9]{0,4}[A-Da-d]?";
    let placed = format!("{word}(:{position}(,{position})*)?");
    format!("{blank}*({placed}({blank}+{placed})*{blank}*)?")
}
