//! What functions of the database answer, and what a mutation makes of it.
//!
//! [`status`] knows the words, [`response`] reads the answer, [`outcome`] decides, [`entity`] finds what was written,
//! [`document`] writes the JSON that the engine completes like any stored JSON.

pub(crate) mod automatic;
mod constraint;
mod context;
mod document;
mod effect;
mod entity;
mod error;
mod failure;
mod outcome;
mod raised;
mod response;
mod status;
mod status_check;

pub use constraint::Constraint;
pub use error::MutationError;

pub(crate) use constraint::Constraints;
pub(crate) use context::ContextValues;
pub(crate) use effect::{Effect, Ledger};
pub(crate) use failure::failed_call;
pub(crate) use outcome::{Settled, Target, Unread, settle};
pub(crate) use response::fails;
pub(crate) use status_check::StatusCheck;

/// A value of an input object that tells absent from null: absent leaves, null clears.
///
/// ```
/// use svc::Patch;
/// use svc::prelude::*;
///
/// #[svc_input]
/// struct UserPatch {
///     name: Patch<String>,
///     bio: Patch<String>,
/// }
///
/// fn describe(patch: &UserPatch) -> &'static str {
///     match patch.bio {
///         Patch::Undefined => "leaves the bio",
///         Patch::Null => "clears the bio",
///         Patch::Value(_) => "sets the bio",
///     }
/// }
/// # assert_eq!(describe(&UserPatch { name: Patch::Undefined, bio: Patch::Null }), "clears the bio");
/// ```
pub type Patch<T> = async_graphql::MaybeUndefined<T>;
