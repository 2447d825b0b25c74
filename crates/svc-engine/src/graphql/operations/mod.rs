//! Registered operations: documents that a program trusts, and cached SQL that answers them without
//! a resolver.
//!
//! A program registers an [`operation`]. [`folder`] reads operations from files, and [`manifest`]
//! from the lists of client tools. [`registered`] checks and prepares one, and [`registry`] stores
//! them. [`statement`] answers with SQL, and [`describe`] checks it when the database is reached.
//! [`profile`] counts the cost of an operation for the CLI.

mod describe;
mod error;
mod fields;
mod folder;
#[cfg(any(test, fuzzing, feature = "test-support"))]
mod fuzz_manifest;
mod manifest;
mod operation;
mod parameters;
mod profile;
mod registered;
mod registry;
mod statement;
mod store;

pub use error::OperationError;
pub use operation::Operation;
pub use registry::OperationRegistry;

pub use describe::describe_all;
pub use folder::read_folder;
#[cfg(any(test, fuzzing, feature = "test-support"))]
pub use fuzz_manifest::fuzz_manifest;
pub use manifest::read_manifests;
pub use profile::OperationProfile;
pub(super) use registered::{Registered, Sql};
pub(super) use statement::{Answered, OperationStatement};
