//! What svc gives to tests of programs: a client, and a database for each test.

mod client;
mod database;
mod role;
