//! Black-box tests of svc, by subject.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod accounts;
mod auth;
mod authz;
mod database;
mod differential;
mod documents;
mod filters;
mod http;
mod limits;
mod macros;
mod mutations;
mod operations;
mod reads;
mod requests;
mod schema;
mod sessions;
mod values;
