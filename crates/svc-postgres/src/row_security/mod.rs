//! Whether row-level security policies bind the service, and why they are slow. Checked if there
//! are session variables: at the start, and with each catalog check that follows a change.

mod advice;
mod finding;
mod functions;
mod tables;
mod verdict;

use std::sync::{Mutex, PoisonError};

use super::FunctionSpec;
use super::driver::{DedicatedConnection, DriverError};
use super::statement::quoted;

use finding::Finding;
pub(crate) use finding::Unbound;
pub(super) use verdict::Verdict;

/// The consequence of a policy that does not bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Enforcement {
    /// No check: there are no session variables.
    #[default]
    Off,
    /// It is logged.
    Warn,
    /// The database is not used.
    Refuse,
}

/// The check of policies, and the findings logged so far.
#[derive(Debug, Default)]
pub struct RowSecurity {
    enforcement: Enforcement,
    said: Mutex<Vec<Finding>>,
}

impl RowSecurity {
    pub fn new(enforcement: Enforcement) -> Self {
        Self {
            enforcement,
            said: Mutex::default(),
        }
    }

    /// Returns the ways past the policies, behind views and tables and in called functions.
    pub(super) async fn verdict(
        &self,
        connection: &mut DedicatedConnection,
        sources: &[String],
        called: &[FunctionSpec],
    ) -> Result<Verdict, DriverError> {
        if self.enforcement == Enforcement::Off {
            return Ok(Verdict::default());
        }
        let called: Vec<&str> = called
            .iter()
            .map(|function| function.name.as_str())
            .collect();
        Verdict::read(connection, &quoted(sources), &called).await
    }

    /// Whether the database must not be used.
    pub(super) fn refuses(&self, verdict: &Verdict) -> bool {
        self.enforcement == Enforcement::Refuse && !verdict.unbound.is_empty()
    }

    /// The same verdict, if the database may be used.
    pub(super) fn accept(&self, verdict: Verdict) -> Result<Verdict, Unbound> {
        if self.refuses(&verdict) {
            Err(Unbound(verdict.unbound))
        } else {
            Ok(verdict)
        }
    }

    /// Logs new findings of a verdict, and the causes of slow policies.
    pub(super) async fn report(
        &self,
        connection: &mut DedicatedConnection,
        sources: &[String],
        verdict: &Verdict,
    ) -> Result<(), DriverError> {
        if self.enforcement != Enforcement::Off {
            let slow = advice::slow(connection, &quoted(sources)).await?;
            self.say(verdict, &slow);
        }
        Ok(())
    }

    /// Logs new findings, and logged findings that no longer apply.
    fn say(&self, Verdict { unbound, called }: &Verdict, slow: &[Finding]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |finding: &&Finding| !said.contains(finding);
        for Finding { what, fix } in unbound.iter().filter(is_new) {
            tracing::warn!(%fix, "row-level security does not bind: {what}");
        }

        let passing: Vec<&str> = called
            .iter()
            .filter(is_new)
            .map(|finding| finding.what.as_str())
            .collect();

        if !passing.is_empty() {
            let fix = "let each of them compare the tenant itself, or make it SECURITY INVOKER, or OWNER TO a role that policies bind";
            tracing::warn!(%fix, "row-level security is bypassed by: {}", passing.join("; "));
        }

        for Finding { what, fix } in slow.iter().filter(is_new) {
            tracing::info!(%fix, "a row-level security policy is slow: {what}");
        }

        let found: Vec<Finding> = unbound.iter().chain(called).chain(slow).cloned().collect();
        for Finding { what, .. } in said.iter().filter(|finding| !found.contains(finding)) {
            tracing::info!("a problem of row-level security is resolved: {what}");
        }

        *said = found;
    }
}
