//! Comparison operators in SQL.

use std::borrow::Cow;

use super::bind::Placeholders;
use super::type_specific::specific;
use super::value_replans;
use crate::sql::Builder;
use crate::sql::expr::cast::{is_between, is_checked, is_value, round_down, rounds};
use crate::sql::expr::{Operand, Scope};
use crate::sql::ir::Column;
use svc_core::exact_json::shorten;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{Family, Operator};
use svc_postgres::DbError;

impl<'a> Builder<'a> {
    pub(super) fn compare(
        &mut self,
        scope: &Scope<'a>,
        column: &Column,
        operator: Operator,
        value: &SqlValue,
    ) -> Result<(), DbError> {
        self.replan |= value_replans(operator);
        let operand = self.operand(scope, column)?;
        self.compare_operand(operand, &column.path.join("."), operator, value)
    }

    /// Writes the comparison of an operand; `name` is its name in messages.
    pub(in crate::sql) fn compare_operand(
        &mut self,
        operand: Operand,
        name: &str,
        operator: Operator,
        value: &SqlValue,
    ) -> Result<(), DbError> {
        // Each comparison has an entry, even without a check: a reused statement finds the checks
        // by their order.
        self.checks.push(None);
        let operand = self.comparable(operand, name, operator, value)?;
        let Some((operator, value)) = self.rounded(&operand, operator, value) else {
            return Ok(());
        };

        let value = value.as_ref();
        let mut bound = self.bind_values(operator, value)?;
        let of_rule = self
            .is_ruling
            .then(|| strict(&operand, operator, value, &mut bound))
            .flatten();

        let text = match of_rule {
            Some(text) => text,
            None => comparison(&operand, operator, value, &mut bound)?,
        };

        self.casts.extend(bound.casts);
        self.text.push_str(&text);

        Ok(())
    }

    /// Returns the operand in a type that can be compared with the value. A value that the column
    /// cannot hold is therefore the client's error and not the database's.
    fn comparable(
        &mut self,
        operand: Operand,
        column: &str,
        operator: Operator,
        value: &SqlValue,
    ) -> Result<Operand, DbError> {
        use Operator as O;

        if operand.family == Family::Json
            && matches!(operator, O::Eq | O::Ne | O::IsNull | O::JsonContainedBy)
        {
            // JSON null is not a value. The other operators do not match it anyway, and the bare
            // column keeps its index usable.
            return Ok(Operand {
                sql: format!("nullif({}, 'null'::jsonb)", operand.sql),
                ..operand
            });
        }

        // A reused text compares the values as they are, so a value that has to be rounded needs
        // another text.
        if rounds(&operand.cast) {
            if let Some(check) = self.checks.last_mut() {
                *check = Some(operand.cast.clone());
            }
            return Ok(operand);
        }

        if operand.family == Family::List || !compares_values(operator) {
            return Ok(operand);
        }

        if let Some(check) = self.checks.last_mut() {
            *check = is_checked(&operand.cast).then(|| operand.cast.clone());
        }

        let Some(text) = value.texts().find(|text| !is_value(&operand.cast, text)) else {
            return Ok(operand);
        };

        // The cast of the fallback hides the column's index, so only the values that need it get
        // this text.
        if let Some(fallback) = operand.fallback {
            self.depends_on_values = true;
            let sql = format!("{}::{fallback}", operand.sql);
            return Ok(Operand {
                sql,
                cast: fallback.to_owned(),
                fallback: None,
                ..operand
            });
        }

        let (text, cast) = (shorten(&text), operand.cast);

        Err(DbError::BadValue(format!(
            "`{column}` cannot be compared with {text:?}, which is not a valid {cast}"
        )))
    }
}

