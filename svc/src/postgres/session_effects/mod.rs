//! Effects on sessions: whether functions of the database may set what lasts for a session, so that it has to be reset
//! behind each call. Nobody can say of any function what it calls in the end, so all of the database count together.

mod reset;
mod source;

pub(super) use reset::SessionReset;

use super::driver::{DedicatedConnection, DriverError};
use super::{Param, Statement};

/// The functions that somebody has made, with their languages and sources, and a row where an expression that
/// PostgreSQL has parsed sets something.
const FUNCTIONS: &str = include_str!("functions.sql");

/// The number of functions that the log names.
const NAMED: usize = 5;

/// The functions and expressions that may set something for the session, in one order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SessionEffects(Vec<String>);

impl SessionEffects {
    /// Looks at all functions.
    pub(super) async fn read(connection: &mut DedicatedConnection) -> Result<Self, DriverError> {
        let rows: Vec<(String, String, String)> =
            connection.rows(&Statement::new(FUNCTIONS, Vec::<Param>::new())).await?;
        let altering = rows.into_iter().filter(|(_, language, source)| may_alter(language, source));
        Ok(Self(altering.map(|(name, ..)| name).collect()))
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }
}

impl std::fmt::Display for SessionEffects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = self.0.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        f.write_str(&named)?;
        match self.0.len().checked_sub(NAMED) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, " and {more} more"),
        }
    }
}

/// Whether a function in this language, with this source, may set something. Nothing is known of what is not written in
/// SQL.
fn may_alter(language: &str, source: &str) -> bool {
    match language {
        "sql" | "plpgsql" => source::may_alter(source),
        "internal" => source::names_effect(source),
        _ => true,
    }
}
