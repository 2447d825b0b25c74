//! A service with sessions, and a browser that keeps a cookie.

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use svc::create_svc_app;
use svc::prelude::*;
use svc::sessions::{SessionConfig, SessionLayer};
use svc_tests::{App, Reply};

pub(super) const SECRET: &str = "a secret of cookies, of more than 32 bytes";

#[svc::query]
fn value(ctx: &Context<'_>) -> Result<Option<String>> {
    Ok(ctx.session()?.get("value")?)
}

#[svc::query]
fn open() -> bool {
    true
}

#[svc::mutation(atomic)]
fn set(ctx: &Context<'_>, value: String) -> Result<bool> {
    ctx.session()?.insert("value", &value)?;
    Ok(true)
}

#[svc::mutation]
fn remove(ctx: &Context<'_>) -> Result<bool> {
    Ok(ctx.session()?.remove("value")?)
}

#[svc::mutation(atomic)]
fn renew(ctx: &Context<'_>) -> Result<bool> {
    ctx.session()?.renew()?;
    Ok(true)
}

#[svc::mutation]
fn clear(ctx: &Context<'_>) -> Result<bool> {
    ctx.session()?.clear()?;
    Ok(true)
}

pub(super) fn options() -> AppOptions {
    let options = AppOptions::new().database_url("postgres://nobody@127.0.0.1:1/nothing");
    options
        .queries(queries![value, open])
        .mutations(mutations![set, remove, renew, clear])
}

pub(super) async fn serve(layer: SessionLayer) -> App {
    svc_tests::capture_log();
    App::serve_router(create_svc_app(options()).await.unwrap().layer(layer)).await
}

pub(super) fn config() -> SessionConfig {
    svc_tests::secret(SECRET);
    SessionConfig::new(SECRET)
}

/// A browser, which sends the last cookie that it got.
#[derive(Default, Clone)]
pub(super) struct Browser {
    pub(super) cookie: Option<String>,
    /// The whole header that set it last.
    pub(super) header: Option<String>,
}

impl Browser {
    pub(super) async fn send(&mut self, app: &App, query: &str) -> Reply {
        let body = json!({ "query": query }).to_string();
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .body(body);
        self.send_request(app, request).await
    }

    /// Sends a request with the cookie.
    pub(super) async fn send_request(&mut self, app: &App, mut request: RequestBuilder) -> Reply {
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("theme=dark; {cookie}; x=y"));
        }
        let reply = app.send(request).await;
        if let Some(header) = reply.headers.get("set-cookie") {
            let header = header.to_str().unwrap().to_owned();
            self.cookie = if header.contains("Max-Age=0") {
                None
            } else {
                header.split(';').next().map(str::to_owned)
            };
            self.header = Some(header);
        }
        reply
    }

    pub(super) async fn set(&mut self, app: &App, value: &str) {
        self.send(app, &format!("mutation {{ set(value: \"{value}\") }}"))
            .await
            .data();
    }

    pub(super) async fn value(&mut self, app: &App) -> Value {
        self.send(app, "{ value }").await.data()["value"].clone()
    }
}
