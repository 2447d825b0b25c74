//! Clients that others wrote, in Node and in a browser.

use serde_json::{Value, json};
use svc_tests::{chromium, node, run_beside};

use super::service::serve;

/// Runs a script; what it prints, a value for each line.
async fn run(command: std::process::Command) -> Vec<Value> {
    let output = run_beside(command).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn third_party_clients_subscribe() {
    let (app, watched) = serve().await;
    let mut command = node("subscriptions.mjs");
    command.arg(app.url("/graphql"));
    let reports = run(command).await;
    let names: Vec<_> = reports
        .iter()
        .map(|report| report["client"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "graphql-ws",
            "graphql-sse",
            "Apollo Client over WebSocket",
            "Apollo Client over multipart",
            "urql over WebSocket",
            "urql over server-sent events",
            "Relay’s network layer",
        ]
    );
    // What a client has stopped is over here, too.
    watched.until_streams(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn graphiql_subscribes() {
    let (app, _) = serve().await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = node("graphiql.mjs");
    command
        .arg(app.url("/graphql"))
        .arg(folder.path().join("graphiql.png"))
        .env("CHROMIUM", chromium());
    command
        .env("QUERY", "subscription { ticks(count: 3) }")
        .env("EXPECT", "\"ticks\": 3");
    // A browser takes long beside other tests.
    command
        .env("EXPECT_DOCS", "Subscription")
        .env("TIMEOUT_MS", "120000");
    let report = &run(command).await[0];
    for list in ["foreignRequests", "consoleErrors", "cspViolations"] {
        assert_eq!(report[list], json!([]), "{report:#}");
    }
}

/// The page of the book, as a program would serve it.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_the_book_subscribes() {
    let book = include_str!("../../../docs/subscription-transports.md");
    let page = book
        .split("```html\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a page in the book");
    let page = page.replace(
        "subscription { postChanged { id title } }",
        "subscription { ticks(count: 3) }",
    );
    let watched = super::service::Watched::new();
    let options = super::service::options(&watched);
    let router = svc::create_svc_app(options).await.unwrap();
    let page = svc::axum::response::Html(page);
    let route = svc::axum::routing::get(move || std::future::ready(page.clone()));
    let app = svc_tests::App::serve_router(router.route("/live", route)).await;
    let mut command = node("live_page.mjs");
    command.arg(app.url("/live")).env("CHROMIUM", chromium());
    let report = &run(command).await[0];
    assert_eq!(
        report["items"],
        json!([r#"{"ticks":1}"#, r#"{"ticks":2}"#, r#"{"ticks":3}"#]),
        "{report:#}"
    );
    assert_eq!(report["errors"], json!([]), "{report:#}");
}
