//! Effects on sessions: whether functions of the database may leave lasting effects in a session,
//! so that it must be reset after each call. The functions that a call reaches indirectly cannot be
//! determined, so all functions of the database count together.

mod reset;
mod source;

pub(super) use reset::SessionReset;

use super::driver::{DedicatedConnection, DriverError};
use super::{Param, Statement};

/// The user-defined functions with their languages and sources, and a row if an expression already
/// parsed by PostgreSQL alters the session.
const FUNCTIONS: &str = include_str!("functions.sql");

/// The maximum number of functions named in the log.
const NAMED: usize = 5;

/// The functions and expressions that may alter the session, in a fixed order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SessionEffects(Vec<String>);

impl SessionEffects {
    /// Reads and checks all functions.
    pub(super) async fn read(connection: &mut DedicatedConnection) -> Result<Self, DriverError> {
        let rows: Vec<(String, String, String)> = connection
            .rows(&Statement::new(FUNCTIONS, Vec::<Param>::new()))
            .await?;
        let altering = rows
            .into_iter()
            .filter(|(_, language, source)| may_alter(language, source));
        Ok(Self(altering.map(|(name, ..)| name).collect()))
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }
}

impl std::fmt::Display for SessionEffects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = self
            .0
            .iter()
            .take(NAMED)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");

        f.write_str(&named)?;
        match self.0.len().checked_sub(NAMED) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, " and {more} more"),
        }
    }
}

/// Whether a function in this language, with this source, may alter the session. The sources of
/// SQL, PL/pgSQL and internal functions are examined; functions in other languages count as
/// altering it.
fn may_alter(language: &str, source: &str) -> bool {
    match language {
        "sql" | "plpgsql" => source::may_alter(source),
        "internal" => source::names_effect(source),
        _ => true,
    }
}
