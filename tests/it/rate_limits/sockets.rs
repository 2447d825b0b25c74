//! Operations on sockets: each counts for itself, as if it had come by `POST`.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc::rate_limit::{RateLimit, RateLimiting};
use svc_tests::{App, Socket};

use super::service::{Beats, Clock, ask, config, limited, options, serve_options, wide};

const CLIENT: &str = "192.0.2.1";
const OURS: (&str, &str) = ("sec-websocket-protocol", "graphql-transport-ws");

async fn serve(limiting: RateLimiting) -> App {
    serve_options(options().data(Beats::new()), limiting).await
}

/// Opens a socket as a client: an address, or a user.
async fn open(app: &App, client: &str) -> Result<Socket, u16> {
    let name = if client.parse::<std::net::IpAddr>().is_ok() {
        "x-forwarded-for"
    } else {
        "x-user"
    };
    let mut socket = Socket::upgrade(app, &[OURS, (name, client)]).await?;
    socket.send(&json!({ "type": "connection_init" })).await;
    assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
    Ok(socket)
}

/// Runs an operation that has one answer; the code of its refusal, or "data".
async fn run(socket: &mut Socket, payload: &Value) -> String {
    socket
        .send(&json!({ "id": "run", "type": "subscribe", "payload": payload }))
        .await;
    let message = socket.next().await;
    match message["type"].as_str() {
        Some("next") => {
            assert_eq!(
                socket.next().await,
                json!({ "id": "run", "type": "complete" })
            );
            "data".to_owned()
        }
        Some("error") => message["payload"][0]["extensions"]["code"]
            .as_str()
            .expect("a code")
            .to_owned(),
        _ => panic!("{message}"),
    }
}

async fn run_document(socket: &mut Socket, document: &str) -> String {
    run(socket, &json!({ "query": document })).await
}

#[tokio::test]
async fn operations_and_the_opening_of_a_socket_are_counted() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(4))).await;
    let mut socket = open(&app, CLIENT).await.unwrap();
    for _ in 0..3 {
        assert_eq!(run_document(&mut socket, "{ hello }").await, "data");
    }
    assert_eq!(run_document(&mut socket, "{ hello }").await, "RATE_LIMITED");
    // Neither another way to ask nor another socket is free.
    assert_eq!(ask(&app, CLIENT, "{ hello }").await.status, 429);
    assert_eq!(open(&app, CLIENT).await.err(), Some(429));
    let mut other = open(&app, "192.0.2.2").await.unwrap();
    assert_eq!(run_document(&mut other, "{ hello }").await, "data");
    clock.advance(Duration::from_secs(120));
    assert_eq!(run_document(&mut socket, "{ hello }").await, "data");
}

/// The refusal of one operation says what any other answer says, and leaves the others of its
/// socket alone.
#[tokio::test]
async fn a_refusal_is_the_error_of_its_operation() {
    let clock = Clock::new();
    let beats = Beats::new();
    let limiting = limited(&clock, RateLimit::requests(3));
    let app = serve_options(options().data(beats.clone()), limiting).await;
    let mut socket = open(&app, CLIENT).await.unwrap();
    socket.subscribe("beats", "subscription { beats }").await;
    beats.0.add_permits(1);
    assert_eq!(socket.next().await["id"], "beats");
    assert_eq!(run_document(&mut socket, "{ hello }").await, "data");
    socket.subscribe("refused", "{ hello }").await;
    let refused = socket.next().await;
    assert_eq!(
        (&refused["id"], &refused["type"]),
        (&json!("refused"), &json!("error")),
        "{refused}"
    );
    let error = &refused["payload"][0];
    assert_eq!(error["message"], "too many requests; try again later");
    let retry_after = error["extensions"]["retryAfter"].as_u64().unwrap();
    let expected =
        json!({ "code": "RATE_LIMITED", "retryAfter": retry_after, "limit": 3, "window": 60 });
    assert_eq!(error["extensions"], expected);
    beats.0.add_permits(1);
    let beat = json!({ "id": "beats", "type": "next", "payload": { "data": { "beats": true } } });
    assert_eq!(socket.next().await, beat);
    clock.advance(Duration::from_secs(retry_after));
    assert_eq!(run_document(&mut socket, "{ hello }").await, "data");
}

#[tokio::test]
async fn subscriptions_count_on_all_sockets_of_a_client() {
    let clock = Clock::new();
    let many = RateLimit::requests(1_000);
    let app = serve(wide(&clock).kinds(many, many, RateLimit::requests(3))).await;
    let mut sockets = [
        open(&app, CLIENT).await.unwrap(),
        open(&app, CLIENT).await.unwrap(),
    ];
    // Those that have been completed are counted all the same.
    for id in 0..3 {
        let socket = &mut sockets[id % 2];
        socket
            .subscribe(&id.to_string(), "subscription { beats }")
            .await;
        socket
            .send(&json!({ "id": id.to_string(), "type": "complete" }))
            .await;
        assert_eq!(run_document(socket, "{ hello }").await, "data");
    }
    for socket in &mut sockets {
        assert_eq!(
            run_document(socket, "subscription { beats }").await,
            "RATE_LIMITED"
        );
        assert_eq!(run_document(socket, "{ hello }").await, "data");
    }
}

