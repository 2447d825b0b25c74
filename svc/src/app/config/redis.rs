//! The settings of Redis. They exist in every build, so that a build without the feature refuses to
//! start if Redis is configured, and does not share less than it should.

use svc_core::settings::{Secret, settings};

settings! {
    /// The settings of Redis; the field `redis` of [`SvcConfig`](crate::SvcConfig).
    pub struct RedisConfig {
        /// URL of the Redis for data that the instances of a service share, as
        /// `redis://user:password@host:port/number`, or `rediss://…` for TLS. It stores
        /// revocations, persisted queries, and the data of the program's objects that use the same
        /// client.
        url: Option<String> = None, ["SVC_REDIS_URL"], Secret("a Redis URL");
    }
}

/// The variable, as errors name it.
pub(in crate::app) const URL: &str = "SVC_REDIS_URL";

impl RedisConfig {
    /// Refuses a URL in a build that cannot use it.
    #[cfg(not(feature = "redis"))]
    pub(in crate::app) fn refuse(&self) -> Result<(), svc_core::ConfigError> {
        let allowed =
            "it must be unset, as this build is without Redis; switch on the feature `redis`";
        self.url.as_ref().map_or(Ok(()), |_| {
            Err(svc_core::ConfigError::new(URL, "***", allowed))
        })
    }
}
