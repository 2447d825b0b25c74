//! A source of rows that replaces a view in a read.

use std::sync::Arc;

use crate::{Param, Probe};
use svc_core::exact_json::ExactJson;

/// SQL for the `FROM` clause, whose placeholders are the first of its statement, and their values.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsCall {
    pub sql: Arc<str>,
    /// The same with a column `ordinality`, the number of each row.
    pub numbered: Arc<str>,
    pub params: Vec<Param>,
    /// The check of its arguments, if it has any.
    pub probe: Option<Probe>,
}

impl RowsCall {
    /// The rows selected by a statement, with `$1` for the first argument.
    pub fn of_sql(text: &str, args: Vec<Option<ExactJson>>) -> Self {
        // On separate lines, as the statement may end with a comment.
        let numbered =
            format!("(SELECT s.*, row_number() OVER () AS ordinality FROM (\n{text}\n) AS s)");
        let sql = format!("(\n{text}\n)");
        let params: Vec<_> = args
            .into_iter()
            .map(|arg| Param::Variable(arg.unwrap_or_default()))
            .collect();

        // No row is read, but PostgreSQL reads the values as the types of their parameters.
        let probe = || Probe::new(format!("SELECT 1 FROM {sql} AS s LIMIT 0"), 0, params.len());
        let probe = (!params.is_empty()).then(probe);

        Self {
            sql: sql.into(),
            numbered: numbered.into(),
            params,
            probe,
        }
    }

    /// The same without its values.
    pub fn without_values(&self) -> Self {
        Self {
            params: Vec::new(),
            ..self.clone()
        }
    }
}
