//! Operators that one type has: networks, paths, ranges of dates, full text.

use super::super::{DbError, Operator, SqlValue};
use super::Builder;
use super::operand::Operand;

/// RFC 1918 and RFC 4193.
const PRIVATE: &str = "'{10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7}'::inet[]";
const LOOPBACK: &str = "'{127.0.0.0/8,::1}'::inet[]";

impl Builder<'_> {
    pub(super) fn specific(
        &mut self,
        operand: &Operand,
        operator: Operator,
        value: &SqlValue,
    ) -> Result<String, DbError> {
        use Operator as O;
        let sql = &operand.sql;
        Ok(match operator {
            O::InSubnet => self.binary(operand, "<<=", value)?,
            O::InRange => self.in_range(operand, value)?,
            O::IsPrivate => whether(value, &format!("{sql} <<= ANY({PRIVATE})")),
            O::IsLoopback => whether(value, &format!("{sql} <<= ANY({LOOPBACK})")),
            O::IsIpv4 => whether(value, &format!("family({sql}) = 4")),
            O::IsIpv6 => whether(value, &format!("family({sql}) = 6")),
            O::AncestorOf => self.binary(operand, "@>", value)?,
            O::DescendantOf => self.binary(operand, "<@", value)?,
            O::MatchesLquery => format!("{sql} ~ {}", self.one(value, "lquery")?),
            O::LevelEq => format!("nlevel({sql}) = {}", self.one(value, "int8")?),
            O::LevelGte => format!("nlevel({sql}) >= {}", self.one(value, "int8")?),
            O::LevelLte => format!("nlevel({sql}) <= {}", self.one(value, "int8")?),
            O::ContainsDate => format!("{sql} @> {}", self.one(value, "date")?),
            O::RangeOverlaps => self.binary(operand, "&&", value)?,
            O::Adjacent => self.binary(operand, "-|-", value)?,
            O::StrictlyLeft => self.binary(operand, "<<", value)?,
            O::StrictlyRight => self.binary(operand, ">>", value)?,
            _ => format!("{sql} @@ {}", self.search_query(operator, value)?),
        })
    }

    /// How well a document matches a query.
    pub(super) fn rank(&mut self, operand: &Operand, operator: Operator, query: &SqlValue) -> Result<String, DbError> {
        Ok(format!("ts_rank({}, {})", operand.sql, self.search_query(operator, query)?))
    }

    /// A query in one of the four languages, in the text search configuration of the database.
    fn search_query(&mut self, operator: Operator, query: &SqlValue) -> Result<String, DbError> {
        let function = match operator {
            Operator::PlainSearch => "plainto_tsquery",
            Operator::PhraseSearch => "phraseto_tsquery",
            Operator::WebSearch => "websearch_to_tsquery",
            _ => "to_tsquery",
        };
        // A subquery is read once, where the function alone would be for every row.
        Ok(format!("(SELECT {function}({}))", self.one(query, "text")?))
    }

    /// Prefixes order before addresses in PostgreSQL, so they are taken off first.
    fn in_range(&mut self, operand: &Operand, value: &SqlValue) -> Result<String, DbError> {
        let texts: Vec<String> = value.texts().collect();
        let [from, to] = texts.as_slice() else { return Ok("false".to_owned()) };
        if from.contains(':') != to.contains(':') {
            return Err(DbError::BadValue("`from` and `to` must both be IPv4, or both IPv6".to_owned()));
        }
        let last = if operand.cast == "cidr" { "broadcast" } else { "" };
        let from = self.one(&SqlValue::Text(from.clone()), &operand.cast)?;
        let to = self.one(&SqlValue::Text(to.clone()), &operand.cast)?;
        let sql = &operand.sql;
        Ok(format!(
            "(host({sql})::inet >= host({from})::inet AND host({last}({sql}))::inet <= host({last}({to}))::inet)"
        ))
    }
}

/// A condition or its opposite; neither holds where there is no value.
fn whether(value: &SqlValue, condition: &str) -> String {
    if *value == SqlValue::Bool(true) { condition.to_owned() } else { format!("NOT ({condition})") }
}
