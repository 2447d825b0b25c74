//! The limits of operations: by kind, by complexity and by root field.

use std::sync::Arc;
use std::time::Duration;

use crate::rate_limit::limit::NamedLimit;
use crate::rate_limit::limit::rule::MESSAGE;
use crate::rate_limit::store::Amounts;
use crate::rate_limit::{RateLimit, RateLimitConfig};
use svc_core::schema::OperationKind;
use svc_engine::request::{FieldLimit, PreparedOperation};

/// The limits of operations.
#[derive(Debug)]
pub(in crate::rate_limit) struct OperationLimits {
    pub(in crate::rate_limit) kinds: [Arc<NamedLimit>; 3],
    pub(in crate::rate_limit) tiers: [Arc<NamedLimit>; 3],
    pub(in crate::rate_limit) thresholds: [u64; 2],
    pub(in crate::rate_limit) budget: Option<Arc<NamedLimit>>,
}

/// Creates three named limits.
pub(super) fn named(
    names: [&str; 3],
    limits: [RateLimit; 3],
    named: impl Fn(String, RateLimit, &str) -> Arc<NamedLimit>,
) -> [Arc<NamedLimit>; 3] {
    std::array::from_fn(|index| named(names[index].to_owned(), limits[index], MESSAGE))
}

impl OperationLimits {
    /// Returns the limits of an operation's kind and tier, and the budget, with the amount to take
    /// from each.
    pub(in crate::rate_limit) fn of(&self, operation: &PreparedOperation<'_>) -> Amounts<'_> {
        let kind = match operation.kind {
            OperationKind::Query => 0,
            OperationKind::Mutation => 1,
            OperationKind::Subscription => 2,
        };

        let [medium, high] = self.thresholds;
        let tier =
            usize::from(operation.complexity >= medium) + usize::from(operation.complexity >= high);
        let mut limits = Amounts::new();

        limits.push((&self.kinds[kind], 1));
        limits.push((&self.tiers[tier], 1));
        if let Some(budget) = &self.budget {
            limits.push((budget, operation.complexity));
        }

        limits
    }
}

/// Returns the limits of an operation's root fields, and how often each field is selected.
pub(in crate::rate_limit) fn of_root_fields(
    config: &RateLimitConfig,
    operation: &PreparedOperation<'_>,
) -> Vec<(Arc<NamedLimit>, u64)> {
    let limits = operation.limits.iter().map(
        |FieldLimit {
             coordinate,
             limit,
             times,
         }| {
            let limit = RateLimit::requests(limit.count).per(Duration::from_secs(limit.window));
            (
                NamedLimit::new((*coordinate).to_owned(), limit, MESSAGE, config),
                *times,
            )
        },
    );
    limits.collect()
}
