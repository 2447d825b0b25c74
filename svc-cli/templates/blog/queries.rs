//! Queries. A query without a body is one SQL statement over the view of its type.

use svc::prelude::*;

use crate::types::{Comment, Post, User};

/// Users.
#[svc::query]
pub async fn users() -> Vec<User>;

/// One user.
#[svc::query]
pub async fn user(id: Uuid) -> Option<User>;

/// Posts, page by page.
#[svc::query]
pub async fn posts() -> Connection<Post>;

/// One post.
#[svc::query]
pub async fn post(id: Uuid) -> Option<Post>;

/// Comments.
#[svc::query]
pub async fn comments() -> Vec<Comment>;

/// Adds the queries to the service.
pub fn add(options: AppOptions) -> AppOptions {
    options.queries(queries![users, user, posts, post, comments])
}
