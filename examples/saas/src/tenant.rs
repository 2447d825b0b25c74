//! The client of a request: the account of the token, and its workspace and role, which the
//! database knows.

use std::time::Duration;

use svc::AuthenticatedUser;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::serde_json::Value;

/// The time for which a membership is kept. Zero asks with each request: a new workspace is there
/// at once.
const KEPT: Duration = Duration::ZERO;

/// Adds what PostgreSQL is told of each request.
pub fn with_tenants(options: AppOptions) -> AppOptions {
    let variables = SessionVariables::new()
        .user_id("app.user_id")
        .claim("app.tenant_id", "tenant")
        .with("app.role", |ctx| ctx.user()?.roles.first().cloned());
    options
        .session_variables(variables)
        .load_user(KEPT, membership)
}

/// The user with the workspace and the role of their account. The roles of the token are of no
/// account here: an API key has none, and those of `svc_auth.account` would hold in every
/// workspace.
async fn membership(user: AuthenticatedUser) -> Result<Option<UserContext>> {
    let found: Option<Value> = user.db().call("app.membership", []).await?;
    let text = |key: &str| found.as_ref()?.get(key)?.as_str().map(str::to_owned);
    let (tenant, role) = (text("tenant"), text("role"));
    let user = user.into_user().roles(role);
    Ok(Some(match tenant {
        Some(tenant) => user.metadata("tenant", tenant),
        None => user,
    }))
}
