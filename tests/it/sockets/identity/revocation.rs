//! Tokens that are revoked while their sockets and streams are open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use svc::auth::{AuthError, RevocationConfig, RevocationStore, TokenRevocationService};
use svc::{AuthConfig, RedisClient};
use svc_tests::{Events, Redis, Socket, eventually};
use tokio_tungstenite::tungstenite::protocol::Message;

use super::{ADA, BOB, SOON, Service, bearer, of, serve, serve_revoking, serve_with, user_of};
use crate::auth::token;

/// The claims of a token, each time of another user.
fn claims(user: &str) -> Value {
    json!({ "sub": user, "jti": format!("token of {user}"), "sid": format!("session of {user}") })
}

async fn revoke(service: &Service, whose: &str, user: &str) {
    let revocation = &service.revocation;
    match whose {
        "token" => {
            let claims = svc::auth::Claims::new(claims(user).as_object().unwrap().clone());
            let held = svc::auth::RevocableToken::new(&claims, &svc::UserContext::new(user));
            revocation.revoke(&held).await.unwrap();
        }
        "session" => revocation
            .revoke_session(None, &format!("session of {user}"))
            .await
            .unwrap(),
        _ => revocation.revoke_all(user).await.unwrap(),
    }
}

async fn check_revocation(service: &Service) {
    let mut other = Socket::ready_with(
        &service.app,
        json!({ "authorization": bearer(&token(claims(BOB))) }),
    )
    .await;
    for (whose, number) in ["token", "session", "user"].into_iter().zip(1..) {
        let user = format!("cccccccc-0000-4000-8000-00000000000{number}");
        let held = bearer(&token(claims(&user)));
        let mut socket = Socket::ready_with(&service.app, json!({ "authorization": held })).await;
        socket.subscribe("1", "subscription { gated }").await;
        let request = service
            .app
            .request("GET", "/graphql?query=subscription{gated}");
        let events = Events::of(
            request
                .header("accept", "text/event-stream")
                .header("authorization", held),
        )
        .await;
        service.watched.until_streams(2).await;
        revoke(service, whose, &user).await;
        // Not even before the socket is closed does an operation run.
        socket
            .send_frame(Message::text(
                r#"{"id":"2","type":"subscribe","payload":{"query":"{ who }"}}"#,
            ))
            .await;
        let closed = loop {
            match tokio::time::timeout(SOON, socket.receive())
                .await
                .expect("the socket is still open")
            {
                Ok(message) => assert_eq!(
                    message["payload"][0]["extensions"]["reason"], "TOKEN_INVALID",
                    "{message}"
                ),
                Err(closed) => break closed,
            }
        };
        assert_eq!(
            closed,
            (4403, "the token is not valid".to_owned()),
            "{whose}"
        );
        let text = tokio::time::timeout(SOON, events.whole())
            .await
            .expect("the stream is still open");
        assert!(text.contains("TOKEN_INVALID"), "{text}");
        service.watched.until_streams(0).await;
    }
    assert_eq!(user_of(&mut other).await, BOB);
}

#[tokio::test]
async fn a_token_that_is_revoked_closes_4403() {
    check_revocation(&serve(AuthConfig::default()).await).await;
}

#[tokio::test]
async fn a_revocation_in_redis_closes_all_sockets() {
    let redis = Redis::new().await;
    // A busy machine does not make Redis an absence.
    let client = RedisClient::with_timeout(&redis.url(), Duration::from_secs(30)).unwrap();
    let store = svc::auth::RedisRevocationStore::new(&client, Duration::from_secs(60));
    check_revocation(&serve_with(AuthConfig::default(), store).await).await;
}

/// A store of revocations that goes away, and counts its readers.
#[derive(Clone, Default)]
struct Store(Arc<AtomicBool>, Arc<AtomicUsize>);

impl Store {
    fn answer<T>(&self, answer: T) -> Result<T, AuthError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        if self.0.load(Ordering::SeqCst) {
            Err(AuthError::unavailable("the store is away"))
        } else {
            Ok(answer)
        }
    }
}

