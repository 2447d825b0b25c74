//! Requests whose time is decided by a client or by another service take nothing from the others.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use h2::client::SendRequest;
use serde_json::json;
use svc::auth::{AuthError, AuthProvider, Claims, UserContext};
use svc::axum::body::Bytes;
use svc::events::{EventSource, SourceEvent};
use svc::futures_util::future::BoxFuture;
use svc::futures_util::stream::BoxStream;
use svc::prelude::*;
use svc::{OperationsConfig, ProtectionConfig, RedisClient, UploadConfig};
use svc_tests::raw::{Client, PATIENCE, post};
use svc_tests::{App, Log, Socket, eventually};
use tokio::sync::Semaphore;

/// The requests that may run at once, fewer than the slow ones of each test.
const IN_FLIGHT: usize = 4;
const SLOW: usize = 12;
const HELLO: &str = r#"{"query":"{ hello }"}"#;

static GATE: Semaphore = Semaphore::const_new(0);

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::query]
async fn gated() -> Result<bool> {
    Ok(GATE.acquire().await.is_ok())
}

#[svc::mutation]
fn size(text: String) -> Result<i32> {
    Ok(text.len().try_into()?)
}

#[svc::subscription]
async fn heard(ctx: &Context<'_>) -> Result<impl Stream<Item = Result<String>> + use<>> {
    ctx.events("heard").await
}

/// A source of events that cannot be reached.
struct Away;

impl EventSource for Away {
    fn listen<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        Box::pin(async { Err(Error::internal("the source is away")) })
    }

    fn publish<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Err(Error::internal("the source is away")) })
    }
}

/// A provider whose service never answers.
struct Hanging;

impl AuthProvider for Hanging {
    async fn validate_token(&self, _: &str) -> Result<Claims, AuthError> {
        std::future::pending().await
    }

    async fn get_user_from_token(&self, _: &str) -> Result<UserContext, AuthError> {
        std::future::pending().await
    }
}

fn options(protection: ProtectionConfig) -> AppOptions {
    let uploads = UploadConfig {
        enabled: true,
        ..UploadConfig::default()
    };
    let operations = OperationsConfig {
        rust_endpoint: true,
        ..OperationsConfig::default()
    };
    let config = SvcConfig {
        protection,
        uploads,
        operations,
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![hello, gated])
        .mutations(mutations![size])
}

/// A service that refuses each request that would have to wait.
fn narrow() -> ProtectionConfig {
    ProtectionConfig {
        max_in_flight: IN_FLIGHT,
        shed_after: Duration::ZERO,
        batch_max: 10,
        ..ProtectionConfig::default()
    }
}

async fn app() -> App {
    App::serve(options(narrow())).await
}

