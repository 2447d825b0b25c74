//! The answers of functions of the database: their words of success and failure, and the errors that clients get.
//!
//! [`status`] knows the words, [`response`] reads the answer, [`failure`] and [`raised`] make errors of it. What becomes
//! of the answer is `engine/function/`.

pub(crate) mod automatic;
mod constraint;
mod database_error;
mod error;
mod failure;
mod raised;
mod response;
mod status;
mod status_check;

pub use constraint::Constraint;
pub use error::MutationError;

pub(crate) use constraint::Constraints;
pub(crate) use database_error::{failed_call, failed_sql};
pub(crate) use failure::Failure;
pub(crate) use response::{Response, fails};
pub(crate) use status::Status;
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