impl Builder<'_> {
    /// Rewrites a comparison with values that PostgreSQL would round (an instant or a time to the
    /// microsecond, a `real` to the nearest one) into an equivalent one with values of the
    /// operand's type. If the result is the same for all rows, writes it and returns `None`.
    fn rounded<'v>(
        &mut self,
        operand: &Operand,
        operator: Operator,
        value: &'v SqlValue,
    ) -> Option<(Operator, Cow<'v, SqlValue>)> {
        use Operator as O;

        let cast = &operand.cast;
        let is_between =
            |value: &SqlValue| value.text().is_some_and(|text| is_between(cast, &text));
        let is_any = rounds(cast) && value.items().iter().any(is_between);

        if !is_any || !compares_values(operator) {
            return Some((operator, Cow::Borrowed(value)));
        }

        self.depends_on_values = true;

        // No value of the type is between two neighbours: equality holds for no row, and a value
        // above the given one is above the greatest value below it.
        let none_or_all = match operator {
            O::Eq | O::ListContains => operand.unless_null("false", self.is_ruling),
            O::Ne => operand.unless_null("true", self.is_ruling),
            O::Gt | O::Gte => return Some((O::Gt, Cow::Owned(below(cast, value)))),
            O::Lt | O::Lte => return Some((O::Lte, Cow::Owned(below(cast, value)))),
            // The other operators compare with lists; an item that no row can contain does not
            // change their result.
            _ => {
                let items = value
                    .items()
                    .iter()
                    .filter(|item| !is_between(item))
                    .cloned()
                    .collect();
                return Some((operator, Cow::Owned(SqlValue::List(items))));
            }
        };

        self.text.push_str(&none_or_all);

        None
    }
}

impl Operand {
    /// A comparison with the same result for all values. In strict logic it is unknown for a null.
    fn unless_null(&self, comparison: &str, is_strict: bool) -> String {
        if is_strict {
            format!("CASE WHEN {} IS NOT NULL THEN {comparison} END", self.sql)
        } else {
            comparison.to_owned()
        }
    }
}

/// The comparison in the logic of client filters.
fn comparison(
    operand: &Operand,
    operator: Operator,
    value: &SqlValue,
    bound: &mut Placeholders,
) -> Result<String, DbError> {
    use Operator as O;

    let (sql, cast) = (&operand.sql, operand.cast.as_str());
    Ok(match (operator, value) {
        (O::Eq, SqlValue::Null) | (O::IsNull, SqlValue::Bool(true)) => format!("{sql} IS NULL"),
        (O::Ne, SqlValue::Null) | (O::IsNull, SqlValue::Bool(false)) => {
            format!("{sql} IS NOT NULL")
        }
        // A comparison with null matches no row.
        (_, SqlValue::Null) | (O::IsNull, _) => "false".to_owned(),
        (O::Eq, _) => format!("{sql} = {}", bound.one(cast)),
        (O::Ne, _) => format!("{sql} IS DISTINCT FROM {}", bound.one(cast)),
        (O::Gt, _) => format!("{sql} > {}", bound.one(cast)),
        (O::Gte, _) => format!("{sql} >= {}", bound.one(cast)),
        (O::Lt, _) => format!("{sql} < {}", bound.one(cast)),
        (O::Lte, _) => format!("{sql} <= {}", bound.one(cast)),
        (O::In, _) => format!("{sql} = ANY({})", bound.list(cast)),
        // `<> ALL` is null for a null, and rows without a value are kept.
        (O::NotIn, _) => format!("({sql} <> ALL({})) IS NOT FALSE", bound.list(cast)),
        (O::Like | O::Contains | O::StartsWith | O::EndsWith, _) => on_text(operand, "LIKE", bound),
        (O::ILike | O::IContains | O::IStartsWith | O::IEndsWith, _) => {
            on_text(operand, "ILIKE", bound)
        }
        (O::Matches, _) => on_text(operand, "~", bound),
        (O::IMatches, _) => on_text(operand, "~*", bound),
        (O::ListContains, _) => format!("{sql} @> {}", bound.list(cast)),
        (O::ListContainedBy, _) => format!("{sql} <@ {}", bound.list(cast)),
        (O::Overlaps, _) => format!("{sql} && {}", bound.list(cast)),
        (O::IsEmpty, SqlValue::Bool(true)) => format!("cardinality({sql}) = 0"),
        (O::IsEmpty, _) => format!("cardinality({sql}) <> 0"),
        (O::LenEq, _) => format!("cardinality({sql}) = {}", bound.one("int8")),
        (O::LenGt, _) => format!("cardinality({sql}) > {}", bound.one("int8")),
        (O::LenGte, _) => format!("cardinality({sql}) >= {}", bound.one("int8")),
        (O::LenLt, _) => format!("cardinality({sql}) < {}", bound.one("int8")),
        (O::LenLte, _) => format!("cardinality({sql}) <= {}", bound.one("int8")),
        (O::HasKey, _) => format!("{sql} ? {}", bound.one("text")),
        (O::HasAnyKeys, _) => format!("{sql} ?| {}", bound.list("text")),
        // `?&` with an empty list holds for any JSON, also for null.
        (O::HasAllKeys, _) => but_not_null(&format!("{sql} ?& {}", bound.list("text")), sql),
        (O::JsonContains, _) => format!("{sql} @> {}", bound.one("jsonb")),
        (O::JsonContainedBy, _) => format!("{sql} <@ {}", bound.one("jsonb")),
        (O::PathExists, _) => but_not_null(&format!("{sql} @? {}", bound.one("jsonpath")), sql),
        _ => specific(operand, operator, value, bound)?,
    })
}

