//! The key of a relation to one row, as a value of this side that is compared without the row that it leads to.

use super::Builder;
use super::filter::{Column, Filter};
use super::operand::Operand;
use super::scope::{Named, Scope, named};
use crate::postgres::DbError;
use crate::scalar::sql_value::SqlValue;
use crate::schema::{Operator, Relation};

impl<'a> Builder<'a> {
    /// The key of a relation, as the type of the field there. It is null where a policy keeps back the row that it leads
    /// to, or masks that field: the key would tell of it.
    pub(super) fn relation_key(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
        name: &str,
    ) -> Result<Operand, DbError> {
        let Some(Named::Stored(there)) = named(self.model, relation.row, relation.to) else {
            return Err(DbError::Relation(name.to_owned()));
        };
        if self.may_be_kept_back(scope, relation)? {
            let key = Column::of(relation.to);
            return self.behind(scope, relation, |builder, scope| builder.operand(scope, &key));
        }
        let key = self.value(scope, relation.from, Some(there));
        let key = key.ok_or_else(|| self.no_key(scope, relation.from, "from"))?;
        let masked = |sql: String, builder: &mut Self| builder.masked(scope, relation.from, sql);
        let (sql, text) = (masked(key.sql, self)?, key.text.map(|text| masked(text, self)).transpose()?);
        Ok(Operand { sql, text, ..key })
    }

    /// A comparison with the key of a relation.
    pub(super) fn compare_key(
        &mut self,
        scope: &Scope<'a>,
        (column, relation): (&Column, &Relation),
        operator: Operator,
        value: &SqlValue,
    ) -> Result<(), DbError> {
        let finds_rows = matches!(operator, Operator::Eq | Operator::In) && *value != SqlValue::Null;
        if finds_rows && !relation.many && self.may_be_kept_back(scope, relation)? {
            // PostgreSQL looks for the related row once, and not for that of each row.
            let inner = Filter::Compare(Column::of(relation.to), operator, value.clone());
            return self.some(scope, column, &inner);
        }
        self.compare(scope, column, operator, value)
    }

    /// Whether a policy is about the row that a relation leads to, or about the key there.
    fn may_be_kept_back(&mut self, scope: &Scope<'a>, relation: &Relation) -> Result<bool, DbError> {
        let there = self.rows(relation.row, scope.depth() + 1)?;
        Ok(self.permitted(&there)?.is_some() || self.mask(&there, relation.to).is_some())
    }
}
