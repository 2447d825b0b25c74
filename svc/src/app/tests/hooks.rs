//! The order of hook calls, and rejections by hooks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::Service as _;

use crate::prelude::*;
use svc_engine::graphql::{Answered, CompletedValue, Hook, PlanField};
use svc_engine::request::{Context, PreparedOperation, RequestParts};

/// A hook that records its calls, and rejects a request at the point named by the header
/// `x-refuse`.
struct Notes {
    name: &'static str,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Notes {
    fn note(&self, what: impl std::fmt::Display) {
        self.notes
            .lock()
            .unwrap()
            .push(format!("{} {what}", self.name));
    }
}

fn refused(request: &RequestParts, place: &str) -> Result<()> {
    match request.header("x-refuse") {
        Some(refused) if refused == place => {
            Err(Error::new(ErrorCode::RateLimited, "come back later"))
        }
        _ => Ok(()),
    }
}

impl Hook for Notes {
    fn before_parsing<'a>(&'a self, request: &'a RequestParts) -> BoxFuture<'a, Result<()>> {
        self.note("came");
        Box::pin(async move { refused(request, "parsing") })
    }

    fn after_preparing<'a>(
        &'a self,
        operation: PreparedOperation<'a>,
    ) -> BoxFuture<'a, Result<()>> {
        let PreparedOperation {
            kind,
            name,
            complexity,
            ..
        } = operation;
        self.note(format!("{kind:?} {:?} {complexity}", name()));
        Box::pin(async move { refused(operation.request, "running") })
    }

    fn around_field<'a>(
        &'a self,
        context: Context<'a>,
        field: &'a PlanField,
        run: BoxFuture<'a, CompletedValue>,
    ) -> BoxFuture<'a, CompletedValue> {
        Box::pin(async move {
            self.note(format!("{} begins by {:?}", field.key, context.transport()));
            let value = run.await;
            self.note(format!(
                "{} ends with {} errors",
                field.key,
                value.errors.len()
            ));
            value
        })
    }

    fn after_answering(
        &self,
        Answered {
            status,
            code,
            field_errors,
            elapsed,
        }: Answered<'_>,
    ) {
        assert!(elapsed < Duration::from_secs(60));
        let status = status.map(|status| status.as_u16());
        self.note(format!("answered {status:?} {code:?} {field_errors}"));
    }
}

#[svc::query]
fn fine() -> i32 {
    1
}

#[svc::query]
async fn never() -> i32 {
    std::future::pending().await
}

#[svc::query]
async fn broken() -> Result<Option<i32>> {
    panic!("as it does")
}

/// A service with two hooks, and their records.
async fn service() -> (Router, Arc<Mutex<Vec<String>>>) {
    let notes = Arc::default();
    let hook = |name| Notes {
        name,
        notes: Arc::clone(&notes),
    };

    let options = AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![fine, broken, never])
        .hook(hook("outer"))
        .hook(hook("inner"));

    (create_svc_app(options).await.unwrap(), notes)
}

