//! Comparisons: the operators in SQL.

use super::super::filter::Column;
use super::super::{DbError, Family, Operator, SqlValue};
use super::cast::is_value;
use super::operand::Operand;
use super::scope::Scope;
use super::{Builder, Param};
use crate::scalar::shorten;

impl<'a> Builder<'a> {
    pub(super) fn compare(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
        operator: Operator,
        value: &SqlValue,
    ) -> Result<(), DbError> {
        use Operator as O;
        self.replan |= !matches!(operator, O::Eq | O::Ne | O::In | O::NotIn | O::IsNull);
        let operand = settled(self.operand(scope, column)?, column, operator, value)?;
        let sql = &operand.sql;
        let text = match (operator, value) {
            (O::Eq, SqlValue::Null) | (O::IsNull, SqlValue::Bool(true)) => format!("{sql} IS NULL"),
            (O::Ne, SqlValue::Null) | (O::IsNull, SqlValue::Bool(false)) => format!("{sql} IS NOT NULL"),
            // A comparison with null holds for no row.
            (_, SqlValue::Null) | (O::IsNull, _) => "false".to_owned(),
            (O::Eq, value) => self.binary(&operand, "=", value)?,
            (O::Ne, value) => self.binary(&operand, "IS DISTINCT FROM", value)?,
            (O::Gt, value) => self.binary(&operand, ">", value)?,
            (O::Gte, value) => self.binary(&operand, ">=", value)?,
            (O::Lt, value) => self.binary(&operand, "<", value)?,
            (O::Lte, value) => self.binary(&operand, "<=", value)?,
            (O::In, value) => format!("{sql} = ANY({})", self.list(value, &operand.cast)?),
            (O::NotIn, value) => format!("({sql} <> ALL({})) IS NOT FALSE", self.list(value, &operand.cast)?),
            (O::Contains | O::IContains | O::StartsWith | O::IStartsWith | O::EndsWith | O::IEndsWith, value) => {
                self.pattern(&operand, operator, value)?
            }
            (O::Like, value) => self.text(&operand, "LIKE", value)?,
            (O::ILike, value) => self.text(&operand, "ILIKE", value)?,
            (O::Matches, value) => self.text(&operand, "~", expression(value)?)?,
            (O::IMatches, value) => self.text(&operand, "~*", expression(value)?)?,
            (O::ListContains, value) => format!("{sql} @> {}", self.list(value, &operand.cast)?),
            (O::ListContainedBy, value) => format!("{sql} <@ {}", self.list(value, &operand.cast)?),
            (O::Overlaps, value) => format!("{sql} && {}", self.list(value, &operand.cast)?),
            (O::IsEmpty, value) => {
                let compared = if *value == SqlValue::Bool(true) { "=" } else { "<>" };
                format!("cardinality({sql}) {compared} 0")
            }
            (O::LenEq, value) => self.length(sql, "=", value)?,
            (O::LenGt, value) => self.length(sql, ">", value)?,
            (O::LenGte, value) => self.length(sql, ">=", value)?,
            (O::LenLt, value) => self.length(sql, "<", value)?,
            (O::LenLte, value) => self.length(sql, "<=", value)?,
            (O::HasKey, value) => format!("{sql} ? {}", self.one(value, "text")?),
            (O::HasAnyKeys, value) => format!("{sql} ?| {}", self.list(value, "text")?),
            (O::HasAllKeys, value) => {
                let condition = format!("{sql} ?& {}", self.list(value, "text")?);
                but_not_null(&condition, sql)
            }
            (O::JsonContains, value) => format!("{sql} @> {}", self.one(value, "jsonb")?),
            (O::JsonContainedBy, value) => format!("{sql} <@ {}", self.one(value, "jsonb")?),
            (O::PathExists, value) => {
                let condition = format!("{sql} @? {}", self.one(value, "jsonpath")?);
                but_not_null(&condition, sql)
            }
            (operator, value) => self.specific(&operand, operator, value)?,
        };
        self.text.push_str(&text);
        Ok(())
    }

    pub(super) fn binary(&mut self, operand: &Operand, operator: &str, value: &SqlValue) -> Result<String, DbError> {
        Ok(format!("{} {operator} {}", operand.sql, self.one(value, &operand.cast)?))
    }

