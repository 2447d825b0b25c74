//! Dry-run rules: they are evaluated, and the denials they would cause are logged.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::authorizer::Decisions;
use super::{AuthorizationDecision, AuthorizationRequest, DynAuthorizer};
use svc_core::Result;

/// A dry-run rule, with its name in the log.
pub struct TriedRule {
    pub name: String,
    pub rule: Box<dyn DynAuthorizer>,
}

/// An authorizer with additional rules that are evaluated without effect.
pub struct TryingAuthorizer {
    /// The authorizer that decides; without one, everything is allowed.
    enforced: Option<Box<dyn DynAuthorizer>>,
    tried: Arc<[TriedRule]>,
    /// The timeout for a rule.
    limit: Duration,
}

impl TryingAuthorizer {
    pub fn new(
        enforced: Option<Box<dyn DynAuthorizer>>,
        tried: Vec<TriedRule>,
        limit: Duration,
    ) -> Self {
        Self {
            enforced,
            tried: tried.into(),
            limit,
        }
    }

    async fn ask(&self, request: AuthorizationRequest) -> Result<AuthorizationDecision> {
        let tried = request.copy();
        let decision = match &self.enforced {
            Some(enforced) => enforced.decide(request).await?,
            None => AuthorizationDecision::allow(),
        };
        self.log(tried, &decision);
        Ok(decision)
    }

    async fn ask_batch(&self, requests: Vec<AuthorizationRequest>) -> Decisions {
        let tried: Vec<_> = requests.iter().map(AuthorizationRequest::copy).collect();
        let decisions = self.enforced.as_ref()?.decide_batch(requests).await?;
        for (request, decision) in tried.into_iter().zip(&decisions) {
            if let Ok(decision) = decision {
                self.log(request, decision);
            }
        }
        Some(decisions)
    }

    /// Evaluates the rules and logs the denials they would cause. Operations that are denied anyway
    /// are skipped, as they reveal nothing about the rules. Requests do not wait, as the rules have
    /// no effect on them.
    fn log(&self, request: Option<AuthorizationRequest>, decision: &AuthorizationDecision) {
        let Some(request) = request.filter(|_| decision.allowed()) else {
            return;
        };

        let (rules, limit) = (self.tried.clone(), self.limit);
        tokio::spawn(async move {
            for rule in rules.iter() {
                rule.log(&request, limit).await;
            }
        });
    }
}

impl TriedRule {
    /// Evaluates the rule, and logs the denial it would cause.
    async fn log(&self, request: &AuthorizationRequest, limit: Duration) {
        let (rule, kind, operation) = (
            self.name.as_str(),
            request.operation_type(),
            request.operation_name(),
        );

        let Some(request) = request.copy() else {
            return;
        };

        // The panic of one rule must not keep the others from being tried.
        let decide = AssertUnwindSafe(async { self.rule.decide(request).await });
        let why = match tokio::time::timeout(limit, decide.catch_unwind()).await {
            // A filter would hide rows of this request, so it is reported like a denial.
            Ok(Ok(Ok(decision))) if decision.is_filtered() => "it filters rows".to_owned(),
            Ok(Ok(Ok(decision))) => match decision.code() {
                None => return,
                Some(code) => code.to_owned(),
            },
            Ok(Ok(Err(error))) => error.chain(),
            Ok(Err(panic)) => format!("it panicked: {}", svc_telemetry::panic::message(&*panic)),
            Err(_) => format!("it took longer than {limit:?}"),
        };

        tracing::warn!(rule, %kind, operation, why, "a dry-run rule would not allow this operation");
    }
}

impl DynAuthorizer for TryingAuthorizer {
    fn decide(
        &self,
        request: AuthorizationRequest,
    ) -> BoxFuture<'_, Result<AuthorizationDecision>> {
        self.ask(request).boxed()
    }

    fn decide_batch(&self, requests: Vec<AuthorizationRequest>) -> BoxFuture<'_, Decisions> {
        self.ask_batch(requests).boxed()
    }
}
