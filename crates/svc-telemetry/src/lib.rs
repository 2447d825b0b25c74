//! Observability for svc: metrics, logs and tracked errors.
//!
//! No request waits for a collector or a file.
//!
//! This crate is internal: it is published because `svc` needs it, and it changes without notice.
//! Programs depend on `svc`, which re-exports the public part.
//!
//! | Contents | Module |
//! |---|---|
//! | Series for Prometheus | `metrics` |
//! | The request log and slow operations | `request_log` |
//! | The security log | `security_log` |
//! | Grouped errors in PostgreSQL | `error_tracker` |
//! | Statistics of queries, as `pg_stat_statements` has them | `query_stats` |
//! | Reports of panics | `panic` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests"))]
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
