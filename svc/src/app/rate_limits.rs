//! Rate limits as an option.

use super::AppOptions;
use crate::rate_limit::RateLimiting;
use crate::schema::RootFieldMeta;

impl AppOptions {
    /// Limits how often clients ask, on all routes of the application. As no layer stands in front of `/graphql` for it,
    /// that costs less than [`setup_rate_limiting`](crate::setup_rate_limiting), which is for routers with routes of
    /// one's own.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::rate_limit::{RateLimit, RateLimiting};
    ///
    /// let limiting = RateLimiting::new().budget(RateLimit::cost(10_000).per_minute());
    /// let options = AppOptions::new().rate_limiting(limiting);
    /// ```
    pub fn rate_limiting(mut self, limiting: RateLimiting) -> Self {
        self.rate_limiting = Some(limiting);
        self
    }
}

/// Tells which operations have a rate limit that the options put in no force: only a layer around the router could.
pub(super) fn note_rate_limits(operations: &[&'static RootFieldMeta], limiting: Option<&RateLimiting>) {
    if limiting.is_some() {
        return;
    }
    let limited = operations.iter().filter(|operation| operation.rules.rate_limit.is_some());
    let limited = limited.map(|operation| operation.path).collect::<Vec<_>>().join(", ");
    if !limited.is_empty() {
        tracing::info!(
            operations = limited,
            "these operations have rate limits, which hold only if the router is given to `setup_rate_limiting`; \
             `AppOptions::rate_limiting` is not called"
        );
    }
}
