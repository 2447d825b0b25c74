//! The user of a socket or a stream, and the time for which that holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc::auth::{AuthError, AuthProvider, Claims};
use svc::auth::{MemoryRevocationStore, RevocationConfig, RevocationStore, TokenRevocationService};
use svc::prelude::*;
use svc::{AuthConfig, RedisClient, SubscriptionsConfig};
use svc_tests::{App, Closed, Events, Redis, Socket, eventually};
use tokio_tungstenite::tungstenite::protocol::Message;

use super::service::{Watched, nowhere, options};
use crate::auth::service::provider;
use crate::auth::token;

const ADA: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const BOB: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// The longest time until a socket is closed whose token has ended, on a machine that runs other
/// tests beside. It is less than until the next ping of a socket that was just opened.
const SOON: Duration = Duration::from_secs(20);

struct Service {
    app: App,
    watched: Watched,
    revocation: TokenRevocationService,
}

async fn serve(auth: AuthConfig) -> Service {
    serve_with(auth, MemoryRevocationStore::new()).await
}

async fn serve_with(auth: AuthConfig, store: impl RevocationStore) -> Service {
    serve_revoking(
        auth,
        TokenRevocationService::new(store, RevocationConfig::default()),
    )
    .await
}

async fn serve_revoking(auth: AuthConfig, revocation: TokenRevocationService) -> Service {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        auth,
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

fn of(user: &str) -> String {
    token(json!({ "sub": user, "jti": user, "sid": "s" }))
}

fn ends_in(seconds: f64) -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
        + seconds
}

/// Waits for a time, in seconds since 1970.
async fn until(time: f64) {
    tokio::time::sleep(Duration::from_secs_f64((time - ends_in(0.0)).max(0.0))).await;
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

async fn initialised(app: &App, payload: Value) -> Result<Socket, Closed> {
    let mut socket = Socket::open(app).await;
    socket
        .send(&json!({ "type": "connection_init", "payload": payload }))
        .await;
    socket.receive().await.map(|_| socket)
}

async fn who(socket: &mut Socket) -> Value {
    socket.subscribe("who", "{ who }").await;
    let answer = socket.next().await;
    assert_eq!(socket.next().await["type"], "complete");
    answer["payload"]["data"]["who"].clone()
}

#[tokio::test]
async fn the_first_message_says_who_asks() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let held = bearer(&of(ADA));
    for payload in [
        json!({ "authorization": held }),
        json!({ "Authorization": held, "other": { "authorization": 1 } }),
        json!({ "headers": { "Authorization": held } }),
        json!({ "authorization": null, "headers": { "authorization": held } }),
    ] {
        let mut socket = Socket::ready_with(&app, payload).await;
        assert_eq!(who(&mut socket).await, ADA);
        socket.subscribe("1", "subscription { mine }").await;
        assert_eq!(socket.next().await["payload"]["data"]["mine"], ADA);
    }
    let mut socket = Socket::ready(&app).await;
    assert_eq!(who(&mut socket).await, Value::Null);
}

#[tokio::test]
async fn without_a_token_in_it_the_upgrade_says_who_asks() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let held = bearer(&of(ADA));
    let mut socket = Socket::open_with(&app, &[("authorization", &held)]).await;
    socket.send(&json!({ "type": "connection_init" })).await;
    socket.next().await;
    assert_eq!(who(&mut socket).await, ADA);
    // The message comes first, and the token stays nowhere.
    let mut socket = Socket::open_with(&app, &[("authorization", &held)]).await;
    let payload = json!({ "authorization": bearer(&of(BOB)) });
    socket
        .send(&json!({ "type": "connection_init", "payload": payload }))
        .await;
    socket.next().await;
    assert_eq!(who(&mut socket).await, BOB);
    socket
        .subscribe("1", "{ seen(header: \"authorization\") }")
        .await;
    assert_eq!(
        socket.next().await["payload"]["data"]["seen"],
        "WebSocket none"
    );
}

#[tokio::test]
async fn a_token_that_does_not_hold_closes_4403() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let expired = bearer(&token(json!({ "exp": ends_in(-60.0) })));
    let (malformed, invalid) = ("is not one `Bearer <token>`", "the token is not valid");
    for (payload, reason) in [
        (json!({ "authorization": expired }), "the token has expired"),
        (json!({ "authorization": "Bearer nonsense" }), invalid),
        (json!({ "authorization": "Bearer a b" }), invalid),
        (json!({ "authorization": of(ADA) }), malformed),
        (json!({ "authorization": "Basic YTpi" }), malformed),
        (json!({ "authorization": 1 }), malformed),
        (json!({ "authorization": "Bearer x\n" }), malformed),
        (
            json!({ "authorization": bearer(&of(ADA)), "Authorization": bearer(&of(ADA)) }),
            malformed,
        ),
        (
            json!({ "authorization": bearer(&of(ADA)), "headers": { "authorization": bearer(&of(BOB)) } }),
            malformed,
        ),
    ] {
        let (code, told) = initialised(&app, payload.clone()).await.unwrap_err();
        assert!(
            code == 4403 && told.contains(reason),
            "{payload}: {code} {told}"
        );
    }
}

