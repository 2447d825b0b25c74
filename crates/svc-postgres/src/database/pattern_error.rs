//! Distinguishes errors in clients' values, patterns and cursors from errors in stored data and in
//! the program, by their origin.

use crate::error::{OF_DOMAIN, is_integer_read, is_refused_value};
use crate::{Database, DbError, PatternLanguage, Session, Statement};
use svc_core::exact_json::shorten;

/// An error that PostgreSQL reports.
type PostgresError = tokio_postgres::error::DbError;

/// Whether a classification waits for a connection of the pool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Waits {
    Yes,
    /// It does not find the cause if no connection is free.
    No,
}

impl Database {
    /// Classifies the error of a statement with a client's values. It is the client's if PostgreSQL
    /// cannot parse one of them in isolation, or if it was raised where PostgreSQL applies the
    /// value.
    #[cold]
    pub(super) async fn error_of(
        &self,
        statement: &Statement,
        error: DbError,
        waits: Waits,
    ) -> DbError {
        let error = error.of_values(statement);
        let reported = reported(&error)
            .filter(|(code, ..)| is_of_values(code) || OF_DOMAIN.contains(&code.as_str()));
        if reported.is_none() && !matches!(error, DbError::TooComplex) {
            return error;
        }

        for (language, probe) in statement.pattern_probes() {
            if let Some(message) = self.refusal(&probe, waits, is_of_probe).await {
                return bad_pattern(language, &message);
            }
        }

        for probe in statement.cursor_probes() {
            if self.refusal(&probe, waits, is_of_probe).await.is_some() {
                return DbError::BadCursor;
            }
        }

        for probe in statement.value_probes() {
            if let Some(message) = self.refusal(&probe, waits, is_of_probe).await {
                return DbError::BadValue(format!(
                    "a value cannot be compared: {}",
                    shorten(&message)
                ));
            }
        }

        for probe in statement.call_probes() {
            if self
                .refusal(&probe, waits, is_refused_value)
                .await
                .is_some()
            {
                return DbError::BadValue(
                    "an argument is not a value that the field accepts".to_owned(),
                );
            }
        }

        let Some((code, message, Some(file))) = reported else {
            return error;
        };
        if is_integer_read(&code, Some(&file)) && statement.has_variables() {
            return DbError::BadValue("a number is too large".to_owned());
        }

        statement
            .pattern_failed_in(&file)
            .map_or(error, |language| bad_pattern(language, &message))
    }

    /// Returns why PostgreSQL rejects a statement, if it does for such a reason.
    async fn refusal(
        &self,
        probe: &Statement,
        waits: Waits,
        is_reason: fn(&PostgresError) -> bool,
    ) -> Option<String> {
        let mut rows = Vec::new();
        let read = match waits {
            Waits::Yes => self.driver.read(Session::none(), probe, &mut rows).await,
            Waits::No => self.driver.read_if_free(probe, &mut rows).await?,
        };
        let error = read.err()?;

        let refused = error.of_database().filter(|error| is_reason(error))?;

        // PostgreSQL's message names the domain and its constraint, which are not for clients.
        let is_of_domain = OF_DOMAIN.contains(&refused.code().code());

        Some(if is_of_domain {
            "its type does not accept it".to_owned()
        } else {
            refused.message().to_owned()
        })
    }
}

/// Whether a value is the cause of an error in a statement without rows, which may also be
/// cancelled, for example.
fn is_of_probe(error: &PostgresError) -> bool {
    let code = error.code().code();
    is_of_values(code) || code.starts_with("54") || is_refused_value(error)
}

impl DbError {
    /// The same error, or the client's if PostgreSQL has met U+0000 and a value of the statement
    /// has it. Without such a value, it is a stored one.
    #[cold]
    pub(super) fn of_values(self, statement: &Statement) -> Self {
        let is_of_nul = reported(&self).is_some_and(|(code, message, file)| match code.as_str() {
            // As reported by the JSON parser, rather than by a character set conversion.
            "22P05" => file.as_deref() != Some("mbutils.c"),
            "22021" => message.ends_with(": 0x00"),
            _ => false,
        });

        if is_of_nul && statement.has_nul() {
            Self::Nul
        } else {
            self
        }
    }
}

/// The code, message and source file of a PostgreSQL error without another explanation.
fn reported(error: &DbError) -> Option<(String, String, Option<String>)> {
    match error {
        DbError::Driver(error) => {
            let error = error.of_database()?;
            Some((
                error.code().code().to_owned(),
                error.message().to_owned(),
                error.file().map(str::to_owned),
            ))
        }
        #[cfg(feature = "sqlx")]
        DbError::Sqlx(error) => crate::sqlx_pool::reported(error),
        _ => None,
    }
}

/// Whether the cause of this SQLSTATE may be a value: data exceptions, syntax errors and unknown
/// names inside a pattern, unsupported features used by a pattern, and errors without a specific
/// code, such as the depth of a query.
fn is_of_values(code: &str) -> bool {
    ["22", "42", "0A", "XX"]
        .iter()
        .any(|class| code.starts_with(class))
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
