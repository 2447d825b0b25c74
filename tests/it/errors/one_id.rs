//! One identifier for an error: the answer has it, and so has one line of the log, with the
//! identifier of the request.

use serde_json::{Value, json};
use svc::SvcConfig;
use svc_tests::{App, Events, Log, Socket, TestDatabase};

use super::service::{SQL, options};

async fn service() -> (TestDatabase, App, Log) {
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let app = App::serve(options(&database, SvcConfig::default())).await;
    (database, app, log)
}

/// The lines that tell of an error under an identifier. The security log has events of its own.
fn lines(log: &Log, id: &str) -> Vec<String> {
    let field = format!("error_id={id} ");
    log.text()
        .lines()
        .filter(|line| line.contains(&field))
        .map(str::to_owned)
        .collect()
}

/// Fails unless one line has the error, with its request and this cause.
fn is_found(log: &Log, errors: &Value, request: &str, cause: &str) {
    let id = errors[0]["extensions"]["errorId"]
        .as_str()
        .unwrap_or_else(|| panic!("no errorId: {errors}"));
    let found = lines(log, id);
    let [line] = &found[..] else {
        panic!("{} lines have {id}: {}", found.len(), log.text())
    };
    assert!(
        line.contains(&format!("request_id=\"{request}\"")) && line.contains(cause),
        "{line}"
    );
    assert_eq!(errors[0]["message"], "internal server error");
}

async fn ask(app: &App, request: &str, fails: &str, document: &str) -> svc_tests::Reply {
    let sent = app
        .request("POST", "/graphql")
        .json(&json!({ "query": document }));
    app.send(
        sent.header("x-request-id", request)
            .header("x-fails", fails),
    )
    .await
}

#[tokio::test]
async fn each_kind_of_error_is_logged_under_its_id() {
    let (_database, app, log) = service().await;
    for (request, fails, document, cause) in [
        ("resolver", "", "{ broken }", "the kettle is broken"),
        ("panic", "", "{ panics }", "the kettle exploded"),
        (
            "database",
            "",
            "{ shirts { quotient } }",
            "division by zero",
        ),
        (
            "value",
            "",
            "{ shirts(limit: 1, where: {id: {eq: 1}}) { size } }",
            "is not one of its enum",
        ),
        ("scope", "scope", "{ fine }", "the scope has a hole"),
        (
            "document",
            "",
            r#"{ fuse(fuse: "boom") }"#,
            "a short circuit",
        ),
    ] {
        let reply = ask(&app, request, fails, document).await;
        assert_eq!(reply.headers["x-request-id"], request, "{}", reply.text);
        is_found(&log, &reply.json()["errors"], request, cause);
    }
}

/// The client cannot ask about an error that it does not see, but operators of the service can.
#[tokio::test]
async fn errors_discarded_by_a_null_parent_are_logged() {
    let (_database, app, log) = service().await;
    let reply = ask(&app, "null", "", "{ a: lost b: broken lost }").await;
    assert_eq!(reply.json()["data"], Value::Null);
    is_found(
        &log,
        &reply.json()["errors"],
        "null",
        "nobody is told of this",
    );
    assert!(
        log.text().contains("the kettle is broken"),
        "{}",
        log.text()
    );
}

/// The request continues, as nothing of it has failed.
#[tokio::test]
async fn a_panic_in_a_hook_is_logged_with_its_request_id() {
    let (_database, app, log) = service().await;
    ask(&app, "bent", "hook", "{ fine }").await.data();
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("rate limits panicked") && !line.contains("svc::security"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    let id = line
        .split_once("error_id=")
        .unwrap()
        .1
        .split(' ')
        .next()
        .unwrap();
    assert_eq!(lines(&log, id).len(), 1);
    assert!(
        line.contains("request_id=\"bent\"") && line.contains("the hook is bent"),
        "{line}"
    );
}

#[tokio::test]
async fn errors_on_a_socket_have_the_id_of_its_request() {
    let (_database, app, log) = service().await;
    let mut socket = Socket::open_with(&app, &[("x-request-id", "socket-1")]).await;
    socket.send(&json!({ "type": "connection_init" })).await;
    socket.next().await;
    socket.subscribe("1", "{ broken }").await;
    let answer = socket.next().await;
    is_found(
        &log,
        &answer["payload"]["errors"],
        "socket-1",
        "the kettle is broken",
    );
    assert_eq!(socket.next().await["type"], "complete");
    socket.subscribe("2", "subscription { ticks }").await;
    assert_eq!(socket.next().await["payload"]["data"]["ticks"], 1);
    is_found(
        &log,
        &socket.next().await["payload"]["errors"],
        "socket-1",
        "the clock stands still",
    );
    assert_eq!(socket.next().await["type"], "complete");
    socket.subscribe("3", r#"{ fuse(fuse: "boom") }"#).await;
    is_found(
        &log,
        &socket.next().await["payload"],
        "socket-1",
        "a short circuit",
    );
}

#[tokio::test]
async fn errors_of_a_stream_have_the_id_of_its_request() {
    let (_database, app, log) = service().await;
    let sent = app
        .request("POST", "/graphql")
        .json(&json!({ "query": "subscription { ticks }" }));
    let events = Events::of(
        sent.header("accept", "text/event-stream")
            .header("x-request-id", "stream-1"),
    )
    .await;
    let text = events.whole().await;
    let failed = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .find(|data| data.contains("errors"));
    let failed: Value = serde_json::from_str(failed.unwrap_or_else(|| panic!("{text}"))).unwrap();
    is_found(
        &log,
        &failed["errors"],
        "stream-1",
        "the clock stands still",
    );
}
