//! The real binary.

#![expect(clippy::expect_used, reason = "tests")]

mod database;
mod dev;
mod frame;
mod init;
mod migrate;
mod sql;
mod support;
mod templates;
