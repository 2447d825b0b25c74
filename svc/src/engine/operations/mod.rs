//! Registered operations: documents that a program trusts, and cached SQL that answers them without a resolver.
//!
//! [`operation`] is what a program registers, [`folder`] reads them from files, [`registered`] checks and prepares one,
//! [`registry`] keeps them. [`statement`] answers with SQL, and [`describe`] checks it when the database is reached.

mod describe;
mod error;
mod fields;
mod folder;
mod operation;
mod parameters;
mod registered;
mod registry;
mod statement;
mod store;

pub use error::OperationError;
pub use operation::Operation;
pub use registry::OperationRegistry;

pub(crate) use describe::describe_all;
pub(crate) use folder::read_folder;
pub(super) use registered::{Registered, Sql};
pub(super) use statement::{Answered, OperationStatement};
