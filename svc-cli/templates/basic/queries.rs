//! Queries. A query without a body is one SQL statement over the view of its type.

use svc::prelude::*;

use crate::types::User;

/// Users.
#[svc::query]
pub async fn users() -> Vec<User>;

/// One user.
#[svc::query]
pub async fn user(id: Uuid) -> Option<User>;

/// Adds the queries to the service.
pub fn add(options: AppOptions) -> AppOptions {
    options.queries(queries![users, user])
}