    fn text(&mut self, operand: &Operand, operator: &str, value: &SqlValue) -> Result<String, DbError> {
        Ok(format!("{} {operator} {}", as_text(operand), self.one(value, "text")?))
    }

    /// A part of a text, in which `%`, `_` and `\` mean themselves.
    fn pattern(&mut self, operand: &Operand, operator: Operator, value: &SqlValue) -> Result<String, DbError> {
        use Operator as O;
        let part = escape(&value.text().unwrap_or_default());
        let pattern = match operator {
            O::StartsWith | O::IStartsWith => format!("{part}%"),
            O::EndsWith | O::IEndsWith => format!("%{part}"),
            _ => format!("%{part}%"),
        };
        let like = if matches!(operator, O::Contains | O::StartsWith | O::EndsWith) { "LIKE" } else { "ILIKE" };
        self.text(operand, like, &SqlValue::Text(pattern))
    }

    fn length(&mut self, sql: &str, operator: &str, value: &SqlValue) -> Result<String, DbError> {
        Ok(format!("cardinality({sql}) {operator} {}", self.one(value, "int8")?))
    }

    /// A bound value, cast.
    pub(super) fn one(&mut self, value: &SqlValue, cast: &str) -> Result<String, DbError> {
        let text = checked(value.text().unwrap_or_default())?;
        Ok(format!("{}::{cast}", self.bind(Param::Text(text))))
    }

    /// A bound list, cast.
    fn list(&mut self, value: &SqlValue, cast: &str) -> Result<String, DbError> {
        let texts = value.texts().map(checked).collect::<Result<Vec<_>, _>>()?;
        Ok(format!("{}::{cast}[]", self.bind(Param::Texts(texts))))
    }
}

/// A condition that holds for JSON null as well, which is no value.
fn but_not_null(condition: &str, json: &str) -> String {
    format!("({condition} AND {json} <> 'null'::jsonb)")
}

/// The operand as which a value can be compared: a value that the column cannot hold is no error of the database.
fn settled(operand: Operand, column: &Column, operator: Operator, value: &SqlValue) -> Result<Operand, DbError> {
    use Operator as O;
    if operand.family == Family::Json && matches!(operator, O::Eq | O::Ne | O::IsNull | O::JsonContainedBy) {
        // JSON null is no value. The other operators do not hold for it, and keep the column's index.
        return Ok(Operand { sql: format!("nullif({}, 'null'::jsonb)", operand.sql), ..operand });
    }
    if !matches!(operator, O::Eq | O::Ne | O::In | O::NotIn | O::Gt | O::Gte | O::Lt | O::Lte) {
        return Ok(operand);
    }
    let Some(text) = value.texts().find(|text| !is_value(&operand.cast, text)) else { return Ok(operand) };
    if let Some(fallback) = operand.fallback {
        let sql = format!("{}::{fallback}", operand.sql);
        return Ok(Operand { sql, cast: fallback.to_owned(), fallback: None, ..operand });
    }
    let (text, column, cast) = (shorten(&text), column.0.join("."), operand.cast);
    Err(DbError::BadValue(format!("`{column}` cannot be compared with {text:?}, which is no {cast}")))
}

/// Ids may be columns of other types, which have a text as well.
fn as_text(operand: &Operand) -> String {
    let is_text = matches!(operand.cast.as_str(), "text" | "citext");
    if is_text && operand.family != Family::List { operand.sql.clone() } else { format!("{}::text", operand.sql) }
}

/// A regular expression. PostgreSQL needs minutes to read one of a megabyte, so its length has a limit.
fn expression(value: &SqlValue) -> Result<&SqlValue, DbError> {
    const MOST: usize = 1_000;
    match value {
        SqlValue::Text(text) if text.len() > MOST => {
            Err(DbError::BadPattern(format!("a regular expression can have at most {MOST} bytes")))
        }
        value => Ok(value),
    }
}

/// Takes the special meaning from the characters of `LIKE`.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

fn checked(text: String) -> Result<String, DbError> {
    if text.contains('\0') { Err(DbError::Nul) } else { Ok(text) }
}
