//! Bounds checked while a plan is built, so that a plan that exceeds them is rejected before it
//! takes memory.

use crate::graphql::error::RequestError;
use crate::limits::{LimitMode, Limits};
use svc_core::ErrorCode;

/// The maximum size of one plan in bytes; only a hostile document gets near it.
const MAX_WEIGHT: usize = 8 << 20;
/// The maximum number of selections visited for one plan.
const MAX_SELECTIONS: usize = 200_000;

/// The counts for the plan built so far.
#[derive(Debug, Default)]
pub(in crate::graphql::plan) struct Bounds {
    weight: usize,
    selections: usize,
    /// The minimum cost of the fields: 1 each, without multiplying by page sizes.
    pub(in crate::graphql::plan) cost: u64,
}

impl Bounds {
    pub(in crate::graphql::plan) fn weight(&self) -> usize {
        self.weight
    }

    /// Counts bytes.
    pub(in crate::graphql::plan) fn weigh(&mut self, bytes: usize) -> Result<(), RequestError> {
        self.weight += bytes;
        if self.weight <= MAX_WEIGHT {
            return Ok(());
        }

        let most = MAX_WEIGHT >> 20;
        let message = format!(
            "the plan of the operation would take more than {most} MiB; ask for fewer fields"
        );

        Err(RequestError::new(ErrorCode::QueryTooComplex, message))
    }

    /// Counts selections.
    pub(in crate::graphql::plan) fn look_at(
        &mut self,
        selections: usize,
    ) -> Result<(), RequestError> {
        self.selections += selections;
        if self.selections <= MAX_SELECTIONS {
            return Ok(());
        }
        let message = "the operation repeats too many fields and fragments; ask for each once";
        Err(RequestError::new(ErrorCode::QueryTooComplex, message))
    }

    /// Counts a field.
    pub(in crate::graphql::plan) fn charge(&mut self, limits: &Limits) -> Result<(), RequestError> {
        self.cost += 1;
        // If limits are not enforced, the full cost is counted later.
        let is_over = self.cost > limits.complexity && limits.mode == LimitMode::Enforce;
        if is_over {
            Err(limits.too_complex(self.cost))
        } else {
            Ok(())
        }
    }
}
