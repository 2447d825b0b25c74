//! Registered operations, and SQL that answers them.

mod cached_pages;
mod mutation;
mod names;
mod only;
mod persisted;
mod registry;
mod rust_endpoint;
mod schema;
mod shared_persisted;
mod sql;
mod start;
mod trusted;
mod variables;
