//! GraphiQL in a real browser.

use serde_json::Value;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, chromium, node};

/// A person.
#[svc_type(sql_source = "v_person")]
struct Person {
    name: String,
}

/// People.
#[svc::query]
async fn people() -> Vec<Person>;

const SQL: &str = "CREATE VIEW v_person AS SELECT 1 AS id, 'Ada Lovelace' AS name";

async fn app(config: SvcConfig) -> App {
    let database = TestDatabase::new(SQL).await;
    App::serve(AppOptions::new().config(config).database_url(database.url()).queries(queries![people])).await
}

#[tokio::test(flavor = "multi_thread")]
async fn graphiql_runs_a_query_and_shows_the_docs_without_any_other_host() {
    let app = app(SvcConfig::default()).await;
    let url = app.url("/graphql");
    let folder = tempfile::tempdir().unwrap();
    let screenshot = folder.path().join("graphiql.png");
    let mut command = node("graphiql.mjs");
    command.arg(url).arg(&screenshot).env("CHROMIUM", chromium());
    command.env("QUERY", "{ people { name } }").env("EXPECT", "Ada Lovelace").env("EXPECT_DOCS", "Query");
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("node");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    for list in ["foreignRequests", "consoleErrors", "cspViolations"] {
        assert_eq!(report[list], serde_json::json!([]), "{report:#}");
    }
    assert!(std::fs::metadata(&screenshot).unwrap().len() > 10_000, "the screenshot is empty");
    if let Some(keep) = std::env::var_os("SVC_TEST_SCREENSHOTS") {
        std::fs::copy(&screenshot, std::path::Path::new(&keep).join("graphiql.png")).unwrap();
    }
}

#[tokio::test]
async fn there_is_no_page_in_production() {
    let config = SvcConfig { environment: svc::Environment::Production, ..SvcConfig::default() };
    let app = app(config).await;
    let reply = app.send(app.request("GET", "/graphql").header("accept", "text/html,*/*;q=0.8")).await;
    assert_eq!(reply.status, 404);
    assert_eq!(app.get("/graphql/assets/graphiql.js").await.status, 404);
    assert_eq!(app.query("{ __schema { queryType { name } } }").await.message(), "introspection is switched off");
}

#[tokio::test]
async fn the_page_works_below_a_prefix_and_allows_nothing_foreign() {
    let app = app(SvcConfig::default()).await;
    let reply = app.send(app.request("GET", "/graphql").header("accept", "text/html")).await;
    assert_eq!(reply.status, 200);
    assert!(reply.text.contains("src=\"graphql/assets/graphiql.js\""), "{}", reply.text);
    let policy = reply.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'nonce-"), "{policy}");
    let asset = app.get("/graphql/assets/graphiql.js").await;
    assert_eq!((asset.status, asset.headers["content-encoding"].to_str().unwrap()), (200, "gzip"));
}
