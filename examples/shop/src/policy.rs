//! The users, and the rules about what they may do.
//!
//! PostgreSQL keeps the shops apart, and their customers (`db/policies.sql`): it is told who asks
//! by session variables. Guards at the functions say which roles may call them, and the mask here
//! what clerks do not see.

use svc::db::SessionVariables;
use svc::prelude::*;

use crate::customer::Customer;

/// The roles of those who work for a shop.
const STAFF: [&str; 2] = ["clerk", "manager"];

/// Adds the policy.
pub fn with_policy(options: AppOptions) -> AppOptions {
    options
        .session_variables(variables())
        .mask_where::<Customer>("email", addresses)
}

/// The values that PostgreSQL is told of each request. A user's shop is that of the token. A
/// guest's is that of the header, which the gateway in front sets by the host name, after it has
/// dropped the client's own.
fn variables() -> SessionVariables {
    SessionVariables::new()
        .with("app.tenant_id", shop_of_guest)
        .claim("app.tenant_id", "tenant")
        .user_id("app.user_id")
        .with("app.staff", |ctx| is_staff(ctx).then(|| "yes".to_owned()))
}

/// The shop of the header. PostgreSQL reads it as a UUID, so that anything else would fail each
/// statement.
fn shop_of_guest(ctx: &Context<'_>) -> Option<String> {
    let id: Uuid = ctx.header("x-tenant-id")?.parse().ok()?;
    Some(id.to_string())
}

fn is_staff(ctx: &Context<'_>) -> bool {
    ctx.user().is_some_and(|user| user.has_any_role(STAFF))
}

/// An address is for the customer, and for managers.
fn addresses(ctx: &Context<'_>) -> Result<RowDecision> {
    Ok(match ctx.user() {
        Some(user) if user.has_role("manager") => RowDecision::allow(),
        Some(user) => RowDecision::allow_where(col("id").eq(user.user_id.as_str())),
        None => RowDecision::deny(),
    })
}