/// The head of a request to a path, with the beginning of its body.
fn begun(path: &str, headers: &str, length: usize, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Others are answered as if there were no slow requests.
async fn others_are_answered(app: &App) {
    for round in 0..3 {
        let replies = join_all((0..IN_FLIGHT).map(|_| app.query("{ hello }"))).await;
        for reply in replies {
            assert_eq!(
                (reply.status, reply.text.contains("world")),
                (200, true),
                "round {round}: {reply:?}"
            );
        }
    }
}

/// Begins so many requests, looks at the others, and ends the slow ones: each is answered in the
/// end.
async fn assert_slow_requests_hold_no_permit(
    headers: &str,
    path: &str,
    body: &str,
    expected: &str,
) {
    let app = app().await;
    let mut clients = Vec::new();
    for _ in 0..SLOW {
        let mut client = Client::open(app.address()).await;
        client
            .send(&begun(path, headers, body.len(), &body[..10]))
            .await;
        clients.push(client);
    }
    // All of them have been read when a later connection is answered.
    others_are_answered(&app).await;
    for client in clients.chunks_mut(IN_FLIGHT) {
        for client in client.iter_mut() {
            client.send(&body[10..]).await;
            let answer = client.answer().await;
            assert!(
                answer.starts_with("HTTP/1.1 200") && answer.contains(expected),
                "{answer}"
            );
        }
    }
}

const JSON: &str = "content-type: application/json";

#[tokio::test]
async fn slow_json_bodies_hold_no_permit() {
    assert_slow_requests_hold_no_permit(JSON, "/graphql", HELLO, "world").await;
}

#[tokio::test]
async fn slow_bodies_of_the_rust_endpoint_hold_no_permit() {
    let body = r#"{"query":"{ __typename }"}"#;
    assert_slow_requests_hold_no_permit(JSON, "/graphql/rust", body, "Query").await;
}

#[tokio::test]
async fn slow_batches_hold_no_permit() {
    assert_slow_requests_hold_no_permit(JSON, "/graphql", &format!("[{HELLO},{HELLO}]"), "world")
        .await;
}

#[tokio::test]
async fn slow_bodies_of_streams_hold_no_permit() {
    let headers = format!("{JSON}\r\naccept: text/event-stream");
    assert_slow_requests_hold_no_permit(&headers, "/graphql", HELLO, "event-stream").await;
}

/// A service whose source of events is away.
async fn without_events() -> App {
    let options = options(narrow())
        .subscriptions(subscriptions![heard])
        .event_channels(["heard"]);
    App::serve(options.event_source(Away)).await
}

/// A subscription as a stream. Its connection ends with it, because a stream has no length.
fn subscription() -> String {
    let headers = format!("{JSON}\r\naccept: text/event-stream\r\nconnection: close");
    let body = r#"{"query":"subscription { heard }"}"#;
    begun("/graphql", &headers, body.len(), body)
}

/// In the first two seconds of a loss they wait for its end, on all transports.
#[tokio::test]
async fn subscribers_that_wait_for_a_lost_source_of_events_hold_no_permit() {
    let app = without_events().await;
    let (mut clients, mut sockets) = (Vec::new(), Vec::new());
    for _ in 0..SLOW {
        let mut client = Client::open(app.address()).await;
        client.send(&subscription()).await;
        clients.push(client);
    }
    others_are_answered(&app).await;
    for _ in 0..SLOW {
        let mut socket = Socket::ready(&app).await;
        socket.subscribe("1", "subscription { heard }").await;
        sockets.push(socket);
    }
    others_are_answered(&app).await;
    for mut client in clients {
        let (_, answer) = client.closed().await;
        assert!(answer.contains("events cannot be listened to"), "{answer}");
    }
    for mut socket in sockets {
        let answer = socket.next().await.to_string();
        assert!(answer.contains("events cannot be listened to"), "{answer}");
    }
}

/// After that they are refused at once.
#[tokio::test]
async fn subscribers_to_a_source_of_events_that_is_away_hold_no_permit() {
    let (app, request) = (without_events().await, subscription());
    let mut clients = Vec::new();
    let mut first = Client::open(app.address()).await;
    first.send(&request).await;
    assert!(
        first
            .closed()
            .await
            .1
            .contains("events cannot be listened to")
    );
    for _ in 0..SLOW {
        let mut client = Client::open(app.address()).await;
        client.send(&request).await;
        clients.push(client);
    }
    others_are_answered(&app).await;
    for mut client in clients {
        let (_, answer) = client.closed().await;
        assert!(answer.contains("events cannot be listened to"), "{answer}");
    }
}

#[tokio::test]
async fn slow_uploads_hold_no_permit() {
    let part = |name: &str, value: &str| {
        format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let operations = part("operations", HELLO);
    let body = format!("{operations}{}--b--\r\n", part("map", "{}"));
    let headers = "content-type: multipart/form-data; boundary=b\r\ngraphql-preflight: 1";
    assert_slow_requests_hold_no_permit(headers, "/graphql", &body, "world").await;
}

/// Streams of HTTP/2 without a body, on one connection.
#[tokio::test]
async fn slow_streams_of_one_connection_hold_no_permit() {
    let app = app().await;
    let (mut requests, connection) = connect_http2(app.address()).await;
    let mut streams = Vec::new();
    for _ in 0..SLOW {
        let request =
            http::Request::post("http://x/graphql").header("content-type", "application/json");
        requests = requests.ready().await.unwrap();
        streams.push(
            requests
                .send_request(request.body(()).unwrap(), false)
                .unwrap(),
        );
    }
    others_are_answered(&app).await;
    for (response, mut send) in streams {
        send.send_data(Bytes::from_static(HELLO.as_bytes()), true)
            .unwrap();
        let response = tokio::time::timeout(PATIENCE, response).await;
        let response = response.expect("no answer in time").unwrap();
        assert_eq!(response.status(), 200);
    }
    connection.abort();
}

async fn connect_http2(
    address: SocketAddr,
) -> (
    SendRequest<Bytes>,
    tokio::task::JoinHandle<Result<(), h2::Error>>,
) {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let (requests, connection) = h2::client::handshake(stream).await.unwrap();
    (requests, tokio::spawn(connection))
}

#[tokio::test]
async fn an_identity_provider_that_hangs_holds_no_permit() {
    let app = App::serve(options(narrow()).auth_provider(Hanging)).await;
    let mut clients = Vec::new();
    for number in 0..30 {
        let mut client = Client::open(app.address()).await;
        let headers = format!("{JSON}\r\nauthorization: Bearer token-{number}");
        client
            .send(&begun("/graphql", &headers, HELLO.len(), HELLO))
            .await;
        clients.push(client);
    }
    others_are_answered(&app).await;
}

/// One request waits for Redis, and then none until it answers.
#[tokio::test]
async fn a_redis_that_hangs_delays_no_series_of_requests() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let redis = RedisClient::new(&format!("redis://{}", silent.local_addr().unwrap())).unwrap();
    let app = App::serve(options(narrow()).redis(redis)).await;
    let start = Instant::now();
    for number in 0..30 {
        let query = json!({ "version": 1, "sha256Hash": format!("{number:064x}") });
        let reply = app
            .post(&json!({ "extensions": { "persistedQuery": query } }))
            .await;
        assert_eq!(reply.code(), "PERSISTED_QUERY_NOT_FOUND", "{}", reply.text);
    }
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "30 unknown queries took {:?}",
        start.elapsed()
    );
}

