//! Tests of a program: a [`Client`] that needs no network and a [`Database`] for each test
//! (`#[svc::test]`), the access matrix, subscriptions ([`TestService`]), and checking the schema
//! against the database ([`check_views`]).
//!
//! [`authz_matrix`] sends each case as each principal on every transport, and compares the
//! responses. Its report shows the access of each principal, names the transports that disagree,
//! and lists the operations and fields without a guard. A snapshot of it in a program's tests shows
//! every change of its policy.
//!
//! ```no_run
//! use svc::prelude::*;
//! use svc::testing::{Case, authz_matrix};
//!
//! #[svc::query]
//! fn hello() -> &'static str {
//!     "world"
//! }
//!
//! # async fn example() -> svc::Result<()> {
//! let options = AppOptions::from_env()?
//!     .queries(queries![hello])
//!     .authorizer(async |request: AuthorizationRequest| request.context().header("x-user").is_some());
//! let report = authz_matrix(options)
//!     .principal("nobody", &[])
//!     .principal("ada", &[("x-user", "ada")])
//!     .case(Case::new("Query.hello", "{ hello }"))
//!     .run()
//!     .await?;
//! assert_eq!(report.problems(), [""; 0]);
//! println!("{}", report.to_markdown());
//! # Ok(())
//! # }
//! ```

mod answer;
mod call;
mod case;
mod client;
mod coverage;
mod database;
mod matrix;
mod report;
mod request;
mod run;
mod service;
#[cfg(feature = "websocket")]
mod socket;
mod stream;
mod verdict;
mod way;

pub use answer::Answer;
pub use case::Case;
pub use client::Client;
pub use coverage::{Coverage, Covered};
pub use database::{Database, Setup};
pub use matrix::{AuthzMatrix, authz_matrix};
pub use report::MatrixReport;
pub use request::Request;
#[doc(hidden)]
pub use run::{TestCase, TestOutcome, run_test};
pub use service::{Subscribed, Subscription, TestService};
pub use verdict::Verdict;

pub use crate::app::check_views;
#[doc(inline)]
pub use svc_engine::graphql::{Finding, Severity};