/// The limit of a root field holds for subscriptions too: `beat` 2 in a minute.
#[tokio::test]
async fn root_fields_of_subscriptions_have_limits_of_their_own() {
    let clock = Clock::new();
    let app = serve(wide(&clock)).await;
    let mut socket = open(&app, CLIENT).await.unwrap();
    let document = "subscription { alias: beat }";
    for expected in ["data", "data", "RATE_LIMITED"] {
        assert_eq!(run_document(&mut socket, document).await, expected);
    }
    assert_eq!(
        run_document(&mut socket, "mutation { a: invite b: invite c: invite }").await,
        "RATE_LIMITED"
    );
}

/// The operation that runs counts, however it is named.
#[tokio::test]
async fn names_hashes_and_ids_count_as_their_documents() {
    let clock = Clock::new();
    let many = RateLimit::requests(1_000);
    let limiting = wide(&clock).kinds(many, RateLimit::requests(4), many);
    let options = options()
        .data(Beats::new())
        .operations([svc::Operation::new("mutation Ping { ping }")]);
    let app = serve_options(options, limiting).await;
    let mut socket = open(&app, CLIENT).await.unwrap();
    let hash = hex::encode(Sha256::digest("mutation{ping}"));
    let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    let both = "query Q { hello } mutation M { ping }";
    let mutations = [
        json!({ "query": both, "operationName": "M" }),
        json!({ "query": "mutation{ping}", "extensions": persisted }),
        json!({ "extensions": persisted }),
        json!({ "documentId": "Ping" }),
    ];
    for payload in &mutations {
        assert_eq!(run(&mut socket, payload).await, "data", "{payload}");
    }
    for payload in &mutations {
        assert_eq!(run(&mut socket, payload).await, "RATE_LIMITED", "{payload}");
    }
    assert_eq!(
        run(&mut socket, &json!({ "query": both, "operationName": "Q" })).await,
        "data"
    );
}

/// Guessing is not free.
#[tokio::test]
async fn documents_that_cannot_run_count_for_the_path() {
    let clock = Clock::new();
    let app = serve(limited(&clock, RateLimit::requests(5))).await;
    let mut socket = open(&app, CLIENT).await.unwrap();
    let documents = [
        "{",
        "{ nothing }",
        "subscription { beats beat }",
        "{ items(limit: \"x\") { name } }",
    ];
    for document in documents {
        assert_ne!(
            run_document(&mut socket, document).await,
            "RATE_LIMITED",
            "{document}"
        );
    }
    assert_eq!(run_document(&mut socket, "{ hello }").await, "RATE_LIMITED");
}

#[tokio::test]
async fn a_budget_is_taken_and_refunded_on_sockets() {
    let clock = Clock::new();
    let app = serve(wide(&clock).budget(RateLimit::cost(2_010).per_minute())).await;
    let mut socket = open(&app, CLIENT).await.unwrap();
    // It asks for 2,001 and uses 7.
    let large = "{ items(limit: 1000) { name size } }";
    assert_eq!(
        [
            run_document(&mut socket, large).await,
            run_document(&mut socket, large).await
        ],
        ["data", "data"]
    );
    assert_eq!(run_document(&mut socket, large).await, "RATE_LIMITED");
    assert_eq!(
        run_document(&mut socket, "{ items(limit: 3) { name size } }").await,
        "data"
    );
}

/// A user counts as one wherever the socket was opened, and lists hold for operations.
#[tokio::test]
async fn users_and_lists_count_on_sockets() {
    let clock = Clock::new();
    let lists = [
        ("SVC_RATE_LIMIT_BLACKLIST", "user:mallory"),
        ("SVC_RATE_LIMIT_WHITELIST", "user:root"),
    ];
    let app = serve(limited(&clock, RateLimit::requests(3)).config(config(&lists))).await;
    let mut socket = open(&app, "ada").await.unwrap();
    assert_eq!(ask(&app, "ada", "{ hello }").await.status, 200);
    assert_eq!(run_document(&mut socket, "{ hello }").await, "data");
    assert_eq!(run_document(&mut socket, "{ hello }").await, "RATE_LIMITED");
    assert_eq!(open(&app, "mallory").await.err(), Some(403));
    let mut free = open(&app, "root").await.unwrap();
    for _ in 0..10 {
        assert_eq!(run_document(&mut free, "{ hello }").await, "data");
    }
}
