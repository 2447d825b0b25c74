//! The real binary.

#![expect(clippy::expect_used, reason = "tests")]

mod bundled;
mod changes;
mod check;
mod database;
mod dev;
mod doctor;
mod explain;
mod features;
mod frame;
mod help;
mod hints;
mod init;
mod killed;
mod migrate;
mod odd;
mod operations;
mod order;
mod pending;
mod release;
mod schema;
mod sql;
mod support;
mod tables;
mod templates;
mod unified;
