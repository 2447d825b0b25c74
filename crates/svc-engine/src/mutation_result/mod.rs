//! The responses of database functions: their words for success and failure, and the errors for
//! clients.
//!
//! [`status`] defines the words, [`response`] reads the response, [`failure`] and [`raised`] make
//! errors of it. The response is processed in `graphql/mutate/function/`.

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

pub use constraint::Constraints;
pub(crate) use database_error::{failed_call, failed_sql};
pub(crate) use failure::{Failure, is_failure};
pub(crate) use response::{Response, fails};
pub(crate) use status::Status;
pub(crate) use status_check::StatusCheck;

/// A value of an input object that distinguishes absent from null: absent keeps the old value, null
/// clears it.
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
