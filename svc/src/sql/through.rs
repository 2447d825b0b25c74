//! The keys of relations, which another view may join.

use super::Builder;
use super::operand::{Operand, quote_literal};
use super::scope::{RowScope, Scope};
use crate::postgres::DbError;
use crate::schema::{Family, Relation, Through};

impl<'a> Builder<'a> {
    /// The key that a key of this side is compared with: one of the rows, or of the view that joins them.
    pub(super) fn compared_key(&mut self, rows: &RowScope<'a>, relation: &Relation) -> Result<Operand, DbError> {
        match relation.through {
            Some(through) => self.join_key(&self.join(rows, through)?, through.here, "here"),
            None => self.key(&Scope::Row(rows.clone()), relation.to, "to"),
        }
    }

    /// The condition that joins rows to a key of this side, which has the type of the key that it is compared with.
    pub(super) fn joined_to(&mut self, rows: &RowScope<'a>, relation: &Relation, key: &str) -> Result<String, DbError> {
        let to = self.key(&Scope::Row(rows.clone()), relation.to, "to")?;
        let Some(through) = relation.through else { return Ok(format!("{} = {key}", to.sql)) };
        let join = self.join(rows, through)?;
        let here = self.join_key(&join, through.here, "here")?;
        let there = self.join_key(&join, through.there, "there")?;
        let there = self.as_type(there, &to.cast).sql;
        let (view, alias) = (&join.source.quoted, join.alias());
        Ok(format!("{} IN (SELECT {there} FROM {view} AS {alias} WHERE {} = {key})", to.sql, here.sql))
    }

    /// The key as a type of another one.
    pub(super) fn as_type(&self, key: Operand, cast: &str) -> Operand {
        if key.cast == cast {
            return key;
        }
        let (sql, text) = match key.cast.as_str() {
            "text" => (self.cast_text(&key.sql, cast), self.careful.then(|| key.sql.clone())),
            _ => (format!("{}::{cast}", key.sql), key.text),
        };
        Operand { sql, text, cast: cast.to_owned(), ..key }
    }

    /// The rows of the view that joins; they have no type, so that only their keys are named.
    fn join(&self, rows: &RowScope<'a>, through: Through) -> Result<RowScope<'a>, DbError> {
        let source = self.catalogue.known(through.source)?;
        Ok(RowScope { row: rows.row, source, depth: rows.depth + 1, once: false })
    }

    /// A column of the view that joins, or else a key of its `data`.
    fn join_key(&self, join: &RowScope<'a>, name: &'static str, end: &'static str) -> Result<Operand, DbError> {
        if let Some(ty) = join.source.columns.get(name) {
            return Ok(self.column(join, name, ty, None));
        }
        let data = join.data().ok_or_else(|| self.no_key(&Scope::Row(join.clone()), name, end))?;
        let sql = format!("({data} ->> {})", quote_literal(name));
        Ok(Operand { sql, cast: "text".to_owned(), fallback: None, family: Family::Text, text: None, bare: None })
    }
}
