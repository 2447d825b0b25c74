//! The crate from outside, with the PostgreSQL of this machine.

#![allow(clippy::unwrap_used, reason = "tests")]

mod death;
mod errors;
mod initdb_cache;
mod lifecycle;
mod program;
mod root;
mod stale;
mod start_times;
mod support;