/// The slowest bodies of an address are given up for its newer ones, and those of others for
/// nobody.
#[tokio::test]
async fn pending_bodies_per_address_are_bounded() {
    let app = App::serve(options(ProtectionConfig {
        max_bodies_per_address: 2,
        ..narrow()
    }))
    .await;
    let mut first = Client::open(app.address()).await;
    let mut others = Vec::new();
    first.send(&begun("/graphql", JSON, HELLO.len(), "")).await;
    others_are_answered(&app).await;
    for _ in 0..2 {
        let mut client = Client::open(app.address()).await;
        client.send(&begun("/graphql", JSON, HELLO.len(), "")).await;
        others_are_answered(&app).await;
        others.push(client);
    }
    let answer = first.answer().await;
    assert!(
        answer.starts_with("HTTP/1.1 429") && answer.contains("RATE_LIMITED"),
        "{answer}"
    );
    assert!(
        answer.to_ascii_lowercase().contains("connection: close"),
        "{answer}"
    );
    for mut client in others {
        client.send(HELLO).await;
        assert!(client.answer().await.contains("world"));
    }
}

/// Slow bodies beside four clients: the clients get as many answers as just before, in one of
/// several rounds at least, as other tests run beside.
#[tokio::test(flavor = "multi_thread")]
async fn other_requests_are_answered_beside_three_hundred_slow_bodies() {
    let app = Arc::new(App::serve(options(ProtectionConfig::default())).await);
    let load = async || {
        let end = Instant::now() + Duration::from_secs(1);
        let client = |app: Arc<App>| async move {
            let mut answers = 0_usize;
            while Instant::now() < end {
                assert_eq!(app.query("{ hello }").await.status, 200);
                answers += 1;
            }
            answers
        };
        let clients = (0..4).map(|_| tokio::spawn(client(app.clone())));
        join_all(clients)
            .await
            .into_iter()
            .map(|answers| answers.unwrap())
            .sum::<usize>()
    };
    let mut rounds = Vec::new();
    for _ in 0..10 {
        let calm = load().await;
        let mut clients = Vec::new();
        for _ in 0..300 {
            let mut client = Client::open(app.address()).await;
            client
                .send(&begun("/graphql", JSON, 1_000, "{\"query\":\""))
                .await;
            clients.push(client);
        }
        let slow = load().await;
        if slow * 10 >= calm * 8 {
            return;
        }
        rounds.push((calm, slow));
    }
    panic!("answers without slow bodies and with them: {rounds:?}");
}

/// While requests are refused, `/ready` and the log say so, and the log says when that is over.
#[tokio::test]
async fn shedding_is_reported_by_readiness_and_the_log() {
    let log = Log::start();
    let app = App::serve(options(ProtectionConfig {
        max_in_flight: 1,
        ..narrow()
    }))
    .await;
    let mut running = Client::open(app.address()).await;
    running.send(&post(r#"{"query":"{ gated }"}"#)).await;
    let refused = async || match app.query("{ hello }").await.status {
        503 => Ok(()),
        status => Err(status.to_string()),
    };
    eventually(refused).await;
    let ready = app.get("/ready").await.json()["checks"]["load"].clone();
    assert!(
        ready.as_str().unwrap_or_default().starts_with("degraded: "),
        "{ready}"
    );
    // One that refuses all is not ready in the end.
    let stuck = async || {
        assert_eq!(app.query("{ hello }").await.status, 503);
        let load = app.get("/ready").await.json()["checks"]["load"].clone();
        if load == "failed: nearly all requests have been refused for some time" {
            Ok(())
        } else {
            Err(load.to_string())
        }
    };
    eventually(stuck).await;
    GATE.add_permits(1);
    assert!(running.answer().await.contains("true"));
    log.has("load shedding ended").await;
    assert_eq!(
        log.text().matches("load shedding started").count(),
        1,
        "{}",
        log.text()
    );
    eventually(
        async || match app.get("/ready").await.json()["checks"].get("load") {
            None => Ok(()),
            Some(load) => Err(load.to_string()),
        },
    )
    .await;
}