impl RevocationStore for Store {
    async fn revoke(&self, _: &str, _: SystemTime) -> Result<(), AuthError> {
        self.answer(())
    }

    async fn revoke_all(&self, _: &str, _: SystemTime, _: SystemTime) -> Result<(), AuthError> {
        self.answer(())
    }

    async fn is_revoked(&self, _: &svc::auth::RevocableToken) -> Result<bool, AuthError> {
        self.answer(false)
    }
}

/// A service with a store, and a socket of a user.
async fn with_socket(
    store: &Store,
    change: impl FnOnce(&mut RevocationConfig),
) -> (Service, Socket) {
    let mut config = RevocationConfig::default();
    change(&mut config);
    let service = serve_revoking(
        AuthConfig::default(),
        TokenRevocationService::new(store.clone(), config),
    )
    .await;
    let socket =
        Socket::ready_with(&service.app, json!({ "authorization": bearer(&of(ADA)) })).await;
    (service, socket)
}

/// Tokens of open sockets are looked up again and again, but not where that is switched off.
#[tokio::test]
async fn disabled_revocation_checks_look_up_no_token() {
    let (off, unchecked, on) = (Store::default(), Store::default(), Store::default());
    let (_first, mut socket) = with_socket(&off, |config| config.enabled = false).await;
    let (_second, mut other) =
        with_socket(&unchecked, |config| config.check_revocation = false).await;
    let (_third, _socket) = with_socket(&on, |_| {}).await;
    eventually(async || match on.1.load(Ordering::SeqCst) {
        count if count >= 4 => Ok(()),
        count => Err(format!("{count} looks")),
    })
    .await;
    assert_eq!(
        [user_of(&mut socket).await, user_of(&mut other).await],
        [ADA, ADA]
    );
    assert_eq!(
        [
            off.1.load(Ordering::SeqCst),
            unchecked.1.load(Ordering::SeqCst)
        ],
        [0, 0]
    );
}

/// For ten seconds streams go on, and no operation begins; then sockets of users are closed, and no
/// others; nor those of a service that is to go on without the store.
#[tokio::test]
async fn a_long_unreachable_revocation_store_closes_1013() {
    let store = Store::default();
    let (_lenient, mut goes_on) = with_socket(&store, |config| config.allow_when_away = true).await;
    let (Service { app, watched, .. }, mut socket) = with_socket(&store, |_| {}).await;
    let mut anonymous = Socket::ready(&app).await;
    socket.subscribe("1", "subscription { gated }").await;
    watched.until_streams(1).await;
    store.0.store(true, Ordering::SeqCst);
    let (away, mut events, mut rounds) = (Instant::now(), 0, 0);
    let closed = 'open: loop {
        watched.gate.add_permits(1);
        rounds += 1;
        let text = r#"{"id":"2","type":"subscribe","payload":{"query":"{ who }"}}"#;
        socket.send_frame(Message::text(text)).await;
        loop {
            match socket.receive().await {
                Ok(message) if message["id"] == "1" => events += 1,
                Ok(message) => {
                    assert_eq!(
                        message["payload"][0]["extensions"]["code"], "SERVICE_UNAVAILABLE",
                        "{message}"
                    );
                    break;
                }
                Err(closed) => break 'open closed,
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    };
    assert_eq!(
        closed,
        (1013, "who asks cannot be verified at the moment".to_owned())
    );
    assert!(
        away.elapsed() >= Duration::from_secs(10),
        "closed after {:?}",
        away.elapsed()
    );
    // The last event, and that of the round before, may be on their way.
    assert!(
        events > 0 && events + 2 >= rounds,
        "{events} events came in {rounds} rounds"
    );
    watched.until_streams(0).await;
    assert_eq!(user_of(&mut anonymous).await, Value::Null);
    assert_eq!(user_of(&mut goes_on).await, ADA);
}