async fn send(request: Request<Body>) -> (StatusCode, Value, Vec<String>) {
    let (mut router, notes) = service().await;
    let response = router.call(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let notes = notes.lock().unwrap().clone();
    (status, serde_json::from_slice(&body).unwrap(), notes)
}

fn post() -> axum::http::request::Builder {
    Request::post("/graphql").header("content-type", "application/json")
}

fn body(query: &str) -> Body {
    Body::from(json!({ "query": query }).to_string())
}

#[tokio::test]
async fn hooks_are_called_from_the_outside_in() {
    let query = "query Both { a: fine broken }";
    let (_, answer, notes) = send(post().body(body(query)).unwrap()).await;
    assert_eq!(answer["data"], json!({"a": 1, "broken": null}));
    let expected = [
        "outer came",
        "inner came",
        "outer Query Some(\"Both\") 2",
        "inner Query Some(\"Both\") 2",
        "outer a begins by HttpPost",
        "inner a begins by HttpPost",
        "inner a ends with 0 errors",
        "outer a ends with 0 errors",
        "outer broken begins by HttpPost",
        "inner broken begins by HttpPost",
        "inner broken ends with 1 errors",
        "outer broken ends with 1 errors",
        "inner answered Some(200) None 1",
        "outer answered Some(200) None 1",
    ];

    assert_eq!(notes, expected);
}

#[tokio::test]
async fn hooks_can_refuse_before_the_body_is_read() {
    let request = post()
        .header("x-refuse", "parsing")
        .body(Body::from("no JSON"))
        .unwrap();
    let (status, answer, notes) = send(request).await;
    assert_eq!(
        (status, &answer["errors"][0]["extensions"]["code"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("RATE_LIMITED"))
    );
    let end = "answered Some(429) Some(\"RATE_LIMITED\") 0";

    assert_eq!(
        notes,
        [
            "outer came",
            &format!("inner {end}"),
            &format!("outer {end}")
        ]
    );
}

#[tokio::test]
async fn hooks_can_refuse_before_a_field_runs() {
    let request = post()
        .header("x-refuse", "running")
        .body(body("{ fine }"))
        .unwrap();
    let (status, answer, notes) = send(request).await;
    assert_eq!(
        (status, answer.get("data")),
        (StatusCode::TOO_MANY_REQUESTS, None)
    );

    assert!(
        notes.iter().all(|note| !note.contains("begins")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn a_get_calls_the_same_hooks() {
    let request = Request::get("/graphql?query={fine}")
        .body(Body::empty())
        .unwrap();
    let (_, answer, notes) = send(request).await;
    assert_eq!(answer, json!({"data": {"fine": 1}}));
    assert_eq!(
        (notes[0].as_str(), notes.last().unwrap().as_str()),
        ("outer came", "outer answered Some(200) None 0")
    );

    assert!(
        notes.contains(&"inner fine begins by HttpGet".to_owned()),
        "{notes:?}"
    );
}

#[tokio::test]
async fn each_received_request_ends_once() {
    for (request, end) in [
        (post().body(Body::from("no JSON")), "400 BAD_REQUEST"),
        (post().body(Body::from("[]")), "400 BAD_REQUEST"),
        (
            post().body(Body::from("x".repeat(2_000_000))),
            "413 QUERY_TOO_LARGE",
        ),
        (
            post().header("accept", "image/png").body(body("{ fine }")),
            "406 BAD_REQUEST",
        ),
        (
            post()
                .header("content-encoding", "gzip")
                .body(body("{ fine }")),
            "415 BAD_REQUEST",
        ),
        (
            Request::post("/graphql").body(body("{ fine }")),
            "415 BAD_REQUEST",
        ),
        (post().body(body("{ fine")), "200 GRAPHQL_PARSE_FAILED"),
        (
            post().body(body("{ nothing }")),
            "200 GRAPHQL_VALIDATION_FAILED",
        ),
        (
            Request::get("/graphql?variables={}").body(Body::empty()),
            "400 BAD_REQUEST",
        ),
        (
            Request::get("/graphql?query={fine}")
                .header("accept", "image/png")
                .body(Body::empty()),
            "406 BAD_REQUEST",
        ),
    ] {
        let (_, _, notes) = send(request.unwrap()).await;
        let (status, code) = end.split_once(' ').unwrap();
        let end = format!("answered Some({status}) Some({code:?}) 0");
        assert_eq!(
            notes,
            [
                "outer came",
                "inner came",
                &format!("inner {end}"),
                &format!("outer {end}")
            ]
        );
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_ends_too() {
    let (mut router, notes) = service().await;
    let mut running = Box::pin(router.call(post().body(body("{ never }")).unwrap()));
    assert!(running.as_mut().now_or_never().is_none());
    assert!(
        notes
            .lock()
            .unwrap()
            .iter()
            .all(|note| !note.contains("answered"))
    );

    drop(running);
    let notes = notes.lock().unwrap();

    assert_eq!(
        notes[notes.len() - 2..],
        ["inner answered None None 0", "outer answered None None 0"]
    );
}
