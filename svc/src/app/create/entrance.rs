//! The parts of an application in front of its operations.

use std::sync::Arc;

use crate::app::setup::protection;
use crate::app::{AppOptions, StartError};
use crate::http::Protection;
use crate::rate_limit::{self, RateLimitLayer};
use svc_telemetry::security_log::{Clients, init_security_logger};

/// The checks that requests pass before their operations are read.
pub(super) struct Entrance {
    pub(super) clients: Clients,
    pub(super) protection: Arc<Protection>,
    pub(super) rate_limits: Option<RateLimitLayer>,
}

impl Entrance {
    /// Takes the rate limits from the options, and builds the rest from the settings. Sets up the
    /// security log.
    ///
    /// # Errors
    /// The setting that cannot be used, also if this build is without its feature.
    pub(super) fn take(options: &mut AppOptions) -> Result<Self, StartError> {
        #[cfg(not(feature = "redis"))]
        options.config.redis.refuse()?;

        // Created here, so that a wrong URL fails the start and not the first use.
        #[cfg(feature = "redis")]
        options.redis_client()?;
        init_security_logger(options.config.security_log.clone());
        let clients = options.config.rate_limit.clients();
        let protection = protection(&options.config, &clients)?;
        let rate_limits = options
            .rate_limiting
            .take()
            .map(rate_limit::layer)
            .transpose()?
            .flatten();

        #[cfg(not(feature = "upload"))]
        crate::app::setup::uploads::refuse(&options.config.uploads)?;

        Ok(Self {
            clients,
            protection,
            rate_limits,
        })
    }
}
