//! Those who ask, as a layer in front of the service says by a header.

use serde_json::{Value, json};
use svc::axum::extract::Request;
use svc::axum::middleware::{Next, from_fn};
use svc::axum::response::Response;
use svc::prelude::*;
use svc_tests::App;

/// The user of a header: `name;roles;permissions`, lists apart by commas.
async fn identify(mut request: Request, next: Next) -> Response {
    let header = request
        .headers()
        .get("x-user")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    if let Some(header) = header {
        let mut parts = header.split(';');
        let mut next = || {
            parts
                .next()
                .unwrap_or_default()
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
        };
        let name = next().next().unwrap_or_default();
        let (roles, permissions): (Vec<_>, Vec<_>) = (next().collect(), next().collect());
        request
            .extensions_mut()
            .insert(UserContext::new(name).roles(roles).permissions(permissions));
    }
    next.run(request).await
}

/// Serves an application that takes the word of `x-user`.
pub(super) async fn serve(options: AppOptions) -> App {
    App::serve_router(
        create_svc_app(options)
            .await
            .expect("the application")
            .layer(from_fn(identify)),
    )
    .await
}

/// The answer to a document that a user sends; nobody where `user` is empty.
pub(super) async fn ask_as(
    app: &App,
    path: &str,
    user: &str,
    query: &str,
    variables: &Value,
) -> Value {
    let mut request = app
        .request("POST", path)
        .header("content-type", "application/json");
    if !user.is_empty() {
        request = request.header("x-user", user);
    }
    app.send(request.body(json!({ "query": query, "variables": variables }).to_string()))
        .await
        .json()
}
