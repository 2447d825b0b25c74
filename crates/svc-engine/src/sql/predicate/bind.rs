//! The values bound by comparisons.

use std::borrow::Cow;

use super::json_path;
use crate::sql::Builder;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::Operator;
use svc_postgres::{DbError, Param, PatternLanguage};

/// The maximum length in bytes of a pattern, a text search query, or a text for a case-insensitive
/// search. PostgreSQL needs minutes to compile a regular expression of a megabyte and seconds for
/// 100,000 words, and it scans the whole pattern of `LIKE` or `ILIKE` for each row.
const MAX_PATTERN_LENGTH: usize = 1_000;

/// Binds the values of a comparison, in the order of its placeholders.
pub(in crate::sql) fn bind(
    operator: Operator,
    value: &SqlValue,
    params: &mut Vec<Param>,
) -> Result<(), DbError> {
    use Operator as O;

    check_pattern(operator, value)?;

    match (operator, value) {
        // The SQL of these comparisons needs no values.
        (_, SqlValue::Null)
        | (O::IsNull | O::IsEmpty | O::IsPrivate | O::IsLoopback | O::IsIpv4 | O::IsIpv6, _) => {}
        (
            O::In
            | O::NotIn
            | O::ListContains
            | O::ListContainedBy
            | O::Overlaps
            | O::HasAnyKeys
            | O::HasAllKeys,
            value,
        ) => params.push(Param::Texts(
            value.texts().map(checked).collect::<Result<_, _>>()?,
        )),
        (O::Contains | O::IContains, value) => params.push(text(format!("%{}%", escape(value)))?),
        (O::StartsWith | O::IStartsWith, value) => {
            params.push(text(format!("{}%", escape(value)))?);
        }
        (O::EndsWith | O::IEndsWith, value) => params.push(text(format!("%{}", escape(value)))?),
        (O::InRange, SqlValue::List(ends)) if ends.len() == 2 => {
            params.extend(ends.iter().map(one).collect::<Result<Vec<_>, _>>()?);
        }
        // Without both ends, the comparison is the constant `false`, which has no placeholders.
        (O::InRange, _) => {}
        (operator, value) => match pattern_language(operator) {
            Some(language) => params.push(pattern(language, value)?),
            None => params.push(one(value)?),
        },
    }

    Ok(())
}

fn check_pattern(operator: Operator, value: &SqlValue) -> Result<(), DbError> {
    use Operator as O;

    let SqlValue::Text(text) = value else {
        return Ok(());
    };

    let what = match operator {
        O::Matches | O::IMatches => "a regular expression",
        O::Like | O::ILike => "a pattern",
        O::IContains | O::IStartsWith | O::IEndsWith => "a text to look for in any case",
        O::Search | O::PlainSearch | O::PhraseSearch | O::WebSearch => "a query of words",
        O::PathExists => "a path",
        _ => return Ok(()),
    };

    if text.len() > MAX_PATTERN_LENGTH {
        return Err(DbError::BadPattern(format!(
            "{what} can have at most {MAX_PATTERN_LENGTH} bytes"
        )));
    }

    match operator {
        O::PathExists => json_path::check(text),
        // PostgreSQL only reports this for texts that match the part before it.
        O::Like | O::ILike if ends_with_escape(text) => Err(DbError::BadPattern(
            "a pattern cannot end with `\\`".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Whether a pattern of `LIKE` ends with a `\` that escapes nothing.
fn ends_with_escape(pattern: &str) -> bool {
    let before = pattern.trim_end_matches('\\');
    (pattern.len() - before.len()) % 2 == 1
}

/// A single value.
pub(super) fn one(value: &SqlValue) -> Result<Param, DbError> {
    Ok(Param::Text(checked(value.text().unwrap_or_default())?))
}

fn pattern(language: PatternLanguage, value: &SqlValue) -> Result<Param, DbError> {
    Ok(Param::Pattern(
        language,
        checked(value.text().unwrap_or_default())?,
    ))
}

/// The pattern language of an operator's value, if it has one.
fn pattern_language(operator: Operator) -> Option<PatternLanguage> {
    use Operator as O;

    Some(match operator {
        O::Matches => PatternLanguage::Regex,
        O::IMatches => PatternLanguage::CaselessRegex,
        O::PathExists => PatternLanguage::JsonPath,
        O::MatchesLquery => PatternLanguage::Lquery,
        O::Search => PatternLanguage::TsQuery,
        _ => return None,
    })
}

fn text(text: String) -> Result<Param, DbError> {
    Ok(Param::Text(checked(text.into())?))
}

fn checked(text: Cow<'_, str>) -> Result<String, DbError> {
    // PostgreSQL's texts cannot contain U+0000; its error would report the encoding and not the
    // value.
    if text.contains('\0') {
        Err(DbError::Nul)
    } else {
        Ok(text.into_owned())
    }
}

/// Escapes the special characters of `LIKE`.
fn escape(value: &SqlValue) -> String {
    // The backslash is escaped first, or the backslashes of the other two escapes would be doubled.
    value
        .text()
        .unwrap_or_default()
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_")
}

/// The placeholders of a bound comparison.
pub(super) struct Placeholders {
    /// The number of the last placeholder.
    last: usize,
    /// The casts of the values, by placeholder number.
    pub(super) casts: Vec<(usize, String)>,
}

impl Placeholders {
    /// The next value, cast.
    pub(super) fn one(&mut self, cast: &str) -> String {
        format!("${}::{cast}", self.next(cast))
    }

    /// The next list, cast.
    pub(super) fn list(&mut self, cast: &str) -> String {
        format!("${}::{cast}[]", self.next(cast))
    }

    fn next(&mut self, cast: &str) -> usize {
        self.last += 1;
        // A cast to text cannot fail.
        if cast != "text" {
            self.casts.push((self.last, cast.to_owned()));
        }
        self.last
    }
}

impl Builder<'_> {
    /// Binds the values of a comparison.
    pub(super) fn bind_values(
        &mut self,
        operator: Operator,
        value: &SqlValue,
    ) -> Result<Placeholders, DbError> {
        let Some(last) = self.bound_again else {
            let last = self.params.len();
            bind(operator, value, &mut self.params)?;
            return Ok(Placeholders {
                last,
                casts: Vec::new(),
            });
        };

        // The rule's values are bound already; only their number is needed to find the next
        // placeholder.
        let mut again = Vec::new();
        bind(operator, value, &mut again)?;
        self.bound_again = Some(last + again.len());

        Ok(Placeholders {
            last,
            casts: Vec::new(),
        })
    }
}
