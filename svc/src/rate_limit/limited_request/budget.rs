//! The amounts that the operations of a request take from the budget, and give back.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{LimitedRequest, Noted};
use crate::rate_limit::client::KnownClient;
use crate::rate_limit::limit::Found;
use crate::rate_limit::response::headers;
use crate::rate_limit::store::{Amount, Standings};
use svc_engine::request::{PreparedOperation, Spent};

/// The amount of the budget that an operation was admitted with.
pub(super) struct FromBudget {
    client: KnownClient,
    found: Found,
    asked: u64,
    /// Whether the response reports it.
    is_told: bool,
}

impl LimitedRequest {
    /// Records the amount that an operation has taken from the budget, as a part of it may be given
    /// back.
    pub(super) fn note_budget(
        &self,
        noted: &mut Noted,
        limits: &[Amount<'_>],
        standings: &Standings,
        client: &KnownClient,
        operation: &PreparedOperation<'_>,
    ) {
        let Some(budget) = &self.limiter.operations.budget else {
            return;
        };

        let Some(at) = limits
            .iter()
            .position(|(limit, _)| Arc::ptr_eq(limit, budget))
        else {
            return;
        };

        let found = Found {
            limit: budget.clone(),
            standing: standings[at],
        };

        let is_told = operation.request.headers.contains_key(headers::TELL_COST);
        let client = client.clone();

        noted.budget.push(FromBudget {
            client,
            found,
            asked: operation.complexity,
            is_told,
        });
    }

    /// Gives back the part of the budget that an operation has not used, and returns the extension
    /// for the response, if requested.
    pub(in crate::rate_limit) fn give_back(
        &self,
        Spent { asked, used }: Spent,
    ) -> Option<(&'static str, Value)> {
        let taken = {
            let noted = &mut self.state().noted;

            // Operations of a request with the same complexity have taken the same, so any of them
            // will do.
            let at = noted.budget.iter().position(|taken| taken.asked == asked)?;
            noted.budget.swap_remove(at)
        };

        let (unused, standing) = (asked - used, taken.found.standing);
        if unused > 0 {
            self.limiter
                .give_back(taken.found.limit.clone(), taken.client, unused, standing);
        }

        let count = taken.found.limit.count;
        let reset =
            i64::try_from(self.limiter.now().saturating_add(standing.reset)).unwrap_or(i64::MAX);
        let reset = chrono::DateTime::from_timestamp_millis(reset)?;

        taken.is_told.then(|| {
            let remaining = standing.remaining.saturating_add(unused).min(count);
            let reset_at = reset.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
            ("rateLimit", json!({ "limit": count, "remaining": remaining, "resetAt": reset_at, "cost": used }))
        })
    }
}
