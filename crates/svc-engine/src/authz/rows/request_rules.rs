//! The decisions of the row policies for one request.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use super::RowPolicies;
use crate::request::{Context, ScopeSeed};
use crate::sql::{RowRule, RowRules, Subject};
use svc_core::error::Denied;
use svc_core::schema::TypeIndex;
use svc_core::{Error, ErrorCode, Result};

/// The rules of the row policies for one request. A policy is evaluated when its rows or its field
/// are first read.
pub(crate) struct RequestRules {
    policies: Arc<RowPolicies>,
    /// `None` denies everything.
    request: Option<ScopeSeed>,
    rules: Box<[OnceLock<Decided>]>,
}

type Decided = Result<Option<Arc<RowRule>>>;

impl RequestRules {
    pub(crate) fn new(policies: Arc<RowPolicies>, request: Option<ScopeSeed>) -> Self {
        let rules = (0..policies.len()).map(|_| OnceLock::new()).collect();
        Self {
            policies,
            request,
            rules,
        }
    }

    fn at(&self, at: usize) -> Decided {
        match self.rules[at].get_or_init(|| self.decide(at)) {
            Ok(rule) => Ok(rule.clone()),
            Err(error) => Err(error.again()),
        }
    }

    fn decide(&self, at: usize) -> Decided {
        let denied = |why: String| {
            let message = format!("the rows of `{}` are not allowed", self.policies.name(at));
            Error::new(ErrorCode::Forbidden, message)
                .with_source(why)
                .denied(Denied::ByAuthorizer)
        };

        let Some(request) = &self.request else {
            return Err(denied("the request is not shared".to_owned()));
        };

        let decide = || self.policies.rule(at, &Context::new(&request.scope()));

        // A panic would leave the `OnceLock` empty, and the policy would run again for the next
        // read.
        match std::panic::catch_unwind(AssertUnwindSafe(decide)) {
            Ok(Ok(rule)) => Ok(rule.map(Arc::new)),
            Ok(Err(error)) if error.is_masked() => Err(denied(error.chain())),
            Ok(Err(error)) => Err(error.denied(Denied::ByAuthorizer)),
            Err(panic) => Err(denied(format!(
                "the row policy panicked: {}",
                svc_telemetry::panic::message(&*panic)
            ))),
        }
    }
}

impl RowRules for RequestRules {
    fn rule(&self, subject: Subject) -> Decided {
        self.policies
            .position(subject)
            .map_or(Ok(None), |at| self.at(at))
    }

    fn all(&self) -> Result<Vec<Option<Arc<RowRule>>>> {
        (0..self.rules.len()).map(|at| self.at(at)).collect()
    }

    fn mask(&self, row: TypeIndex, stored: &str) -> Option<Subject> {
        self.policies.mask(row, stored)
    }
}

impl fmt::Debug for RequestRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Conditions contain values of the request.
        f.debug_struct("RequestRules")
            .field("policies", &self.rules.len())
            .finish_non_exhaustive()
    }
}
