//! Operators of a single type: networks, paths, ranges of dates, full text.

use super::bind::Placeholders;
use crate::sql::Builder;
use crate::sql::expr::Operand;
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::Operator;
use svc_postgres::DbError;

/// RFC 1918 and RFC 4193.
const PRIVATE: &str = "'{10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7}'::inet[]";
const LOOPBACK: &str = "'{127.0.0.0/8,::1}'::inet[]";

/// A comparison with an operator of a single type.
pub(super) fn specific(
    operand: &Operand,
    operator: Operator,
    value: &SqlValue,
    bound: &mut Placeholders,
) -> Result<String, DbError> {
    use Operator as O;

    let (sql, cast) = (&operand.sql, operand.cast.as_str());
    Ok(match operator {
        O::InSubnet => format!("{sql} <<= {}", bound.one(cast)),
        O::InRange => in_range(operand, value, bound)?,
        O::IsPrivate => whether(value, &format!("{sql} <<= ANY({PRIVATE})")),
        O::IsLoopback => whether(value, &format!("{sql} <<= ANY({LOOPBACK})")),
        O::IsIpv4 => whether(value, &format!("family({sql}) = 4")),
        O::IsIpv6 => whether(value, &format!("family({sql}) = 6")),
        O::AncestorOf => format!("{sql} @> {}", bound.one(cast)),
        O::DescendantOf => format!("{sql} <@ {}", bound.one(cast)),
        O::MatchesLquery => format!("{sql} ~ {}", bound.one("lquery")),
        O::LevelEq => format!("nlevel({sql}) = {}", bound.one("int8")),
        O::LevelGte => format!("nlevel({sql}) >= {}", bound.one("int8")),
        O::LevelLte => format!("nlevel({sql}) <= {}", bound.one("int8")),
        O::ContainsDate => format!("{sql} @> {}", bound.one("date")),
        O::RangeOverlaps => format!("{sql} && {}", bound.one(cast)),
        O::Adjacent => format!("{sql} -|- {}", bound.one(cast)),
        O::StrictlyLeft => format!("{sql} << {}", bound.one(cast)),
        O::StrictlyRight => format!("{sql} >> {}", bound.one(cast)),
        _ => format!("{sql} @@ {}", search_query(operator, &bound.one("text"))),
    })
}

impl Builder<'_> {
    /// Returns the expression for how well a document matches a query.
    pub(in crate::sql) fn rank(
        &mut self,
        operand: &Operand,
        operator: Operator,
        query: &SqlValue,
    ) -> Result<String, DbError> {
        let query = self.bind_values(operator, query)?.one("text");
        Ok(format!(
            "ts_rank({}, {})",
            operand.sql,
            search_query(operator, &query)
        ))
    }
}

/// A text search query in one of the four query syntaxes, in the text search configuration of the
/// database.
fn search_query(operator: Operator, query: &str) -> String {
    let function = match operator {
        Operator::PlainSearch => "plainto_tsquery",
        Operator::PhraseSearch => "phraseto_tsquery",
        Operator::WebSearch => "websearch_to_tsquery",
        _ => "to_tsquery",
    };
    // A subquery is evaluated once; the function alone would be evaluated for every row.
    format!("(SELECT {function}({query}))")
}

/// Prefixes sort before addresses in PostgreSQL, so they are removed first.
fn in_range(
    operand: &Operand,
    value: &SqlValue,
    bound: &mut Placeholders,
) -> Result<String, DbError> {
    let SqlValue::List(ends) = value else {
        return Ok("false".to_owned());
    };

    let [Some(from), Some(to)] =
        [ends.first(), ends.get(1)].map(|end| end.and_then(SqlValue::text))
    else {
        return Ok("false".to_owned());
    };

    // PostgreSQL sorts all IPv4 addresses before all IPv6 addresses, so a mixed range would contain
    // parts of both.
    if from.contains(':') != to.contains(':') {
        return Err(DbError::BadValue(
            "`from` and `to` must both be IPv4, or both IPv6".to_owned(),
        ));
    }

    let (sql, cast) = (&operand.sql, &operand.cast);

    // A network is in the range only if all its addresses do, so its last address is compared with
    // the upper end.
    let last = if cast == "cidr" { "broadcast" } else { "" };
    let (from, to) = (bound.one(cast), bound.one(cast));

    Ok(format!(
        "(host({sql})::inet >= host({from})::inet AND host({last}({sql}))::inet <= host({last}({to}))::inet)"
    ))
}

/// A condition or its negation; both fail for a null.
fn whether(value: &SqlValue, condition: &str) -> String {
    if *value == SqlValue::Bool(true) {
        condition.to_owned()
    } else {
        format!("NOT ({condition})")
    }
}
