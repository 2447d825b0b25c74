//! Rate limits as an option.

use std::sync::{Mutex, PoisonError};

use super::AppOptions;
use crate::rate_limit::{self, RateLimiting};

impl AppOptions {
    /// Limits how often clients send requests, on all routes of the application. This adds no layer
    /// in front of `/graphql`, so it costs less than
    /// [`setup_rate_limiting`](crate::setup_rate_limiting), which is for routers with custom
    /// routes.
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

/// The operations with a rate limit that nothing enforces yet.
static LIMITED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records the operations with a rate limit, which applies only where rate limits are set up.
pub(in crate::app) fn note_rate_limits(options: &AppOptions) {
    if options.rate_limiting.is_some() || options.is_quiet {
        return;
    }

    let limited = options
        .operations
        .iter()
        .filter(|operation| operation.rules.rate_limit.is_some());
    let limited = limited.map(|operation| operation.path.to_owned());
    LIMITED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(limited);
}

/// Logs the operations with a rate limit that nothing enforces by now.
pub(in crate::app) fn warn_of_unlimited() {
    let limited = std::mem::take(&mut *LIMITED.lock().unwrap_or_else(PoisonError::into_inner));
    if !limited.is_empty() && !rate_limit::is_set_up() {
        let operations = limited.join(", ");
        tracing::warn!(
            operations,
            "these operations have rate limits that are not enforced; call \
             `AppOptions::rate_limiting` or `svc::setup_rate_limiting`"
        );
    }
}

/// Whether there are operations whose rate limits nothing enforces yet.
pub(in crate::app) fn has_unlimited() -> bool {
    !LIMITED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .is_empty()
}
