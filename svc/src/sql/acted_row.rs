//! The row that a mutation acts on: whether policies permit it, and its lock.

use super::scope::Scope;
use super::{Builder, ColumnForm, Views, col};
use crate::postgres::{DbError, Statement};
use crate::schema::TypeIndex;

impl Statement {
    /// Locks the row with an id, if the policies permit it, until the end of the transaction; a row of the answer if they do.
    ///
    /// # Errors
    /// When the view is unknown or has no `id`, or a policy cannot decide.
    pub(crate) fn locking_row(views: Views<'_>, row: TypeIndex, id: &str) -> Result<Self, DbError> {
        Self::built(views, None, Some(vec![ColumnForm::Bool.oid()]), |builder| {
            let (permitted, from) = builder.acted_row(row)?;
            builder.text.push_str(&format!("SELECT true FROM {from} WHERE {permitted} AND "));
            builder.has_id(row, id)?;
            builder.text.push_str(" FOR UPDATE");
            Ok(())
        })
    }

    /// Whether the policies permit the row with an id; no row of the answer where there is none.
    ///
    /// # Errors
    /// When the view is unknown or has no `id`, or a policy cannot decide.
    pub(crate) fn permitted_row(views: Views<'_>, row: TypeIndex, id: &str) -> Result<Self, DbError> {
        Self::built(views, None, Some(vec![ColumnForm::Bool.oid()]), |builder| {
            let (permitted, from) = builder.acted_row(row)?;
            builder.text.push_str(&format!("SELECT {permitted} IS TRUE FROM {from} WHERE "));
            builder.has_id(row, id)
        })
    }
}

impl Builder<'_> {
    /// The condition of the policies for rows of a type, and where they are read from.
    fn acted_row(&mut self, row: TypeIndex) -> Result<(String, String), DbError> {
        let rows = self.rows(row, 0)?;
        let permitted = self.permitted(&rows)?.unwrap_or_else(|| "true".to_owned());
        Ok((permitted, format!("{} AS {}", rows.source.quoted, rows.alias())))
    }

    fn has_id(&mut self, row: TypeIndex, id: &str) -> Result<(), DbError> {
        let scope = Scope::Row(self.rows(row, 0)?);
        self.filter(&scope, &col("id").eq(id))
    }
}
