//! The settings of the response cache.

use svc_core::settings::{Count, Flag, Whether, settings};

settings! {
    /// The settings of the response cache; the field `response_cache` of `SvcConfig`.
    pub struct ResponseCacheConfig {
        /// Caches the responses of queries that declare a time, such as `#[svc::query(cache =
        /// 30)]`.
        enabled: Option<bool> = None, ["SVC_RESPONSE_CACHE"], Whether("true if the program has a `ResponseCache`");
        /// Maximum size of the cached responses and their keys, in MiB.
        size: u64 = 64, ["SVC_RESPONSE_CACHE_SIZE"], Count(1..=1_048_576, "MiB");
        /// Shares cached responses between instances in Redis, which then contains all data that
        /// users may read.
        redis: bool = false, ["SVC_RESPONSE_CACHE_REDIS"], Flag;
        /// Allows browsers and other caches to reuse public responses without revalidation until
        /// they expire. The service cannot revoke such a response.
        max_age: bool = false, ["SVC_RESPONSE_CACHE_MAX_AGE"], Flag;
    }
}
