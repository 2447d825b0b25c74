//! Operations whose token was renewed on the socket with one that has other claims.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc::auth::{
    Claims, MemoryRevocationStore, RevocableToken, RevocationConfig, TokenRevocationService,
};
use svc::prelude::*;
use svc_tests::{App, Socket};

use super::service::{Watched, nowhere, options};
use crate::auth::service::provider;
use crate::auth::token;

const ADA: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// The time of a first token, in seconds: long enough for all that comes before its end, also where
/// the machine stands still meanwhile.
const BRIEF: f64 = 15.0;
/// The time of a token that does not end in a test.
const LONG: f64 = 3_600.0;

struct Service {
    app: App,
    watched: Watched,
    revocation: TokenRevocationService,
}

async fn serve() -> Service {
    let watched = Watched::new();
    let revocation =
        TokenRevocationService::new(MemoryRevocationStore::new(), RevocationConfig::default());
    let options = options(&watched).config(SvcConfig {
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(
        options
            .auth_provider(provider())
            .token_revocation(revocation.clone()),
    )
    .await;
    Service {
        app,
        watched,
        revocation,
    }
}

fn ends_in(seconds: f64) -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
        + seconds
}

fn claims(jti: &str, tenant: &str, exp: f64) -> Value {
    json!({ "sub": ADA, "jti": jti, "tenant": tenant, "exp": exp })
}

fn payload(claims: Value) -> Value {
    json!({ "authorization": format!("Bearer {}", token(claims)) })
}

async fn renew(socket: &mut Socket, claims: Value) {
    socket
        .send(&json!({ "type": "ping", "payload": payload(claims) }))
        .await;
    assert_eq!(socket.next().await, json!({ "type": "pong" }));
}

/// The operation `id` is ended with the reason, and the other one goes on.
async fn ends_alone(service: &Service, socket: &mut Socket, id: &str, reason: &str, other: &str) {
    let ended = socket.next().await;
    assert_eq!(
        (&ended["type"], &ended["id"]),
        (&json!("error"), &json!(id)),
        "{ended}"
    );
    let extensions = &ended["payload"][0]["extensions"];
    assert_eq!(
        (&extensions["code"], &extensions["reason"]),
        (&json!("UNAUTHENTICATED"), &json!(reason)),
        "{ended}"
    );
    service.watched.until_streams(1).await;
    service.watched.gate.add_permits(1);
    let event = socket.next().await;
    assert_eq!(
        (&event["type"], &event["id"]),
        (&json!("next"), &json!(other)),
        "{event}"
    );
    // The identifier is free again.
    socket.subscribe(id, "{ hello }").await;
    assert_eq!(
        socket.next().await["payload"]["data"]["hello"],
        "hello, world"
    );
    assert_eq!(socket.next().await["type"], "complete");
}

async fn an_operation_ends_with_its_own_token() {
    let service = serve().await;
    let exp = ends_in(BRIEF);
    let mut socket = Socket::ready_with(&service.app, payload(claims("first", "north", exp))).await;
    socket.subscribe("north", "subscription { gated }").await;
    service.watched.until_streams(1).await;
    renew(&mut socket, claims("second", "south", ends_in(LONG))).await;
    socket.subscribe("south", "subscription { gated }").await;
    service.watched.until_streams(2).await;
    ends_alone(&service, &mut socket, "north", "TOKEN_EXPIRED", "south").await;
    assert!(ends_in(0.0) >= exp, "it ends too early");
}

#[tokio::test]
async fn an_operation_ends_when_its_own_token_is_revoked() {
    let service = serve().await;
    let first = claims("first", "north", ends_in(LONG));
    let mut socket = Socket::ready_with(&service.app, payload(first.clone())).await;
    socket.subscribe("north", "subscription { gated }").await;
    renew(&mut socket, claims("second", "south", ends_in(LONG))).await;
    socket.subscribe("south", "subscription { gated }").await;
    service.watched.until_streams(2).await;
    let revoked = RevocableToken::new(
        &Claims::new(first.as_object().unwrap().clone()),
        &svc::UserContext::new(ADA),
    );
    service.revocation.revoke(&revoked).await.unwrap();
    ends_alone(&service, &mut socket, "north", "TOKEN_INVALID", "south").await;
}

/// An operation that has not answered may be a mutation, and its client needs the result.
#[tokio::test]
async fn an_operation_that_has_not_answered_outlives_its_token() {
    let service = serve().await;
    let first = claims("first", "north", ends_in(LONG));
    let mut socket = Socket::ready_with(&service.app, payload(first.clone())).await;
    socket.subscribe("north", "subscription { gated }").await;
    socket.subscribe("waiting", "{ waiting }").await;
    service.watched.until_streams(2).await;
    renew(&mut socket, claims("second", "south", ends_in(LONG))).await;
    let revoked = RevocableToken::new(
        &Claims::new(first.as_object().unwrap().clone()),
        &svc::UserContext::new(ADA),
    );
    service.revocation.revoke(&revoked).await.unwrap();
    let ended = socket.next().await;
    assert_eq!(
        (&ended["type"], &ended["id"]),
        (&json!("error"), &json!("north")),
        "{ended}"
    );
    service.watched.gate.add_permits(1);
    let answer = socket.next().await;
    assert_eq!(answer["payload"]["data"]["waiting"], true, "{answer}");
    assert_eq!(
        socket.next().await,
        json!({ "type": "complete", "id": "waiting" })
    );
}

/// A token with equal claims takes the operations over, also after others in between.
async fn an_operation_continues_with_an_equivalent_token() {
    let service = serve().await;
    let exp = ends_in(BRIEF);
    let mut socket = Socket::ready_with(&service.app, payload(claims("first", "north", exp))).await;
    socket.subscribe("north", "subscription { gated }").await;
    service.watched.until_streams(1).await;
    renew(&mut socket, claims("second", "south", ends_in(LONG))).await;
    renew(&mut socket, claims("third", "north", ends_in(LONG))).await;
    tokio::time::sleep(Duration::from_secs_f64((exp - ends_in(0.0)).max(0.0) + 1.5)).await;
    service.watched.gate.add_permits(1);
    let event = socket.next().await;
    assert_eq!(
        (&event["type"], &event["id"]),
        (&json!("next"), &json!("north")),
        "{event}"
    );
}

/// The earlier token is watched no longer than something runs under it.
async fn a_socket_without_operations_outlives_its_earlier_token() {
    let service = serve().await;
    let exp = ends_in(BRIEF);
    let mut socket = Socket::ready_with(&service.app, payload(claims("first", "north", exp))).await;
    socket.subscribe("north", "subscription { gated }").await;
    service.watched.until_streams(1).await;
    renew(&mut socket, claims("second", "south", ends_in(LONG))).await;
    socket
        .send(&json!({ "type": "complete", "id": "north" }))
        .await;
    service.watched.until_streams(0).await;
    tokio::time::sleep(Duration::from_secs_f64((exp - ends_in(0.0)).max(0.0) + 1.5)).await;
    socket.subscribe("hello", "{ hello }").await;
    assert_eq!(
        socket.next().await["payload"]["data"]["hello"],
        "hello, world"
    );
}

/// Each of these waits for a time to pass, so they wait together.
#[tokio::test]
async fn the_end_of_an_earlier_token_ends_only_its_operations() {
    tokio::join!(
        an_operation_ends_with_its_own_token(),
        an_operation_continues_with_an_equivalent_token(),
        a_socket_without_operations_outlives_its_earlier_token(),
    );
}
