//! Black-box tests of svc.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod aggregates;
mod browser;
mod database_away;
mod differential;
mod driver;
mod edge_cases;
mod embedding;
mod equivalence;
mod filters;
mod firm_ground;
mod graphql_over_http;
mod hostile;
mod hostile_values;
mod indexes;
mod log;
mod macros;
mod mutations;
mod operations;
mod pages;
mod persisted;
mod planned;
mod projection;
mod relations;
mod repository;
mod resolved;
mod rust_endpoint;
mod scalars;
mod schema_errors;
mod seams;
mod statements;
mod tenancy;
mod ties;
mod transactions;
