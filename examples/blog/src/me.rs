//! The user who asks.

use svc::prelude::*;

/// The user who asks, as the token says.
#[svc_type]
pub struct Me {
    user_id: ID,
    email: Option<String>,
    name: Option<String>,
    roles: Vec<String>,
    permissions: Vec<String>,
}

/// The user who asks; an error for nobody.
#[svc::query]
pub fn me(ctx: &Context<'_>) -> Result<Me> {
    let user = ctx.require_user()?.clone();
    Ok(Me {
        user_id: user.user_id.into(),
        email: user.email,
        name: user.name,
        roles: user.roles,
        permissions: user.permissions,
    })
}