#[tokio::test]
async fn a_service_that_requires_users_acknowledges_no_others() {
    let Service { app, .. } = serve(AuthConfig {
        required: true,
        ..AuthConfig::default()
    })
    .await;
    let (code, reason) = initialised(&app, json!({})).await.unwrap_err();
    assert!(
        code == 4403 && reason.starts_with("authentication required"),
        "{code} {reason}"
    );
    let mut socket = initialised(&app, json!({ "authorization": bearer(&of(ADA)) }))
        .await
        .unwrap();
    assert_eq!(who(&mut socket).await, ADA);
    let refused = Events::post(&app, "text/event-stream", "subscription { forever }").await;
    assert_eq!(refused.status, 401);
}

/// Three streams outlive two renewals without a lost event.
#[tokio::test]
async fn a_ping_renews_the_token() {
    let Service { app, watched, .. } = serve(AuthConfig::default()).await;
    let start = ends_in(0.0);
    let held_for = |seconds: f64| bearer(&token(json!({ "sub": ADA, "exp": start + seconds })));
    let mut socket = Socket::ready_with(&app, json!({ "authorization": held_for(10.0) })).await;
    for id in ["a", "b", "c"] {
        socket.subscribe(id, "subscription { gated }").await;
    }
    watched.until_streams(3).await;
    for (renewed, ended) in [(20.0, 10.0), (30.0, 20.0)] {
        socket
            .send(&json!({ "type": "ping", "payload": { "authorization": held_for(renewed) } }))
            .await;
        // The token is not sent back.
        assert_eq!(socket.next().await, json!({ "type": "pong" }));
        // A while after the end of the token before.
        until(start + ended + 0.2).await;
        watched.gate.add_permits(30);
        for _ in 0..30 {
            let event = socket.next().await;
            assert_eq!(event["payload"]["data"]["gated"], ADA, "{event}");
        }
    }
    assert_eq!(
        socket.closed().await,
        (4403, "the token has expired".to_owned())
    );
    watched.until_streams(0).await;
}

#[tokio::test]
async fn another_user_s_token_renews_nothing() {
    let Service { app, .. } = serve(AuthConfig::default()).await;
    let renewal =
        |token: &str| json!({ "type": "ping", "payload": { "authorization": bearer(token) } });
    for first in [json!({ "authorization": bearer(&of(ADA)) }), json!({})] {
        let mut socket = Socket::ready_with(&app, first).await;
        socket.send(&renewal(&of(BOB))).await;
        let expected = (
            4403,
            "a socket stays with the user that it began with".to_owned(),
        );
        assert_eq!(socket.closed().await, expected);
    }
    let mut socket = Socket::ready_with(&app, json!({ "authorization": bearer(&of(ADA)) })).await;
    socket.send(&renewal("nonsense")).await;
    assert_eq!(
        socket.closed().await,
        (4403, "the token is not valid".to_owned())
    );
    let mut socket = Socket::open(&app).await;
    socket.send(&renewal(&of(ADA))).await;
    assert_eq!(socket.closed().await.0, 4401);
}

/// The end of a token comes after its time, and soon.
fn has_just_ended(exp: f64) {
    let late = ends_in(0.0) - exp;
    assert!((0.0..SOON.as_secs_f64()).contains(&late), "{late} s late");
}

#[tokio::test]
async fn a_token_that_expires_closes_4403() {
    let Service { app, watched, .. } = serve(AuthConfig::default()).await;
    // Long enough for both to begin, also where the machine stands still meanwhile.
    let exp = ends_in(9.0);
    let held = bearer(&token(json!({ "sub": ADA, "exp": exp })));
    let mut socket = Socket::ready_with(&app, json!({ "authorization": held })).await;
    socket.subscribe("1", "subscription { gated }").await;
    let request = app
        .request("GET", "/graphql?query=subscription{gated}")
        .header("accept", "text/event-stream");
    let events = Events::of(request.header("authorization", held)).await;
    watched.until_streams(2).await;
    assert_eq!(
        socket.closed().await,
        (4403, "the token has expired".to_owned())
    );
    has_just_ended(exp);
    let text = events.whole().await;
    has_just_ended(exp);
    assert!(
        text.contains("TOKEN_EXPIRED") && text.ends_with("event: complete\ndata:\n\n"),
        "{text}"
    );
    watched.until_streams(0).await;
}

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
    assert_eq!(who(&mut other).await, BOB);
}

#[tokio::test]
async fn a_token_that_is_revoked_closes_4403() {
    check_revocation(&serve(AuthConfig::default()).await).await;
}

#[tokio::test]
async fn redis_tells_all_sockets_at_once() {
    let redis = Redis::new().await;
    // A busy machine does not make Redis an absence.
    let client = RedisClient::with_timeout(&redis.url(), Duration::from_secs(30)).unwrap();
    let store = svc::auth::RedisRevocationStore::new(&client, Duration::from_secs(60));
    check_revocation(&serve_with(AuthConfig::default(), store).await).await;
}

