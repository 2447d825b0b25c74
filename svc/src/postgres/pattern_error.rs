//! Distinguishes errors in clients' values, patterns and cursors from errors in stored data and in the program, by
//! their origin.

use super::error::is_integer_read;
use super::{Database, DbError, PatternLanguage, Session, Statement};
use crate::json::shorten;

impl Database {
    /// Classifies the error of a statement with a client's values. It is the client's if PostgreSQL cannot parse one of
    /// them in isolation, or if it was raised where PostgreSQL applies the value.
    #[cold]
    pub(super) async fn error_of(&self, statement: &Statement, error: DbError) -> DbError {
        let reported = reported(&error).filter(|(code, ..)| is_of_values(code));
        if reported.is_none() && !matches!(error, DbError::TooComplex) {
            return error;
        }
        for (language, probe) in statement.pattern_probes() {
            if let Some(message) = self.refusal(&probe).await {
                return bad_pattern(language, &message);
            }
        }
        for probe in statement.cursor_probes() {
            if self.refusal(&probe).await.is_some() {
                return DbError::BadCursor;
            }
        }
        for probe in statement.value_probes() {
            if let Some(message) = self.refusal(&probe).await {
                return DbError::BadValue(format!("a value cannot be compared: {}", shorten(&message)));
            }
        }
        let Some((code, message, Some(file))) = reported else { return error };
        if is_integer_read(&code, Some(&file)) && statement.has_variables() {
            return DbError::BadValue("a number is too large".to_owned());
        }
        statement.pattern_failed_in(&file).map_or(error, |language| bad_pattern(language, &message))
    }

    /// Returns why PostgreSQL rejects a statement, if it does.
    async fn refusal(&self, probe: &Statement) -> Option<String> {
        let mut rows = Vec::new();
        let error = self.driver.read(Session::none(), probe, &mut rows).await.err()?;
        error.of_database().map(|refused| refused.message().to_owned())
    }
}

/// The code, message and source file of a PostgreSQL error without another explanation.
fn reported(error: &DbError) -> Option<(String, String, Option<String>)> {
    match error {
        DbError::Driver(error) => {
            let error = error.of_database()?;
            Some((error.code().code().to_owned(), error.message().to_owned(), error.file().map(str::to_owned)))
        }
        #[cfg(feature = "sqlx")]
        DbError::Sqlx(error) => super::sqlx_pool::reported(error),
        _ => None,
    }
}

/// Whether the cause of this SQLSTATE may be a value: data exceptions, syntax errors and unknown names inside a
/// pattern, unsupported features used by a pattern, and errors without a specific code, such as the depth of a query.
fn is_of_values(code: &str) -> bool {
    ["22", "42", "0A", "XX"].iter().any(|class| code.starts_with(class))
}

fn bad_pattern(language: PatternLanguage, message: &str) -> DbError {
    let message = shorten(message);
    DbError::BadPattern(match language {
        PatternLanguage::Regex | PatternLanguage::CaselessRegex => {
            format!("the regular expression is not valid: {message}")
        }
        _ => format!("the pattern or query is not valid: {message}"),
    })
}
