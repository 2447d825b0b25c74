//! Whatever decides about a request decides about each that gets a kept answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use serde_json::json;
use svc::authz::Authorizer;
use svc::prelude::*;
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc::{Limits, create_svc_app, setup_rate_limiting};
use svc_tests::Reply;

use super::service::{ask, database, options, serve, serve_router, uncached_options};

const ALLOW: u8 = 0;
const DENY: u8 = 1;
const FILTER: u8 = 2;

/// A policy that says what a test wants, and counts how often it is asked about posts.
#[derive(Clone, Default)]
struct Policy {
    says: Arc<AtomicU8>,
    asked: Arc<AtomicUsize>,
}

impl Authorizer for Policy {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        if !["posts", "own"].contains(&request.operation_name()) {
            return Ok(AuthorizationDecision::allow());
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(match self.says.load(Ordering::SeqCst) {
            DENY => AuthorizationDecision::deny(),
            FILTER => AuthorizationDecision::allow_filtered([("owner", "bob")]),
            _ => AuthorizationDecision::allow(),
        })
    }
}

async fn anybody(_: AuthorizationRequest) -> bool {
    true
}

/// Decided about by its own authorizer alone where nothing is kept.
#[svc::query(cache = 60, authorizer = anybody)]
fn own() -> i32 {
    1
}

#[svc::query(cache = 60)]
#[svc::requires_role("editor")]
fn guarded() -> i32 {
    1
}

#[tokio::test]
async fn the_gate_decides_about_each_request() {
    let database = database().await;
    let policy = Policy::default();
    let app = serve(options(&database).authorizer(policy.clone())).await;
    let document = "{ posts { title } }";
    let all = json!({ "posts": [{ "title": "one" }, { "title": "two" }] });
    assert_eq!(app.query(document).await.data(), all);
    let before = database.statements("v_kept_post").await;
    let asked = policy.asked.load(Ordering::SeqCst);
    assert_eq!(app.query(document).await.data(), all);
    assert_eq!(policy.asked.load(Ordering::SeqCst), asked + 1);
    assert_eq!(
        database.statements("v_kept_post").await,
        before,
        "it is kept"
    );
    policy.says.store(DENY, Ordering::SeqCst);
    assert_eq!(app.query(document).await.code(), "FORBIDDEN");
    policy.says.store(FILTER, Ordering::SeqCst);
    for _ in 0..2 {
        assert_eq!(
            app.query(document).await.data(),
            json!({ "posts": [{ "title": "two" }] })
        );
    }
    policy.says.store(ALLOW, Ordering::SeqCst);
    assert_eq!(
        app.query(document).await.data(),
        all,
        "what was filtered is not kept"
    );
}

#[tokio::test]
async fn a_field_with_its_own_authorizer_is_decided_by_it_alone() {
    let database = database().await;
    let policy = Policy::default();
    let app = serve(
        options(&database)
            .queries(queries![own])
            .authorizer(policy.clone()),
    )
    .await;
    assert_eq!(app.query("{ own }").await.data(), json!({ "own": 1 }));
    policy.says.store(DENY, Ordering::SeqCst);
    assert_eq!(app.query("{ own }").await.data(), json!({ "own": 1 }));
}

#[tokio::test]
async fn guards_hold_for_cached_responses() {
    let database = database().await;
    let app = serve(options(&database).queries(queries![guarded])).await;
    for _ in 0..2 {
        assert_eq!(
            ask(&app, "{ guarded }", &[("x-user", "ada;editor")])
                .await
                .data(),
            json!({ "guarded": 1 })
        );
        assert_eq!(
            ask(&app, "{ guarded }", &[("x-user", "ada")]).await.code(),
            "FORBIDDEN"
        );
        assert_eq!(
            ask(&app, "{ guarded }", &[]).await.code(),
            "UNAUTHENTICATED"
        );
    }
}

#[tokio::test]
async fn rate_limits_count_cached_responses() {
    let database = database().await;
    let app = create_svc_app(options(&database)).await.unwrap();
    let wide = RateLimit::requests(1_000_000);
    let limiting = RateLimiting::new()
        .rules([RateLimitRule::new("*", wide)])
        .default_limit(wide)
        .tiers(wide, wide, wide)
        .kinds(RateLimit::requests(40).per_hour(), wide, wide);
    let app = serve_router(setup_rate_limiting(app, limiting).unwrap()).await;
    let mut last: Option<Reply> = None;
    for _ in 0..41 {
        last = Some(app.query("{ tick }").await);
    }
    assert_eq!(last.unwrap().code(), "RATE_LIMITED");
}

#[tokio::test]
async fn limits_and_registered_documents_hold_for_cached_responses() {
    let database = database().await;
    let app = serve(options(&database)).await;
    app.query("{ posts { title author { name } } }")
        .await
        .data();
    let limits = Limits {
        depth: 2,
        ..Limits::default()
    };
    let strict = serve(options(&database).limits(limits)).await;
    assert_eq!(
        strict
            .query("{ posts { title author { name } } }")
            .await
            .code(),
        "QUERY_TOO_DEEP"
    );
    let registered = svc::Operation::new("{ tick }");
    let ready = svc::Operation::new(r#"{ tick(text: "ready") }"#);
    let closed = serve(
        uncached_options(&database)
            .registered_only(true)
            .operations([registered, ready])
            .response_cache(svc::ResponseCache::new()),
    )
    .await;
    assert_eq!(
        closed.query("{ tick }").await.data(),
        closed.query("{ tick }").await.data()
    );
    assert_eq!(closed.query("{ brief }").await.code(), "FORBIDDEN");
}
