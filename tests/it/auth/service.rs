//! A service that says who asks.

use reqwest::RequestBuilder;
use serde_json::Value;
use svc::auth::SignedTokenProvider;
use svc::prelude::*;
use svc_tests::{App, Reply};

use super::token::SECRET;

#[svc::query]
pub(super) fn open() -> bool {
    true
}

#[svc::query]
pub(super) fn user_id(ctx: &Context<'_>) -> Option<String> {
    ctx.user().map(|user| user.user_id.clone())
}

/// The user as JSON.
#[svc::query]
pub(super) fn me(ctx: &Context<'_>) -> Result<Value> {
    Ok(svc::serde_json::to_value(ctx.require_user()?)?)
}

/// Options without a database.
pub(crate) fn options() -> AppOptions {
    options_with(SvcConfig::default())
}

/// The same with settings.
pub(super) fn options_with(config: SvcConfig) -> AppOptions {
    AppOptions::new()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![open, user_id, me])
}

/// The custom provider with the secret of the tests.
pub(crate) fn provider() -> SignedTokenProvider {
    svc_tests::secret(String::from_utf8_lossy(SECRET));
    SignedTokenProvider::with_secret(SECRET).unwrap()
}

/// A service of the custom provider.
pub(super) async fn serve() -> App {
    App::serve(options().auth_provider(provider())).await
}

/// A POST with a document.
pub(crate) fn posting(app: &App, query: &str) -> RequestBuilder {
    let body = svc::serde_json::json!({ "query": query }).to_string();
    app.request("POST", "/graphql")
        .header("content-type", "application/json")
        .body(body)
}

/// The answer to a document that is sent with a token.
pub(crate) async fn query(app: &App, token: &str, query: &str) -> Reply {
    app.send(posting(app, query).bearer_auth(token)).await
}
