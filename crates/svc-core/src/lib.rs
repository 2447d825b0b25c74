//! The foundation of svc: the schema, scalars, JSON, errors and settings.
//!
//! All other internal crates use these types. This crate depends on none of them. Its only
//! connections are to Redis and to collectors of spans.
//!
//! This crate is an internal part of `svc`: it is published because `svc` needs it, and changes
//! without notice. Programs depend on `svc`, which re-exports the public items.
//!
//! | Module | Contents |
//! |---|---|
//! | `schema` | types and root fields from the macros, the checked `Model`, and its SDL |
//! | `scalar` | scalars, their canonical forms, and values for SQL |
//! | `exact_json` | JSON whose numbers keep all their digits |
//! | `error` | `Error` and its codes, the meaning of SQLSTATEs, and the `errorId` |
//! | `settings` | the macro `settings!`: struct, variables and page of the book from one table |
//! | `trace` | spans for OpenTelemetry, or a stub without the feature `tracing-otel` |
//! | `redis_client`, `tls_client` | the shared connection to Redis, and TLS to other services |
//! | `request_id` | the identifier of a request |
//! | `feature_traits` | compiler messages that name a missing feature |
//! | `beats` | a coarse clock for deadlines |
//! | `task` | a waker that remembers its wake-up, and boxed futures for branches that would make the future of each request larger |
//! | `log_throttle` | repeated log lines, written once per period |
//! | `value_bytes` | values as unambiguous bytes, for keys |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "tests"))]
#![cfg_attr(
    not(all(
        feature = "auth",
        feature = "idp",
        feature = "patterns",
        feature = "redis",
        feature = "scalars",
        feature = "sessions",
        feature = "sqlx",
        feature = "tls",
        feature = "tracing-otel",
        feature = "upload",
        feature = "websocket",
    )),
    allow(
        unreachable_pub,
        reason = "items that svc uses only with some features are public"
    )
)]
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
pub mod exact_json;
pub mod feature_traits;
pub mod log_throttle;
#[cfg(feature = "redis")]
pub mod redis_client;
pub mod request_id;
pub mod scalar;
pub mod schema;
pub mod settings;
pub mod task;
#[cfg(any(
    feature = "idp",
    feature = "tracing-otel",
    all(feature = "redis", feature = "tls")
))]
pub mod tls_client;
pub mod trace;
pub mod value_bytes;

pub use error::{Error, ErrorCode, Result};
#[cfg(feature = "redis")]
pub use redis_client::RedisClient;
pub use request_id::RequestId;
pub use schema::{Many, OnFailure, One, RelationKey};
pub use settings::ConfigError;
pub use trace::TracingConfig;
