//! The users of requests with access tokens, for rate limits around the routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

use super::token::access_of;
use crate::accounts::NativeAuthProvider;

/// The routes that take an access token and set no password, without the path in front of them. The
/// password of `DELETE /me` belongs to the token's own account.
const WITH_TOKEN: [&str; 5] = [
    "/me",
    "/logout",
    "/logout-all",
    "/sessions",
    "/sessions/{id}",
];

/// Adds the users of valid access tokens to the requests of a router that has the routes under a
/// path. Attempts to log in or to set a password stay without a user: a client with many accounts
/// would have as many attempts.
pub fn identify_users(router: Router, provider: &NativeAuthProvider, path: &str) -> Router {
    let state = (provider.clone(), Arc::<str>::from(path));
    router.layer(from_fn_with_state(state, add_user))
}

async fn add_user(
    State((provider, path)): State<(NativeAuthProvider, Arc<str>)>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = if takes_token(&request, &path) {
        access_of(request.headers(), &provider).await
    } else {
        None
    };

    // The handler gets the token as well, so that it does not look up the revocation again.
    if let Some(access) = access {
        request.extensions_mut().insert(access.0.user());
        request.extensions_mut().insert(access);
    }

    next.run(request).await
}

fn takes_token(request: &Request, path: &str) -> bool {
    let matched = request.extensions().get::<MatchedPath>();
    matched
        .and_then(|matched| matched.as_str().strip_prefix(path))
        .is_some_and(|route| WITH_TOKEN.contains(&route))
}
