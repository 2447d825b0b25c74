//! The users of requests with access tokens, for rate limits around the routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

use super::token::{Access, Verification};
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
    if takes_token(&request, &path) {
        let verified = Access::of(request.headers(), &provider).await;
        if let Ok(access) = &verified {
            request.extensions_mut().insert(access.0.user());
        }

        // The handler gets the result, so that it does not look up the revocation again.
        request.extensions_mut().insert(Verification(verified));
    }

    next.run(request).await
}

fn takes_token(request: &Request, path: &str) -> bool {
    let matched = request.extensions().get::<MatchedPath>();
    matched
        .and_then(|matched| matched.as_str().strip_prefix(path))
        .is_some_and(|route| WITH_TOKEN.contains(&route))
}
