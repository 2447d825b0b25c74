//! Errors of statements, as the database reports them.

use super::{DbError, ErrorReport};

/// The database's report of a statement that failed.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The SQLSTATE.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// The constraint that was broken; `table.column` where a column takes no null.
    pub(crate) constraint: Option<String>,
    /// Whether it arises inside of a function or trigger, and not in the statement itself.
    pub(crate) is_inside: bool,
    /// The source file of PostgreSQL that reports it.
    pub(crate) file: Option<String>,
}

impl Fault {
    /// The code, and where it comes from.
    pub(crate) fn report(&self) -> ErrorReport<'_> {
        ErrorReport { code: &self.code, file: self.file.as_deref(), is_inside: self.is_inside }
    }
}

impl DbError {
    /// Returns the report of the database, if the statement reached it.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let Self::Driver(error) = self else { return None };
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

/// The name for a column that takes no null, which PostgreSQL gives no name of a constraint: `table.column`.
pub(super) fn without_null(code: &str, table: &str, column: &str) -> Option<String> {
    (code == "23502").then(|| format!("{table}.{column}"))
}
