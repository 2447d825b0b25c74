//! Registered operations, and SQL that answers them.

mod mutation;
mod names;
mod only;
mod registry;
mod schema;
mod sql;
mod start;
mod variables;
