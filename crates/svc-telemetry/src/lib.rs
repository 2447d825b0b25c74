//! Observability for svc: metrics, logs, statistics and tracked errors.
//!
//! A process has one collector of each kind, and the other crates call it directly. No request
//! waits for a collector or a file. Spans are in `svc_core::trace`.
//!
//! This crate is an internal part of `svc`: it is published because `svc` needs it, and changes
//! without notice. Programs depend on `svc`, which re-exports the public items.
//!
//! | Module | Contents |
//! |---|---|
//! | `metrics` | series for Prometheus, or a stub without the feature `metrics` |
//! | `request_log` | a line per request, and warnings about slow operations |
//! | `security_log` | logins, denied requests and exceeded limits, as lines of JSON |
//! | `error_tracker` | masked errors, grouped and stored in PostgreSQL |
//! | `query_stats` | statistics of `pg_stat_statements` with the root fields of statements |
//! | `panic` | reports of panics to the log, the security log and the error tracker |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests"))]
#![cfg_attr(
    not(all(
        feature = "logging",
        feature = "metrics",
        feature = "sqlx",
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

pub mod error_tracker;
pub mod metrics;
pub mod panic;
pub mod query_stats;
pub mod request_log;
pub mod security_log;

#[cfg(feature = "sqlx")]
pub use error_tracker::{get_error_tracker, init_error_tracker};
pub use metrics::{MetricsConfig, get_metrics};
pub use request_log::{LogConfig, LogFormat};
pub use security_log::{SecurityLogConfig, get_security_logger, init_security_logger};
