//! Statement errors as reported by the database.

use crate::DbError;
use svc_core::error::sqlstate::ErrorReport;

/// The database's report of a failed statement.
#[derive(Debug)]
pub struct Fault {
    /// The SQLSTATE.
    pub code: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// The violated constraint; `table.column` for a column that does not accept nulls.
    pub constraint: Option<String>,
    /// Whether it was raised inside a function or trigger rather than by the statement itself.
    pub is_inside: bool,
    /// Whether a foreign key's action, such as `ON DELETE SET NULL`, raised it about a row that
    /// refers to the changed or deleted one.
    pub is_of_reference: bool,
    /// The PostgreSQL source file that reports it.
    pub file: Option<String>,
}

impl Fault {
    /// The SQLSTATE, and where it was raised.
    pub fn report(&self) -> ErrorReport<'_> {
        ErrorReport {
            code: &self.code,
            file: self.file.as_deref(),
            is_inside: self.is_inside,
        }
    }
}

impl DbError {
    /// Returns the report of the database, if the statement reached it.
    pub fn fault(&self) -> Option<Fault> {
        let Self::Driver(error) = self else {
            return None;
        };

        let error = error.of_database()?;
        Some(Fault {
            code: error.code().code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
            constraint: error
                .constraint()
                .map(str::to_owned)
                .or_else(|| without_null(error.code().code(), error.table()?, error.column()?)),
            is_inside: error.where_().is_some(),
            is_of_reference: is_of_reference(error.code().code(), error.where_()),
            file: error.file().map(str::to_owned),
        })
    }
}

/// The constraint name for a column that does not accept nulls, as PostgreSQL reports none:
/// `table.column`.
pub(crate) fn without_null(code: &str, table: &str, column: &str) -> Option<String> {
    (code == "23502").then(|| format!("{table}.{column}"))
}

/// Whether a foreign key's action broke a constraint. In any language of the server, the context of
/// such an error has only the statements that PostgreSQL writes for actions. A trigger or a function
/// would add a line of its own.
pub(crate) fn is_of_reference(code: &str, context: Option<&str>) -> bool {
    let is_action = |line: &str| {
        let changes = line.contains("UPDATE ") || line.contains("DELETE FROM ");
        changes && line.contains(" OPERATOR(")
    };

    // Class 23: integrity constraint violations.
    code.starts_with("23")
        && context.is_some_and(|context| !context.is_empty() && context.lines().all(is_action))
}

#[cfg(test)]
mod tests {
    use super::is_of_reference;

    const SET_NULL: &str = r#"SQL statement "UPDATE ONLY "public"."tb_a" SET "b" = NULL WHERE $1 OPERATOR(pg_catalog.=) "b"""#;
    const CASCADE: &str =
        r#"SQL-Anweisung »DELETE FROM "public"."tb_b" WHERE $1 OPERATOR(pg_catalog.=) "c"«"#;

    #[test]
    fn foreign_key_actions_differ_from_triggers_and_functions() {
        let both = format!("{SET_NULL}\n{CASCADE}");
        for context in [SET_NULL, CASCADE, &both] {
            assert!(is_of_reference("23502", Some(context)), "{context}");
        }

        let in_trigger = format!("PL/pgSQL function told() line 3 at RAISE\n{SET_NULL}");
        let of_trigger = format!("{SET_NULL}\nPL/pgSQL function told() line 3 at SQL statement");
        let own = "SQL statement \"UPDATE tb_a SET b = NULL\"";
        for context in [in_trigger.as_str(), &of_trigger, own, ""] {
            assert!(!is_of_reference("23502", Some(context)), "{context}");
        }

        assert!(!is_of_reference("23502", None) && !is_of_reference("42501", Some(SET_NULL)));
    }
}
