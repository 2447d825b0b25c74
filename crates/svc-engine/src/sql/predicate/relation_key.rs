//! The key of a to-one relation, compared on this side without reading the related row.

use crate::sql::Builder;
use crate::sql::expr::{Named, Operand, Scope, named};
use crate::sql::ir::{Column, Filter};
use svc_core::scalar::sql_value::SqlValue;
use svc_core::schema::{Operator, Relation};
use svc_postgres::DbError;

impl<'a> Builder<'a> {
    /// The key of a relation, in the type of the field at the other end, if it is a field. It is
    /// null if a policy hides the related row or masks that field, because the key would reveal it.
    pub(in crate::sql) fn relation_key(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
        name: &str,
    ) -> Result<Operand, DbError> {
        let (from, to) = relation
            .only_key()
            .ok_or_else(|| DbError::Relation(name.to_owned()))?;
        if self.may_be_kept_back(scope, relation, to)? {
            let key = Column::of(to);
            return self.behind(scope, relation, |builder, scope| {
                builder.operand(scope, &key)
            });
        }

        let Some(Named::Stored(there)) = named(self.model, relation.row, to) else {
            return self.key(scope, from, "from");
        };

        let key = self.value(scope, from, Some(there));
        let key = key.ok_or_else(|| self.no_key(scope, from, "from"))?;
        let masked = |sql: String, builder: &mut Self| builder.masked(scope, from, sql);
        let (sql, text) = (
            masked(key.sql, self)?,
            key.text.map(|text| masked(text, self)).transpose()?,
        );

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
        let finds_rows =
            matches!(operator, Operator::Eq | Operator::In) && *value != SqlValue::Null;
        if let Some((_, to)) = relation
            .only_key()
            .filter(|_| finds_rows && !relation.is_many())
            && self.may_be_kept_back(scope, relation, to)?
        {
            // PostgreSQL searches for the related row once, instead of once for each row.
            let inner = Filter::Compare(Column::of(to), operator, value.clone());
            return self.some(scope, column, &inner);
        }

        self.compare(scope, column, operator, value)
    }

    /// Whether a policy applies to the related row, or to its key.
    fn may_be_kept_back(
        &mut self,
        scope: &Scope<'a>,
        relation: &Relation,
        to: &str,
    ) -> Result<bool, DbError> {
        let there = self.rows(relation.row, scope.depth() + 1)?;
        Ok(self.permitted(&there)?.is_some() || self.mask(&there, to).is_some())
    }
}
