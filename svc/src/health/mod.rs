//! Health checks: of the service, and of the application's own dependencies.
//!
//! A [`HealthCheck`] contains named checks. A program runs them with [`HealthCheck::run_checks`],
//! and so does `/ready`, if the program has passed them to
//! [`AppOptions::health_check`](crate::AppOptions::health_check).
//!
//! ```no_run
//! use svc::health::{HealthCheck, check_database, check_pool_stats};
//! use svc::prelude::*;
//!
//! # #[svc::query]
//! # fn hello() -> &'static str { "world" }
//! # async fn mail_server_answers() -> Result<()> { Ok(()) }
//! # async fn f() -> svc::Result<()> {
//! let health = HealthCheck::new()
//!     .add_check("database", check_database)
//!     .add_check("pool", check_pool_stats)
//!     .add_check("mail", |_| mail_server_answers());
//! let app = create_svc_app(AppOptions::from_env()?.queries(queries![hello]).health_check(&health)).await?;
//! println!("{}", svc::serde_json::to_string(&health.run_checks().await)?);
//! # drop(app);
//! # Ok(()) }
//! ```

mod built_in;
mod check;
mod report;

#[cfg(feature = "sqlx")]
pub use built_in::check_query_stats;
pub use built_in::{check_database, check_pool_stats};
pub use check::{HealthCheck, HealthContext};
pub use report::{CheckReport, HealthReport, HealthStatus};
