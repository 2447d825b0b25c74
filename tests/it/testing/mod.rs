//! Tools for tests of programs: a client, and a database for each test.

mod client;
mod database;
mod role;
