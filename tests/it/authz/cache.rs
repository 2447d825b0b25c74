//! Decisions are kept for those who ask the same, and for nobody else.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::authz::{AuthorizationCacheConfig, Authorizer, IntoAuthorizer};
use svc::prelude::*;
use svc_tests::App;
use tokio::sync::Notify;

/// A clock that stands still until it is set.
#[derive(Clone)]
struct Clock(Arc<Mutex<Instant>>);

impl Clock {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn advance(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

/// A policy that counts how often it is asked, and denies the principal `mallory`; `raise` makes it
/// fail.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl Counting {
    /// Returns the number of times that it was asked since the last look.
    fn taken(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl Authorizer for Counting {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match request.context().header("x-principal") {
            Some("mallory") => Ok(AuthorizationDecision::deny_with("NOT_YOU", "not you")),
            Some("raise") => Err(Error::internal("the policy is broken")),
            _ => Ok(AuthorizationDecision::allow()),
        }
    }
}

#[svc::query]
fn echo(text: Option<String>, list: Option<Vec<String>>) -> String {
    format!("{text:?} {list:?}")
}
#[svc::query]
fn other() -> i32 {
    7
}
#[svc::mutation(name = "other")]
fn change_other() -> i32 {
    8
}

fn options<Kind: 'static>(
    authorizer: impl IntoAuthorizer<Kind>,
    cache: AuthorizationCacheConfig,
) -> AppOptions {
    AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![echo, other])
        .mutations(mutations![change_other])
        .authorizer(authorizer)
        .authorization_cache(cache)
}

fn by_principal() -> AuthorizationCacheConfig {
    AuthorizationCacheConfig::new(|ctx| ctx.header("x-principal").map(str::to_owned))
}

async fn ask(app: &App, principal: Option<&str>, query: &str) -> Value {
    let mut request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    if let Some(principal) = principal {
        request = request.header("x-principal", principal);
    }
    app.send(request.body(json!({ "query": query }).to_string()))
        .await
        .json()
}

#[tokio::test]
async fn the_same_decision_is_requested_once() {
    let (policy, clock) = (Counting::default(), Clock::new());
    let at = clock.clone();
    let cache = by_principal()
        .ttl(Duration::from_secs(5))
        .clock(move || *at.0.lock().unwrap());
    let app = App::serve(options(policy.clone(), cache)).await;
    for (principal, query) in [
        ("ada", "{ other }"),
        ("bob", "{ other }"),
        ("mallory", "{ other }"),
        ("ada", "mutation { other }"),
        ("ada", r#"{ echo(text: "1") }"#),
        ("ada", r#"{ echo(text: "") }"#),
        ("ada", "{ echo(text: null) }"),
        ("ada", "{ echo }"),
        ("ada", r#"{ echo(list: ["a,b"]) }"#),
        ("ada", r#"{ echo(list: ["a", "b"]) }"#),
        ("ada", "{ echo(list: []) }"),
    ] {
        let first = ask(&app, Some(principal), query).await;
        assert_eq!(policy.taken(), 1, "{principal} {query}");
        for _ in 0..3 {
            assert_eq!(
                ask(&app, Some(principal), query).await,
                first,
                "a kept denial is the same"
            );
        }
        assert_eq!(policy.taken(), 0, "{principal} {query}");
    }
    clock.advance(Duration::from_millis(4_999));
    ask(&app, Some("ada"), "{ other }").await;
    assert_eq!(policy.taken(), 0);
    clock.advance(Duration::from_millis(1));
    ask(&app, Some("ada"), "{ other }").await;
    assert_eq!(policy.taken(), 1, "its time has ended");
}

#[tokio::test]
async fn anonymous_and_failed_decisions_are_not_cached() {
    let policy = Counting::default();
    let app = App::serve(options(policy.clone(), by_principal())).await;
    for principal in [None, Some("raise")] {
        for _ in 0..3 {
            ask(&app, principal, "{ other }").await;
            assert_eq!(policy.taken(), 1, "{principal:?}");
        }
    }
}

#[tokio::test]
async fn the_least_recently_used_decision_is_evicted() {
    let policy = Counting::default();
    let app = App::serve(options(policy.clone(), by_principal().max_entries(2))).await;
    for (principal, asked) in [("a", 1), ("b", 1), ("a", 0), ("c", 1), ("a", 0), ("b", 1)] {
        ask(&app, Some(principal), "{ other }").await;
        assert_eq!(policy.taken(), asked, "{principal}");
    }
    for cache in [
        by_principal().max_entries(0),
        by_principal().ttl(Duration::ZERO),
    ] {
        let app = App::serve(options(policy.clone(), cache)).await;
        for _ in 0..3 {
            ask(&app, Some("ada"), "{ other }").await;
            assert_eq!(policy.taken(), 1);
        }
    }
}

/// The first request calls the authorizer, which waits until all of them have come.
#[tokio::test]
async fn concurrent_requests_share_one_decision() {
    const ALL: usize = 16;
    let (came, asked, all_came) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(Notify::new()),
    );
    let (counter, notify) = (came.clone(), all_came.clone());
    let cache = AuthorizationCacheConfig::new(move |_| {
        if counter.fetch_add(1, Ordering::SeqCst) + 1 == ALL {
            notify.notify_one();
        }
        Some("everyone".to_owned())
    });
    let count = asked.clone();
    let policy = move |_: AuthorizationRequest| {
        let (count, all_came) = (count.clone(), all_came.clone());
        async move {
            if count.fetch_add(1, Ordering::SeqCst) == 0 {
                all_came.notified().await;
            }
            true
        }
    };
    let options = options(policy, cache).authorization_timeout(Duration::from_secs(60));
    let app = App::serve(options).await;
    let answers = join_all((0..ALL).map(|_| ask(&app, None, "{ other }"))).await;
    assert!(
        answers
            .iter()
            .all(|answer| *answer == json!({ "data": { "other": 7 } })),
        "{answers:?}"
    );
    assert_eq!(
        (came.load(Ordering::SeqCst), asked.load(Ordering::SeqCst)),
        (ALL, 1)
    );
}
