//! The target row of a mutation: checks the policies for it and locks it.

use crate::sql::expr::Scope;
use crate::sql::{Builder, ColumnForm, Filter, Views, built, col};
use svc_core::schema::TypeIndex;
use svc_postgres::{DbError, Statement};

/// Locks the row with an id until the end of the transaction, if the policies permit it.
/// Returns a row if they do.
///
/// # Errors
/// If the view is unknown or has no `id`, or a policy cannot decide.
pub(crate) fn lock_row(views: Views<'_>, row: TypeIndex, id: &str) -> Result<Statement, DbError> {
    built(views, None, Some(vec![ColumnForm::Bool.oid()]), |builder| {
        let (permitted, from) = builder.acted_row(row)?;

        // Rows that the policies hide are neither locked nor waited for, so the time reveals
        // nothing about them.
        builder
            .text
            .push_str(&format!("SELECT true FROM {from} WHERE {permitted} AND "));
        builder.has_id(row, id)?;

        // The policies are part of this statement: after a wait for the lock, PostgreSQL
        // evaluates them again on the changed row (`READ COMMITTED`).
        builder.text.push_str(" FOR UPDATE");
        Ok(())
    })
}

/// Returns whether the policies permit the row with an id, or no row if it does not exist.
///
/// # Errors
/// If the view is unknown or has no `id`, or a policy cannot decide.
pub(crate) fn permitted_row(
    views: Views<'_>,
    row: TypeIndex,
    id: &str,
) -> Result<Statement, DbError> {
    built(views, None, Some(vec![ColumnForm::Bool.oid()]), |builder| {
        builder.select_permitted(row)?;
        builder.has_id(row, id)
    })
}

/// Like [`permitted_row`], with a row of the result for each of the rows that exist.
///
/// # Errors
/// If the view is unknown or has no `id`, or a policy cannot decide.
pub(crate) fn permitted_rows(
    views: Views<'_>,
    row: TypeIndex,
    ids: &[String],
) -> Result<Statement, DbError> {
    built(views, None, Some(vec![ColumnForm::Bool.oid()]), |builder| {
        builder.select_permitted(row)?;
        match ids {
            [id] => builder.has_id(row, id),
            _ => builder.push_condition(row, &col("id").is_in(ids.to_vec())),
        }
    })
}

impl Builder<'_> {
    /// The policies' condition on rows of a type, and the `FROM` item for these rows.
    fn acted_row(&mut self, row: TypeIndex) -> Result<(String, String), DbError> {
        let rows = self.rows(row, 0)?;
        let permitted = self.permitted(&rows)?.unwrap_or_else(|| "true".to_owned());
        Ok((
            permitted,
            format!("{} AS {}", rows.source.quoted, rows.alias()),
        ))
    }

    /// Writes the query for whether the policies permit rows, up to the condition on the rows.
    fn select_permitted(&mut self, row: TypeIndex) -> Result<(), DbError> {
        let (permitted, from) = self.acted_row(row)?;
        self.text
            .push_str(&format!("SELECT {permitted} IS TRUE FROM {from} WHERE "));
        Ok(())
    }

    fn has_id(&mut self, row: TypeIndex, id: &str) -> Result<(), DbError> {
        self.push_condition(row, &col("id").eq(id))
    }

    fn push_condition(&mut self, row: TypeIndex, filter: &Filter) -> Result<(), DbError> {
        let scope = Scope::Row(self.rows(row, 0)?);
        self.filter(&scope, filter)
    }
}
