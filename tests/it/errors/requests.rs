//! The request log: a line for each request, with what is known of it.

use serde_json::{Value, json};
use svc::auth::UserContext;
use svc::axum::Extension;
use svc::{LogConfig, ProtectionConfig, SvcConfig, create_svc_app};
use svc_tests::{App, Events, Log, Socket, TestDatabase, eventually, is_alone};

use super::service::{SQL, logging, options, request_line, request_lines};

async fn service(config: SvcConfig) -> (TestDatabase, App, Log) {
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let app = App::serve(options(&database, config)).await;
    (database, app, log)
}

fn post(app: &App, id: &str, body: &Value) -> reqwest::RequestBuilder {
    app.request("POST", "/graphql")
        .header("x-request-id", id)
        .json(body)
}

async fn ask(app: &App, id: &str, document: &str) {
    app.send(post(app, id, &json!({ "query": document }))).await;
}

/// The number in a field of a line.
fn number(line: &str, field: &str) -> f64 {
    let value = line
        .split_once(&format!(" {field}="))
        .unwrap_or_else(|| panic!("no {field} in {line}"))
        .1;
    value.split(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_request_is_logged_with_its_operation_times_and_statements() {
    if !is_alone(
        module_path!(),
        "a_request_is_logged_with_its_operation_times_and_statements",
    ) {
        return;
    }
    let (_database, app, log) = service(logging()).await;
    ask(
        &app,
        "a",
        "query Sizes { a: shirts { id } b: shirts(limit: 1) { id } }",
    )
    .await;
    let parts = [
        "kind=\"query\"",
        "operation=\"Sizes\"",
        "status=200",
        "method=\"POST\"",
        "path=\"/graphql\"",
        "transport=\"http\"",
        "errors=0",
        "authenticated=false",
    ];
    let line = request_line(&log, "a", &parts);
    assert_eq!(number(&line, "statements"), 2.0, "{line}");
    assert!(
        number(&line, "sql_ms") > 0.0 && number(&line, "duration_ms") > 0.0,
        "{line}"
    );
    assert!(number(&line, "gate_ms") >= 0.0, "{line}");
    ask(&app, "b", "{ broken }").await;
    request_line(&log, "b", &["errors=1", "status=200", "statements=0"]);
    ask(&app, "c", "{ nothing }").await;
    request_line(
        &log,
        "c",
        &["code=\"GRAPHQL_VALIDATION_FAILED\"", "errors=0"],
    );
    app.get("/health").await;
    app.get("/ready").await;
    assert_eq!(
        log.text().matches("svc::request").count(),
        3,
        "probes are not logged: {}",
        log.text()
    );
}

#[tokio::test]
async fn users_are_logged_if_configured_and_names_are_escaped() {
    if !is_alone(
        module_path!(),
        "users_are_logged_if_configured_and_names_are_escaped",
    ) {
        return;
    }
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let name = format!(
        "ada\n2026-01-01T00:00:00Z ERROR forged\u{1b}[31m{}",
        "x".repeat(10_000)
    );
    for users in [false, true] {
        let config = SvcConfig {
            log: LogConfig {
                users,
                ..logging().log
            },
            ..SvcConfig::default()
        };
        let router = create_svc_app(options(&database, config)).await.unwrap();
        let app = App::serve_router(router.layer(Extension(UserContext::new(name.as_str())))).await;
        let id = format!("users-{users}");
        ask(
            &app,
            &id,
            &format!("query {} {{ fine }}", "N".repeat(500_000)),
        )
        .await;
        let line = request_line(&log, &id, &["authenticated=true", "operation=\"NNNN"]);
        assert!(line.len() < 2_000, "{} characters", line.len());
        assert_eq!(line.contains("user_id="), users, "{line}");
        assert_eq!(line.contains(r"ada\n2026"), users, "{line}");
    }
    assert!(
        !log.text()
            .lines()
            .any(|line| line.starts_with("2026-01-01"))
            && !log.text().contains('\u{1b}')
    );
}

#[tokio::test]
async fn a_batch_and_each_of_its_operations_are_logged() {
    if !is_alone(
        module_path!(),
        "a_batch_and_each_of_its_operations_are_logged",
    ) {
        return;
    }
    let protection = ProtectionConfig {
        batch_max: 5,
        ..ProtectionConfig::default()
    };
    let (_database, app, log) = service(SvcConfig {
        protection,
        ..logging()
    })
    .await;
    let one = |name: &str| json!({ "query": format!("query {name} {{ shirts {{ id }} }}") });
    app.send(post(
        &app,
        "batch",
        &json!([one("One"), one("Two"), { "query": "{ nothing }" }, 5]),
    ))
    .await;
    let lines = request_lines(&log, "batch");
    assert_eq!(lines.len(), 5, "{lines:#?}");
    let of = |part: &str| {
        lines
            .iter()
            .filter(|line| line.contains(part))
            .collect::<Vec<_>>()
    };
    let [whole] = of("transport=\"http\"")[..] else {
        panic!("{lines:#?}")
    };
    assert!(
        whole.contains("operations=4")
            && whole.contains("statements=2")
            && whole.contains("status=200"),
        "{whole}"
    );
    for part in [
        "\"One\"",
        "\"Two\"",
        "GRAPHQL_VALIDATION_FAILED",
        "BAD_REQUEST",
    ] {
        assert!(
            matches!(of(part)[..], [line] if line.contains("transport=\"batch\"")),
            "{part} in {lines:#?}"
        );
    }
}

#[tokio::test]
async fn socket_and_stream_operations_and_subscription_ends_are_logged() {
    if !is_alone(
        module_path!(),
        "socket_and_stream_operations_and_subscription_ends_are_logged",
    ) {
        return;
    }
    let (_database, app, log) = service(logging()).await;
    let mut socket = Socket::open_with(&app, &[("x-request-id", "socket")]).await;
    request_line(&log, "socket", &["status=101", "method=\"GET\""]);
    socket.send(&json!({ "type": "connection_init" })).await;
    socket.next().await;
    for (id, document) in [
        ("1", "query Read { shirts { id } }"),
        ("2", "subscription Clock { ticks }"),
    ] {
        socket.subscribe(id, document).await;
        while socket.next().await["type"] != "complete" {}
    }
    log.has("a subscription has ended").await;
    let lines = request_lines(&log, "socket");
    let found = |parts: &[&str]| {
        lines
            .iter()
            .filter(|line| parts.iter().all(|part| line.contains(part)))
            .count()
    };
    assert_eq!(
        found(&[
            "transport=\"websocket\"",
            "operation=\"Read\"",
            "statements=1"
        ]),
        1,
        "{lines:#?}"
    );
    assert_eq!(
        found(&[": request ", "operation=\"Clock\"", "kind=\"subscription\""]),
        1,
        "{lines:#?}"
    );
    assert_eq!(
        found(&["has ended", "operation=\"Clock\"", "events=2", "errors=1"]),
        1,
        "{lines:#?}"
    );

    let sent = post(
        &app,
        "stream",
        &json!({ "query": "subscription Clock { ticks }" }),
    );
    Events::of(sent.header("accept", "text/event-stream"))
        .await
        .whole()
        .await;
    // The last line comes when the body is given up, which may be after its end has been sent.
    eventually(async || {
        let lines = request_lines(&log, "stream");
        let has = |parts: [&str; 2]| {
            lines
                .iter()
                .any(|line| parts.iter().all(|part| line.contains(part)))
        };
        let are_all =
            has(["kind=\"subscription\"", "status=200"]) && has(["has ended", "events=2"]);
        if are_all {
            Ok(())
        } else {
            Err(format!("{lines:#?}"))
        }
    })
    .await;
}

#[tokio::test]
async fn requests_are_not_logged_by_default() {
    if !is_alone(module_path!(), "requests_are_not_logged_by_default") {
        return;
    }
    let (_database, app, log) = service(SvcConfig::default()).await;
    ask(&app, "quiet", "{ fine }").await;
    assert!(!log.text().contains("svc::request"), "{}", log.text());
}
