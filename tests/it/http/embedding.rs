//! The router inside a larger application, and how a server stops.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use svc::HttpConfig;
use svc::axum::{Router, routing::get};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, raw::PATIENCE};
use tokio::sync::Notify;

struct Greeting(&'static str);

#[svc::query]
fn greet(ctx: &Context<'_>) -> Result<String> {
    Ok(format!(
        "{} {}",
        ctx.data::<Greeting>()?.0,
        ctx.header("x-name").unwrap_or("you")
    ))
}

/// A request that has begun, and may end.
#[derive(Default)]
struct Slow {
    begun: Notify,
    end: Notify,
}

#[svc::query]
async fn slow(ctx: &Context<'_>) -> Result<bool> {
    let slow = ctx.data::<Arc<Slow>>()?;
    slow.begun.notify_one();
    slow.end.notified().await;
    Ok(true)
}

async fn router() -> Router {
    router_with(Arc::default()).await
}

async fn router_with(slow: Arc<Slow>) -> Router {
    let url = TestDatabase::empty().await;
    let options = AppOptions::new()
        .database_url(url)
        .data(Greeting("hello"))
        .data(slow);
    create_svc_app(options.queries(queries![greet, self::slow]))
        .await
        .unwrap()
}

#[tokio::test]
async fn more_routes_and_prefixes_can_be_added() {
    let app = App::serve_router(
        Router::new()
            .nest("/api", router().await)
            .route("/", get(|| async { "home" })),
    )
    .await;
    assert_eq!(app.get("/").await.text, "home");
    assert_eq!(app.get("/api/health").await.status, 200);
    let request = app
        .request("POST", "/api/graphql")
        .header("content-type", "application/json")
        .header("x-name", "Ada");
    assert_eq!(
        app.send(request.body(r#"{"query":"{ greet }"}"#))
            .await
            .data(),
        json!({ "greet": "hello Ada" })
    );
}

#[tokio::test]
async fn a_stop_lets_requests_finish() {
    let slow = Arc::<Slow>::default();
    let mut app = App::serve_router(router_with(slow.clone()).await).await;
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .body(r#"{"query":"{ slow }"}"#);
    let answer = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    tokio::time::timeout(PATIENCE, slow.begun.notified())
        .await
        .expect("the request does not run");
    app.stop();
    // The server has heard it: it takes no connection any more.
    svc_tests::eventually(
        async || match tokio::net::TcpStream::connect(app.address()).await {
            Ok(_) => Err("open".to_owned()),
            Err(_) => Ok(()),
        },
    )
    .await;
    assert!(!answer.is_finished());
    slow.end.notify_one();
    assert_eq!(answer.await.unwrap(), r#"{"data":{"slow":true}}"#);
    app.stopped().await;
}

#[tokio::test]
async fn a_silent_client_is_disconnected() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    // The other time-outs come after the test has given up.
    let config = HttpConfig {
        header_timeout: Duration::from_secs(3_600),
        ..HttpConfig::default()
    };
    let server = svc::Server::bind(([127, 0, 0, 1], 0))
        .await
        .unwrap()
        .http(config);
    let server = server.header_timeout(Duration::from_millis(200));
    let address = server.local_addr();
    tokio::spawn(server.run(router().await, std::future::pending()));
    for head in [
        "",
        "P",
        "PRI * HTTP/2",
        "POST /graphql HTTP/1.1\r\nhost: x\r\n",
    ] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "the connection is still open after {head:?}");
    }
}
