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

/// Tells which operations have a rate limit, as that counts only where rate limits are set up.
pub(super) fn note_rate_limits(operations: &[&'static RootFieldMeta]) {
    let limited = operations.iter().filter(|operation| operation.rules.rate_limit.is_some());
    let limited = limited.map(|operation| operation.path).collect::<Vec<_>>().join(", ");
    if !limited.is_empty() {
        tracing::info!(
            operations = limited,
            "these operations have rate limits, which `AppOptions::rate_limiting` and `setup_rate_limiting` put in force"
        );
    }
}
