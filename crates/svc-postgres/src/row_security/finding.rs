//! The faults of policies, and how to fix them.

use std::fmt::{Display, Formatter, Result};

/// A fact about policies that an operator should see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub(super) what: String,
    pub(super) fix: String,
}

/// Policies do not bind the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbound(pub Vec<Finding>);

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}; {}", self.what, self.fix)
    }
}

impl Display for Unbound {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(
            "row-level security does not bind the service, which sets session variables for it:",
        )?;
        self.0
            .iter()
            .try_for_each(|finding| write!(f, "\n  - {finding}"))?;
        f.write_str("\nset SVC_ALLOW_UNBOUND_POLICIES=true if that is meant")
    }
}

impl std::error::Error for Unbound {}
