//! Guards: requirements on the user.

use crate::request::Context;
use svc_core::schema::Guard;
use svc_core::{Error, ErrorCode, Result};

/// Checks the guards; all of them must hold.
///
/// # Errors
/// `UNAUTHENTICATED` without a user, and `FORBIDDEN` if the user does not meet a requirement, which
/// the extensions name.
pub(super) fn check(guards: &[Guard], context: &Context<'_>, name: &str) -> Result<()> {
    guards
        .iter()
        .try_for_each(|guard| holds(*guard, context, name))
}

#[cfg(feature = "auth")]
fn holds(guard: Guard, context: &Context<'_>, name: &str) -> Result<()> {
    let user = context.require_user()?;
    let (holds, key, required): (bool, &str, serde_json::Value) = match guard {
        Guard::Auth => return Ok(()),
        Guard::Permission(name) => (
            user.has_permission(name),
            "required_permission",
            name.into(),
        ),
        Guard::Role(name) => (user.has_role(name), "required_role", name.into()),
        Guard::AnyPermission(names) => (
            user.has_any_permission(names),
            "required_permissions",
            names.into(),
        ),
        Guard::AnyRole(names) => (user.has_any_role(names), "required_roles", names.into()),
    };

    if holds {
        return Ok(());
    }

    Err(
        Error::new(ErrorCode::Forbidden, format!("`{name}` is not allowed"))
            .with_extension(key, required),
    )
}

/// Without users, no requirement can be met.
#[cfg(not(feature = "auth"))]
fn holds(guard: Guard, _: &Context<'_>, name: &str) -> Result<()> {
    let error = Error::new(ErrorCode::Unauthenticated, "authentication required");
    Err(error.with_source(format!(
        "`{name}`: {guard} There are no users without the feature `auth` of svc"
    )))
}
