//! The driver of planned reads: a pool of our own over `tokio-postgres`.
//!
//! - A statement has its connection to itself. Another one sent behind it would have to wait for it, could be hit by
//!   its cancellation, and would see its session variables. Statements are sent back to back, without waiting for the
//!   answer before, only where one request needs several.
//! - A request reads and writes the socket in its own task. A task for each connection, as `tokio-postgres` proposes,
//!   costs two switches of tasks a statement.
//! - No ping: a connection that has died is noticed by the statement that meets it, and the statement is run again.

mod abandon;
mod config;
mod connection;
mod error;
mod pool;
#[cfg(test)]
mod tests;
mod tls;
#[cfg(all(test, unix))]
mod tls_tests;
mod variable;
mod wire;

pub(super) use connection::Raw;
pub(crate) use error::DriverError;
pub(super) use pool::Driver;
