//! Black-box tests of svc, by subject.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod accounts;
mod auth;
mod authz;
mod book;
mod database;
mod differential;
mod documents;
mod errors;
mod explain;
mod filters;
mod http;
mod limits;
mod macros;
mod metrics;
mod mutations;
mod operations;
mod protection;
mod rate_limits;
mod reads;
mod requests;
mod response_cache;
mod schema;
mod security_log;
mod sessions;
mod settings;
mod sockets;
mod subscriptions;
mod testing;
mod traces;
mod uploads;
mod values;