/// The comparisons that differ between SQL's three-valued logic and the client filters' logic.
fn strict(
    operand: &Operand,
    operator: Operator,
    value: &SqlValue,
    bound: &mut Placeholders,
) -> Option<String> {
    use Operator as O;

    let (sql, cast) = (&operand.sql, operand.cast.as_str());
    Some(match (operator, value) {
        // In a policy, too, a comparison with null is the program's way to test whether a value is
        // missing.
        (O::Eq | O::Ne | O::IsNull, SqlValue::Null) => return None,
        (_, SqlValue::Null) => "NULL::boolean".to_owned(),
        (O::Ne, _) => format!("{sql} <> {}", bound.one(cast)),
        // A value that is not among the listed ones may equal the null in the list.
        (O::In, list) if list.has_null() => {
            format!("CASE WHEN {sql} = ANY({}) THEN true END", bound.list(cast))
        }
        (O::NotIn, list) if list.has_null() => {
            format!("CASE WHEN {sql} = ANY({}) THEN false END", bound.list(cast))
        }
        (O::NotIn, _) => format!("{sql} <> ALL({})", bound.list(cast)),
        _ => return None,
    })
}

/// Whether the operator's values have the type of its operand or of the operand's elements.
fn compares_values(operator: Operator) -> bool {
    use Operator as O;
    matches!(
        operator,
        O::Eq | O::Ne | O::In | O::NotIn | O::Gt | O::Gte | O::Lt | O::Lte
    ) || matches!(operator, O::ListContains | O::ListContainedBy | O::Overlaps)
}

fn below(cast: &str, value: &SqlValue) -> SqlValue {
    SqlValue::Text(round_down(cast, &value.text().unwrap_or_default()))
}

/// A comparison of texts. Ids may be columns of other types, which are cast to text.
fn on_text(operand: &Operand, operator: &str, bound: &mut Placeholders) -> String {
    let is_text = matches!(operand.cast.as_str(), "text" | "citext" | "bpchar")
        && operand.family != Family::List;
    let cast = if is_text { "" } else { "::text" };

    // The database's default collation, which also applies to the same text in JSON.
    let collation = if operand.is_nondeterministic {
        " COLLATE pg_catalog.\"default\""
    } else {
        ""
    };

    format!(
        "{}{cast}{collation} {operator} {}",
        operand.sql,
        bound.one("text")
    )
}

/// A condition that excludes JSON null, which is not a value.
fn but_not_null(condition: &str, json: &str) -> String {
    format!("({condition} AND {json} <> 'null'::jsonb)")
}
