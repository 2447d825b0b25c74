//! Black-box tests of svc.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod browser;
mod database_away;
mod differential;
mod embedding;
mod graphql_over_http;
mod hostile;
mod macros;
mod mutations;
mod planned;
mod resolved;
mod scalars;
mod schema_errors;
mod statements;
