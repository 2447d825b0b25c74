//! The settings of Redis. They are there in every build, so that one without the feature refuses to
//! start where Redis is asked for, and does not share less than it should.

use svc_core::settings::{Secret, settings};

settings! {
    /// The settings of Redis; the field `redis` of [`SvcConfig`](crate::SvcConfig).
    pub struct RedisConfig {
        /// The Redis for what the instances of a service share, as
        /// `redis://user:password@host:port/number`, or `rediss://…` for TLS. Revocations and
        /// persisted queries are kept there, and whatever the program puts on the same client.
        url: Option<String> = None, ["SVC_REDIS_URL"], Secret("a URL of Redis");
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
