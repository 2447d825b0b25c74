//! Errors of values, patterns and cursors of clients, told from errors of what is stored, and of the program, by where they
//! arise.

use super::error::is_integer_read;
use super::{Database, DbError, PatternLanguage, Session, Statement};
use crate::json::shorten;

impl Database {
    /// The error of a statement with a client's values: the client's, when PostgreSQL cannot read one of them by itself,
    /// or when the error comes from where PostgreSQL applies it.
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

    /// Returns the reason why PostgreSQL refuses a statement, if it does.
    async fn refusal(&self, probe: &Statement) -> Option<String> {
        let mut rows = Vec::new();
        let error = self.driver.read(Session::none(), probe, &mut rows).await.err()?;
        error.of_database().map(|refused| refused.message().to_owned())
    }
}

/// The code, the message and the source file of an error of PostgreSQL that nothing else explains.
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

/// Whether errors with this SQLSTATE may come from a value: data exceptions, syntax errors and unknown names inside a
/// pattern, what a pattern asks for and PostgreSQL does not support, and what it has no code for, such as the depth of a
/// query.
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
