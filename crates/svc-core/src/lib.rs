//! The foundation of svc: schema, scalars, JSON, errors and settings.
//!
//! It has no I/O except for clients of Redis and TLS, and knows neither HTTP nor SQL.
//!
//! This crate is internal: it is published because `svc` needs it, and it changes without notice.
//! Programs depend on `svc`, which re-exports the public part.
//!
//! | Contents | Module |
//! |---|---|
//! | Registered types and functions, the checked `Model`, SDL | `schema` |
//! | Scalars and SQL values | `scalar` |
//! | Exact numbers, reading and writing JSON | `json` |
//! | Errors, their codes, places and identifiers | `error` |
//! | Settings: one table for fields, variables and the book | `settings` |
//! | Spans | `trace` |
//! | The shared Redis connection, and TLS for clients | `redis_client`, `tls_client` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![allow(
    missing_docs,
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::should_implement_trait,
    rustdoc::private_intra_doc_links,
    reason = "internal: the part that svc re-exports is documented"
)]

#[doc(hidden)]
pub mod __private;
pub mod beats;
pub mod error;
pub mod feature_traits;
pub mod json;
pub mod log_throttle;
#[cfg(feature = "redis")]
pub mod redis_client;
pub mod request_id;
pub mod scalar;
pub mod schema;
pub mod settings;
#[cfg(any(
    feature = "idp",
    feature = "tracing-otel",
    all(feature = "redis", feature = "tls")
))]
pub mod tls_client;
pub mod trace;
pub mod value_bytes;
pub mod wake_flag;

pub use error::{Error, ErrorCode, Result};
#[cfg(feature = "redis")]
pub use redis_client::RedisClient;
pub use request_id::RequestId;
pub use schema::{Many, OnFailure, One, RelationKey};
pub use settings::ConfigError;
pub use trace::TracingConfig;
