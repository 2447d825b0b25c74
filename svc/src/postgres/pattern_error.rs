//! Errors of patterns that clients write, told from errors of the program by where they arise.

use super::{Database, DbError, PatternLanguage, Session, Statement};
use crate::json::shorten;

impl Database {
    /// The error of a statement with the client's patterns among its values: the client's, when PostgreSQL cannot read
    /// one of the patterns by itself, or when the error comes from where PostgreSQL applies it.
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
        let Some((_, message, Some(file))) = reported else { return error };
        statement.pattern_failed_in(&file).map_or(error, |language| bad_pattern(language, &message))
    }

    /// What PostgreSQL has against a statement, if anything.
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
/// pattern, and what a pattern asks for and PostgreSQL does not support.
fn is_of_values(code: &str) -> bool {
    ["22", "42", "0A"].iter().any(|class| code.starts_with(class))
}

fn bad_pattern(language: PatternLanguage, message: &str) -> DbError {
    let message = shorten(message);
    DbError::BadPattern(match language {
        PatternLanguage::Like => "a pattern cannot end with `\\`".to_owned(),
        PatternLanguage::Regex => format!("the regular expression is not valid: {message}"),
        _ => format!("the pattern or query is not valid: {message}"),
    })
}
