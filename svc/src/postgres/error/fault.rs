//! Statement errors as reported by the database.

use crate::postgres::{DbError, ErrorReport};

/// The database's report of a failed statement.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The SQLSTATE.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// The violated constraint; `table.column` for a column that does not accept nulls.
    pub(crate) constraint: Option<String>,
    /// Whether it was raised inside a function or trigger rather than by the statement itself.
    pub(crate) is_inside: bool,
    /// The PostgreSQL source file that reports it.
    pub(crate) file: Option<String>,
}

impl Fault {
    /// The SQLSTATE, and where it was raised.
    pub(crate) fn report(&self) -> ErrorReport<'_> {
        ErrorReport {
            code: &self.code,
            file: self.file.as_deref(),
            is_inside: self.is_inside,
        }
    }
}

impl DbError {
    /// Returns the report of the database, if the statement reached it.
    pub(crate) fn fault(&self) -> Option<Fault> {
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
            file: error.file().map(str::to_owned),
        })
    }
}

/// The constraint name for a column that does not accept nulls, as PostgreSQL reports none:
/// `table.column`.
pub(in crate::postgres) fn without_null(code: &str, table: &str, column: &str) -> Option<String> {
    (code == "23502").then(|| format!("{table}.{column}"))
}
