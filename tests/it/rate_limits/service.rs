//! A service whose requests are limited, and its clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::auth::UserContext;
use svc::axum::extract::Request;
use svc::axum::middleware::{Next, from_fn};
use svc::axum::routing::get;
use svc::futures_util::{StreamExt as _, stream};
use svc::prelude::*;
use svc::rate_limit::{RateLimit, RateLimitConfig, RateLimitRule, RateLimiting};
use svc::{create_svc_app, setup_rate_limiting};
use svc_tests::{App, Reply};
use tokio::sync::Semaphore;

/// A clock that stands until it is set.
#[derive(Clone)]
pub(super) struct Clock(Arc<AtomicU64>);

impl Clock {
    /// In the middle of a minute, an hour and a day.
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(
            (1_000_000 * 86_400 + 12 * 3_600 + 30 * 60 + 30) * 1_000,
        )))
    }

    pub(super) fn advance(&self, time: Duration) {
        self.0
            .fetch_add(time.as_millis().try_into().unwrap(), Ordering::Relaxed);
    }

    /// To so many milliseconds before the next minute begins.
    pub(super) fn before_the_minute(&self, milliseconds: u64) {
        let now = self.0.load(Ordering::Relaxed);
        self.0.store(
            (now / 60_000 + 1) * 60_000 - milliseconds,
            Ordering::Relaxed,
        );
    }

    pub(super) fn set_in(&self, limiting: RateLimiting) -> RateLimiting {
        let clock = self.clone();
        limiting.clock(move || Duration::from_millis(clock.0.load(Ordering::Relaxed)))
    }
}

#[svc_type]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) size: i32,
}

#[svc_type]
impl Item {
    fn weight(&self) -> Result<Option<i32>> {
        Err(Error::new(ErrorCode::NotFound, "no scales"))
    }
}

#[svc::query]
fn hello() -> &'static str {
    "world"
}

/// Three items, however many are asked for.
#[svc::query]
fn items(limit: Option<i32>) -> Vec<Item> {
    let _ = limit;
    ["a", "b", "c"]
        .map(|name| Item {
            name: name.to_owned(),
            size: 1,
        })
        .into()
}

#[svc::query]
fn broken() -> Result<Option<i32>> {
    Err(Error::new(ErrorCode::NotFound, "there is none"))
}

#[svc::query]
async fn never(limit: Option<i32>) -> Vec<Item> {
    let _ = limit;
    std::future::pending().await
}

#[svc::mutation]
fn ping() -> bool {
    true
}

#[svc::mutation(rate_limit = "2/min")]
fn invite() -> bool {
    true
}

#[svc_result(query)]
pub(super) enum AskResult {
    Success,
    Error,
}

/// Clients read on in its result.
#[svc::mutation]
fn inquire() -> AskResult {
    AskResultSuccess::new("ok").into()
}

#[svc::query(rate_limit = "3/h")]
fn report() -> bool {
    true
}

/// A beat for each permit.
#[svc::subscription]
fn beats(ctx: &Context<'_>) -> Result<impl Stream<Item = bool>> {
    let beats = ctx.data::<Beats>()?.0.clone();
    Ok(stream::unfold(beats, async |beats| {
        beats.acquire().await.ok()?.forget();
        Some((true, beats))
    }))
}

/// One beat.
#[svc::subscription(rate_limit = "2/min")]
fn beat() -> impl Stream<Item = bool> {
    stream::once(async { true }).boxed()
}

/// The beats that may still come.
#[derive(Clone)]
pub(super) struct Beats(pub(super) Arc<Semaphore>);

impl Beats {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

pub(super) fn options() -> AppOptions {
    AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![hello, items, broken, never, report])
        .mutations(mutations![ping, invite, inquire])
        .subscriptions(subscriptions![beats, beat])
}

/// The same, with batches of up to ten requests.
pub(super) fn with_batches() -> AppOptions {
    let mut config = SvcConfig::default();
    config.protection.batch_max = 10;
    options()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
}

/// The user that a header names, as a layer of a program would say it.
async fn user(mut request: Request, next: Next) -> svc::axum::response::Response {
    let name = request
        .headers()
        .get("x-user")
        .and_then(|name| name.to_str().ok())
        .map(UserContext::new);
    if let Some(user) = name {
        request.extensions_mut().insert(user);
    }
    next.run(request).await
}

/// Options with the clock, and with limits that nothing reaches but what a test sets.
pub(super) fn wide(clock: &Clock) -> RateLimiting {
    let wide = RateLimit::requests(1_000_000);
    let rule = RateLimitRule::new("*", wide);
    clock
        .set_in(RateLimiting::new())
        .rules([rule])
        .default_limit(wide)
        .kinds(wide, wide, wide)
        .tiers(wide, wide, wide)
}

/// The same with a limit for GraphQL.
pub(super) fn limited(clock: &Clock, limit: RateLimit) -> RateLimiting {
    wide(clock).rules([RateLimitRule::new("/graphql/*", limit)])
}

pub(super) fn config(text: &[(&str, &str)]) -> RateLimitConfig {
    let get = |name: &str| {
        text.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    SvcConfig::from_variables(get).unwrap().rate_limit
}

pub(super) async fn serve(limiting: RateLimiting) -> App {
    serve_options(options(), limiting).await
}

pub(super) async fn serve_options(options: AppOptions, limiting: RateLimiting) -> App {
    let routes = create_svc_app(options).await.unwrap();
    let routes = [
        "/auth/login",
        "/api/things",
        "/other",
        "/metrics",
        "/any/{*rest}",
    ]
    .into_iter()
    .fold(routes, |routes, path| {
        routes.route(path, get(async || "here").post(async || "here"))
    });
    App::serve_router(
        setup_rate_limiting(routes, limiting)
            .unwrap()
            .layer(from_fn(user)),
    )
    .await
}

/// Sends a document as a client: an address in `X-Forwarded-For`, or a user.
pub(super) async fn ask(app: &App, client: &str, document: &str) -> Reply {
    post(app, "/graphql", client, &json!({ "query": document })).await
}

pub(super) async fn post(app: &App, path: &str, client: &str, body: &Value) -> Reply {
    let name = if client.parse::<std::net::IpAddr>().is_ok() {
        "x-forwarded-for"
    } else {
        "x-user"
    };
    let request = app
        .request("POST", path)
        .header(name, client)
        .header("content-type", "application/json");
    app.send(request.body(body.to_string())).await
}

/// The number of requests that pass, of many that are sent at once.
pub(super) async fn passing(
    requests: impl IntoIterator<Item = impl Future<Output = Reply>>,
) -> usize {
    let replies = join_all(requests).await;
    assert!(
        replies
            .iter()
            .all(|reply| matches!(reply.status, 200 | 429)),
        "{replies:?}"
    );
    replies.iter().filter(|reply| reply.status == 200).count()
}

/// The number that pass of so many requests with a document, by 64 clients at once.
pub(super) async fn flood(app: &App, client: &str, document: &str, count: usize) -> usize {
    let mut passed = 0;
    for begin in (0..count).step_by(64) {
        passed += passing((begin..count.min(begin + 64)).map(|_| ask(app, client, document))).await;
    }
    passed
}
