//! The texts of causes, as they are logged.

use std::error::Error;

#[cfg(feature = "sqlx")]
use sqlx::postgres::PgDatabaseError;

/// Returns the text of a cause. For PostgreSQL errors, sqlx adds the line in PostgreSQL's own
/// source, which reads like a line of the statement; it is removed.
pub(super) fn text(cause: &(dyn Error + 'static)) -> String {
    let text = cause.to_string();
    #[cfg(feature = "sqlx")]
    if let Some(line) = of_postgres(cause).and_then(PgDatabaseError::line) {
        return text.replace(&format!(" at line {line}"), "");
    }
    text
}

/// The PostgreSQL report behind an error.
#[cfg(feature = "sqlx")]
pub fn of_postgres<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e PgDatabaseError> {
    // An application often wraps errors of sqlx in its own types.
    let mut causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.find_map(|error| match error.downcast_ref() {
        Some(sqlx::Error::Database(error)) => error.try_downcast_ref(),
        _ => error.downcast_ref(),
    })
}
