//! The keys of relations, including relations through a junction view.

use super::operand::Operand;
use super::scope::{RowScope, Scope};
use crate::sql::Builder;
use svc_core::schema::{Family, KeyNames, Relation, Through};
use svc_postgres::{DbError, quote_literal};

impl<'a> Builder<'a> {
    /// The keys that this side's keys are compared with: the keys of the rows, or of the junction
    /// view.
    pub(in crate::sql) fn compared_keys(
        &mut self,
        rows: &RowScope<'a>,
        relation: &Relation,
    ) -> Result<Vec<Operand>, DbError> {
        match relation.through {
            Some(through) => {
                let join = self.join(rows, relation, through)?;
                self.join_keys(&join, relation, through.here, "here")
            }
            None => self.keys(&Scope::Row(rows.clone()), relation.to, "to"),
        }
    }

    /// The keys at one end of a relation.
    pub(in crate::sql) fn keys(
        &mut self,
        scope: &Scope<'a>,
        names: KeyNames,
        end: &'static str,
    ) -> Result<Vec<Operand>, DbError> {
        names
            .iter()
            .map(|name| self.key(scope, name, end))
            .collect()
    }

    /// The condition that joins rows to keys of this side, which are cast to the types of the keys
    /// that they are compared with.
    pub(in crate::sql) fn joined_to(
        &mut self,
        rows: &RowScope<'a>,
        relation: &Relation,
        keys: &[String],
    ) -> Result<String, DbError> {
        let to = self.keys(&Scope::Row(rows.clone()), relation.to, "to")?;
        let Some(through) = relation.through else {
            return Ok(equal(&to, keys));
        };

        let join = self.join(rows, relation, through)?;
        let here = self.join_keys(&join, relation, through.here, "here")?;
        let there = self.join_keys(&join, relation, through.there, "there")?;
        let there = there
            .into_iter()
            .zip(&to)
            .map(|(there, to)| self.as_type(there, &to.cast).sql);
        let there = there.collect::<Vec<_>>().join(", ");
        let permitted = self.permitted_join(&join, relation)?;
        let (view, alias) = (&join.source.quoted, join.alias());
        let to = to
            .iter()
            .map(|key| key.sql.as_str())
            .collect::<Vec<_>>()
            .join(", ");

        let to = if relation.to.len() == 1 {
            to
        } else {
            format!("({to})")
        };

        // A junction view may have several rows for a pair; `IN` finds the related row once, and a
        // join would repeat it.
        Ok(format!(
            "{to} IN (SELECT {there} FROM {view} AS {alias} WHERE {}{permitted})",
            equal(&here, keys)
        ))
    }

    /// Casts a key to the type of another one.
    pub(in crate::sql) fn as_type(&self, key: Operand, cast: &str) -> Operand {
        if key.cast == cast {
            return key;
        }

        let (sql, text) = match key.cast.as_str() {
            "text" => (
                self.cast_text(&key.sql, cast),
                self.careful
                    .then(|| key.text.clone().unwrap_or_else(|| key.sql.clone())),
            ),
            "numeric" | "float4" | "float8" if cast == "int8" => (integer(&key.sql), key.text),
            _ => (format!("{}::{cast}", key.sql), key.text),
        };

        Operand {
            sql,
            text,
            cast: cast.to_owned(),
            ..key
        }
    }

    /// The value of an available key, and the expression that is null if the key cannot be read.
    /// `is_exact` means that all numeric keys are written as integers.
    pub(in crate::sql) fn key_in_hand(
        &self,
        text: &str,
        cast: &str,
        is_exact: bool,
    ) -> (String, String) {
        // A key such as `1.5` is readable although it equals no integer, so only the cast to
        // `numeric` decides whether it counts as unreadable.
        if cast == "int8" && !is_exact {
            let number = self.cast_text(text, "numeric");
            return (integer(&number), number);
        }
        let value = self.cast_text(text, cast);
        (value.clone(), value)
    }

    /// The rows of the junction view. If it has no type, only its keys are used.
    pub(in crate::sql) fn join(
        &self,
        rows: &RowScope<'a>,
        relation: &Relation,
        through: Through,
    ) -> Result<RowScope<'a>, DbError> {
        let source = self.catalog.known(through.source)?;
        Ok(RowScope {
            row: relation.joining.unwrap_or(rows.row),
            source,
            depth: rows.depth + 1,
            once: false,
        })
    }

    /// The condition that a policy applies to the junction rows, to append to other conditions.
    pub(in crate::sql) fn permitted_join(
        &mut self,
        join: &RowScope<'a>,
        relation: &Relation,
    ) -> Result<String, DbError> {
        let permitted = if relation.joining.is_some() {
            self.permitted(join)?
        } else {
            None
        };
        Ok(permitted
            .map(|rule| format!(" AND {rule}"))
            .unwrap_or_default())
    }

    pub(in crate::sql) fn join_keys(
        &mut self,
        join: &RowScope<'a>,
        relation: &Relation,
        names: KeyNames,
        end: &'static str,
    ) -> Result<Vec<Operand>, DbError> {
        match relation.joining {
            Some(_) => self.keys(&Scope::Row(join.clone()), names, end),
            None => names
                .iter()
                .map(|name| self.join_key(join, name, end))
                .collect(),
        }
    }

    /// A column of the junction view, or else a key of its `data`.
    fn join_key(
        &self,
        join: &RowScope<'a>,
        name: &'static str,
        end: &'static str,
    ) -> Result<Operand, DbError> {
        if let Some(ty) = join.source.columns.get(name) {
            return Ok(self.column(join, name, ty, None));
        }

        let data = self
            .data(join)
            .ok_or_else(|| self.no_key(&Scope::Row(join.clone()), name, end))?;
        let sql = format!("({data} ->> {})", quote_literal(name));
        Ok(Operand {
            sql,
            cast: "text".to_owned(),
            fallback: None,
            family: Family::Text,
            text: None,
            bare: None,
            is_nondeterministic: false,
        })
    }
}

/// A number as an integer, so that the comparison can use an index. Null if it is not an integer,
/// because no integer equals it then.
fn integer(number: &str) -> String {
    format!(
        "(CASE WHEN {number} = trunc({number}) AND {number} >= -9223372036854775808 \
         AND {number} < 9223372036854775808 THEN {number}::int8 END)"
    )
}

/// The condition that keys are equal in pairs.
pub(in crate::sql) fn equal(these: &[Operand], those: &[String]) -> String {
    let pairs = these
        .iter()
        .zip(those)
        .map(|(this, that)| format!("{} = {that}", this.sql));
    pairs.collect::<Vec<_>>().join(" AND ")
}