#[tokio::test]
async fn a_user_has_so_many_connections() {
    let watched = Watched::new();
    let subscriptions = SubscriptionsConfig {
        max_connections_per_user: 2,
        ..SubscriptionsConfig::default()
    };
    let options = options(&watched).config(SvcConfig {
        subscriptions,
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(options.auth_provider(provider())).await;
    let held = bearer(&of(ADA));
    let ask = || {
        let request = app
            .request("GET", "/graphql?query=subscription{forever}")
            .header("accept", "text/event-stream");
        Events::of(request.header("authorization", &held))
    };
    let first = initialised(&app, json!({ "authorization": held }))
        .await
        .unwrap();
    let mut second = ask().await;
    second.until("event: next").await;
    let expected = (
        4403,
        "this user has as many open subscriptions as one may have".to_owned(),
    );
    assert_eq!(
        initialised(&app, json!({ "authorization": held }))
            .await
            .unwrap_err(),
        expected
    );
    assert_eq!(ask().await.status, 429);
    // Others are not theirs.
    initialised(&app, json!({ "authorization": bearer(&of(BOB)) }))
        .await
        .unwrap();
    initialised(&app, json!({})).await.unwrap();
    drop((first, second));
    watched.until_streams(0).await;
    eventually(async || match ask().await.status {
        200 => Ok(()),
        status => Err(status.to_string()),
    })
    .await;
}

/// Sessions and layers of the application's own say who asks as they do over HTTP.
#[tokio::test]
async fn a_layer_says_who_asks() {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        auth: AuthConfig {
            required: true,
            ..AuthConfig::default()
        },
        database: nowhere(),
        ..SvcConfig::default()
    });
    let layer = svc::axum::Extension(svc::UserContext::new(ADA));
    let app = App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await;
    let mut socket = Socket::ready(&app).await;
    assert_eq!(who(&mut socket).await, ADA);
}

#[tokio::test]
async fn the_development_password_stands_before_the_upgrade() {
    let auth = AuthConfig {
        dev_password: Some("dev-pass-phrase".to_owned()),
        ..AuthConfig::default()
    };
    let Service { app, .. } = serve(auth).await;
    let ours = ("sec-websocket-protocol", "graphql-transport-ws");
    assert_eq!(Socket::upgrade(&app, &[ours]).await.map(drop), Err(401));
    use base64::Engine as _;
    let basic = base64::engine::general_purpose::STANDARD.encode("admin:dev-pass-phrase");
    let mut socket = Socket::upgrade(&app, &[ours, ("authorization", &format!("Basic {basic}"))])
        .await
        .unwrap();
    // It opens the door, and the token says who comes in.
    socket
        .send(
            &json!({ "type": "connection_init", "payload": { "authorization": bearer(&of(ADA)) } }),
        )
        .await;
    assert_eq!(socket.next().await["type"], "connection_ack");
    assert_eq!(who(&mut socket).await, ADA);
}

/// A provider that cannot say anything.
struct Away;

impl AuthProvider for Away {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        Err(AuthError::unavailable("the keys are away"))
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        Err(AuthError::unavailable("the keys are away"))
    }
}

/// The client is to come again while it cannot be told who asks.
#[tokio::test]
async fn a_provider_that_is_away_closes_1013() {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(options.auth_provider(Away)).await;
    let closed = initialised(&app, json!({ "authorization": "Bearer any" }))
        .await
        .unwrap_err();
    assert_eq!(
        closed,
        (1013, "who asks cannot be verified at the moment".to_owned())
    );
    let mut socket = Socket::ready(&app).await;
    socket
        .send(&json!({ "type": "ping", "payload": { "authorization": "Bearer any" } }))
        .await;
    assert_eq!(socket.closed().await.0, 1013);
}

/// A provider that panics.
struct Broken;

impl AuthProvider for Broken {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        panic!("as it does")
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        panic!("as it does")
    }
}

#[tokio::test]
async fn a_provider_that_panics_closes_4500() {
    let watched = Watched::new();
    let options = options(&watched).config(SvcConfig {
        database: nowhere(),
        ..SvcConfig::default()
    });
    let app = App::serve(options.auth_provider(Broken)).await;
    let closed = initialised(&app, json!({ "authorization": "Bearer any" }))
        .await
        .unwrap_err();
    assert_eq!(closed, (4500, "Internal server error".to_owned()));
    let mut socket = Socket::ready(&app).await;
    assert_eq!(who(&mut socket).await, Value::Null);
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
async fn no_token_of_a_socket_is_looked_up_where_that_is_switched_off() {
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
    assert_eq!([who(&mut socket).await, who(&mut other).await], [ADA, ADA]);
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
async fn a_store_of_revocations_that_is_away_for_long_closes_1013() {
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
    assert_eq!(who(&mut anonymous).await, Value::Null);
    assert_eq!(who(&mut goes_on).await, ADA);
}
