//! GraphiQL in a real browser.

use std::path::Path;

use serde_json::Value;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, chromium, node, run_beside};

/// A person.
#[svc_type(sql_source = "v_person")]
struct Person {
    name: String,
}

/// People.
#[svc::query]
async fn people() -> Vec<Person>;

/// A greeting.
#[svc::query]
fn greet(ctx: &Context<'_>, name: String) -> String {
    format!("hello {name}, {}", ctx.header("x-test").unwrap_or("nobody"))
}

const SQL: &str = "CREATE VIEW v_person AS SELECT 1 AS id, 'Ada Lovelace' AS name";

async fn app(config: SvcConfig) -> App {
    let url = TestDatabase::shared("graphiql", SQL).await;
    App::serve(
        AppOptions::new()
            .config(config)
            .database_url(url)
            .queries(queries![people, greet]),
    )
    .await
}

/// Opens a page in the browser and runs a query in it; what the script reports.
async fn browse(url: String, screenshot: &Path, environment: &[(&'static str, String)]) -> Value {
    let mut command = node("graphiql.mjs");
    command
        .arg(url)
        .arg(screenshot)
        .env("CHROMIUM", chromium())
        .envs(environment.iter().cloned());
    // A browser takes long beside other tests.
    command.env("TIMEOUT_MS", "120000");
    let output = run_beside(command).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn graphiql_runs_and_explains_a_query_and_shows_docs_without_other_hosts() {
    let app = app(SvcConfig::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let screenshot = folder.path().join("graphiql.png");
    let environment = [
        ("QUERY", "{ people { name } }".to_owned()),
        ("EXPECT", "Ada Lovelace".to_owned()),
        ("EXPECT_DOCS", "Query".to_owned()),
        ("EXPLAIN", "\"way\": \"planned\"".to_owned()),
    ];
    let report = browse(app.url("/graphql"), &screenshot, &environment).await;
    for list in ["foreignRequests", "consoleErrors", "cspViolations"] {
        assert_eq!(report[list], serde_json::json!([]), "{report:#}");
    }
    assert!(
        std::fs::metadata(&screenshot).unwrap().len() > 10_000,
        "the screenshot is empty"
    );
    if let Some(keep) = std::env::var_os("SVC_TEST_SCREENSHOTS") {
        std::fs::copy(&screenshot, Path::new(&keep).join("graphiql.png")).unwrap();
    }
}

/// The example query runs unchanged; a link sets the query and its variables, and headers stay.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_opens_with_an_example_query_or_that_of_a_link() {
    let app = app(SvcConfig::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let screenshot = folder.path().join("graphiql.png");
    let as_opened = |expect: &str| {
        [
            ("QUERY", "as opened".to_owned()),
            ("EXPECT", expect.to_owned()),
        ]
    };
    browse(app.url("/graphql"), &screenshot, &as_opened("Ada Lovelace")).await;
    let link = "/graphql?query=query%20Greet(%24name%3A%20String!)%20%7B%20greet(name%3A%20%24name)%20%7D\
                &variables=%7B%22name%22%3A%22Grace%22%7D";
    let headers = r#"{"X-Test":"kept"}"#.to_owned();
    let environment = [
        as_opened("hello Grace, kept").as_slice(),
        &[("HEADERS", headers.clone())],
    ]
    .concat();
    let report = browse(app.url(link), &screenshot, &environment).await;
    assert_eq!(report["headersAfterReload"], headers.as_str());
}

#[tokio::test]
async fn opening_a_link_in_graphiql_does_not_run_its_query() {
    let app = app(SvcConfig::default()).await;
    let link = "/graphql?query=%7B%20people%20%7B%20name%20%7D%20%7D";
    let reply = app
        .send(
            app.request("GET", link)
                .header("accept", "text/html,*/*;q=0.8"),
        )
        .await;
    assert!(
        reply.status == 200 && reply.text.contains("data-question=") && !reply.text.contains("Ada"),
        "{}",
        reply.text
    );
    assert!(
        reply.text.contains("people(limit: 10) {\n    name\n"),
        "{}",
        reply.text
    );
    assert_eq!(
        app.get(link).await.data()["people"][0]["name"],
        "Ada Lovelace"
    );
    let production = SvcConfig {
        environment: svc::Environment::Production,
        ..SvcConfig::default()
    };
    let reply = self::app(production).await;
    let reply = reply
        .send(
            reply
                .request("GET", link)
                .header("accept", "text/html,*/*;q=0.8"),
        )
        .await;
    assert_eq!(reply.data()["people"][0]["name"], "Ada Lovelace");
}

#[tokio::test]
async fn graphiql_is_off_in_production() {
    let config = SvcConfig {
        environment: svc::Environment::Production,
        ..SvcConfig::default()
    };
    let app = app(config).await;
    let reply = app
        .send(
            app.request("GET", "/graphql")
                .header("accept", "text/html,*/*;q=0.8"),
        )
        .await;
    assert_eq!(reply.status, 404);
    assert_eq!(app.get("/graphql/assets/graphiql.js").await.status, 404);
    assert_eq!(
        app.query("{ __schema { queryType { name } } }")
            .await
            .message(),
        "introspection is switched off"
    );
}

#[tokio::test]
async fn the_page_uses_relative_urls_and_a_strict_content_policy() {
    let app = app(SvcConfig::default()).await;
    let reply = app
        .send(app.request("GET", "/graphql").header("accept", "text/html"))
        .await;
    assert_eq!(reply.status, 200);
    assert!(
        reply.text.contains("src=\"graphql/assets/graphiql.js\""),
        "{}",
        reply.text
    );
    let policy = reply.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'nonce-"),
        "{policy}"
    );
    let asset = app.get("/graphql/assets/graphiql.js").await;
    assert_eq!(
        (
            asset.status,
            asset.headers["content-encoding"].to_str().unwrap()
        ),
        (200, "gzip")
    );
}
