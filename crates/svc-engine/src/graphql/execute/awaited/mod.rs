//! Queries and calls that resolvers await, instead of returning them: they run the engine.

mod aggregate;
mod call;
mod connection;
mod find;
#[cfg(feature = "sqlx")]
mod sqlx_transaction;
mod transaction;
