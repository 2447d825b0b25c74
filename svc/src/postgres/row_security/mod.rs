//! Whether policies of row-level security bind the service, and what makes them slow. Looked at where there are session
//! variables, whenever the catalogue is read.

mod advice;
mod finding;
mod functions;
mod tables;

use std::sync::{Mutex, PoisonError};

use super::catalogue::quoted;
use super::driver::DedicatedConnection;
use super::{CheckError, FunctionSpec};

use finding::Finding;
pub(crate) use finding::Unbound;

/// What is done when a policy does not bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Enforcement {
    /// Nothing is looked at: there are no session variables.
    #[default]
    Off,
    /// The log says so.
    Warn,
    /// The database is not used.
    Refuse,
}

/// The look at policies, and what the log has said of it.
#[derive(Debug, Default)]
pub(crate) struct RowSecurity {
    enforcement: Enforcement,
    said: Mutex<Vec<String>>,
}

impl RowSecurity {
    pub(crate) fn new(enforcement: Enforcement) -> Self {
        Self { enforcement, said: Mutex::default() }
    }

    /// Looks at the policies behind views and tables, and at functions that are called.
    ///
    /// # Errors
    /// [`CheckError::Unbound`] where that is to keep the database from being used.
    pub(super) async fn look(
        &self,
        connection: &mut DedicatedConnection,
        sources: &[String],
        called: &[FunctionSpec],
    ) -> Result<(), CheckError> {
        if self.enforcement == Enforcement::Off {
            return Ok(());
        }
        let quoted = quoted(sources);
        let called: Vec<&str> = called.iter().map(|function| function.name.as_str()).collect();
        let mut unbound = tables::unbound(connection, &quoted).await?;
        let (hidden, called) = functions::definers(connection, &quoted, &called).await?;
        let slow = advice::slow(connection, &quoted).await?;
        unbound.extend(hidden);
        self.say(&unbound, &called, &slow);
        if self.enforcement == Enforcement::Refuse && !unbound.is_empty() {
            return Err(Unbound(unbound).into());
        }
        Ok(())
    }

    /// Logs what it has not said before.
    fn say(&self, unbound: &[Finding], called: &[Finding], slow: &[Finding]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<String> = unbound.iter().chain(called).chain(slow).map(ToString::to_string).collect();
        let is_new = |finding: &&Finding| !said.contains(&finding.to_string());
        for Finding { what, fix } in unbound.iter().filter(is_new) {
            tracing::warn!(%fix, "row-level security does not bind: {what}");
        }
        for Finding { what, fix } in called.iter().filter(is_new) {
            tracing::warn!(%fix, "row-level security is passed by: {what}");
        }
        for Finding { what, fix } in slow.iter().filter(is_new) {
            tracing::info!(%fix, "a policy of row-level security is slow: {what}");
        }
        *said = all;
    }
}
