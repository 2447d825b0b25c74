//! The settings of the response cache.

use svc_core::settings::{Count, Flag, Whether, settings};

settings! {
    /// The settings of the response cache; the field `response_cache` of `SvcConfig`.
    pub struct ResponseCacheConfig {
        /// Whether answers are kept of queries that say for how long, as
        /// `#[svc::query(cache = 30)]` does.
        enabled: Option<bool> = None, ["SVC_RESPONSE_CACHE"], Whether("true where the program has a `ResponseCache`");
        /// The MiB that kept answers may take, with their keys.
        size: u64 = 64, ["SVC_RESPONSE_CACHE_SIZE"], Count(1..=1_048_576, "MiB");
        /// Whether instances share kept answers in Redis. It then holds whatever users may read.
        redis: bool = false, ["SVC_RESPONSE_CACHE_REDIS"], Flag;
        /// Whether browsers and other caches may answer with public answers for the rest of their
        /// time without asking the service, which cannot call them back then.
        max_age: bool = false, ["SVC_RESPONSE_CACHE_MAX_AGE"], Flag;
    }
}
