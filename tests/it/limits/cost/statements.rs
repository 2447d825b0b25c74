//! Which statements are kept prepared.

use serde_json::json;
use svc::{Limits, SvcConfig};
use svc_tests::App;

use super::{app, app_with};

/// The texts of the prepared statements that read from users.
async fn kept(app: &App) -> Vec<String> {
    let prepared = app
        .query("{ prepared(limit: 1000) { statement } }")
        .await
        .data();
    let texts = prepared["prepared"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["statement"].as_str().unwrap().to_owned());
    texts.filter(|text| text.contains("v_user")).collect()
}

fn ors(count: usize) -> serde_json::Value {
    json!({ "w": { "OR": (0..count).map(|n| json!({ "id": { "eq": n } })).collect::<Vec<_>>() } })
}

const DOCUMENT: &str = "query ($w: UserWhere) { users(where: $w) { id name } }";

/// A statement is cached from its second use on.
#[tokio::test]
async fn only_repeated_statements_are_cached() {
    let app = app().await;
    for count in 1..30 {
        app.query_with(DOCUMENT, ors(count)).await.data();
    }
    assert_eq!(kept(&app).await, Vec::<String>::new());
    for _ in 0..2 {
        app.query_with(DOCUMENT, ors(40)).await.data();
    }
    assert_eq!(kept(&app).await.len(), 1);
}

#[tokio::test]
async fn answers_do_not_depend_on_cached_statements() {
    let app = app().await;
    for document in [
        "{ users { id name tags meta address { city } pets { name } posts { title author { name } } } }",
        "{ userPages(first: 2, where: {id: {gt: 1}}) { totalCount nodes { id name } pageInfo { hasNextPage endCursor } } }",
        "{ userTotals(where: {name: {startswith: \"user\"}}) { count max { id } groups(by: [NAME]) { count key { name } } } }",
        "{ user(id: 3) { name posts(orderBy: [{title: DESC}]) { title } } }",
        "{ searched(search: {conditions: {id: {lt: 4}}}) within(where: {id: {in: [1, 2]}}) }",
    ] {
        let first = app.query(document).await;
        first.data();
        for _ in 0..3 {
            assert_eq!(app.query(document).await.text, first.text);
        }
    }
}

#[tokio::test]
async fn cached_statements_are_bounded() {
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            statement_cache: 20_000,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let app = app_with(config, Limits::default()).await;
    for count in 1..60 {
        for _ in 0..2 {
            app.query_with(DOCUMENT, ors(count)).await.data();
        }
        let bytes: usize = kept(&app).await.iter().map(String::len).sum();
        assert!(bytes <= 20_000, "{bytes} bytes are kept");
    }
    assert!(kept(&app).await.len() > 10);
    // One that is longer than a sixteenth is never kept, and pushes out none.
    let before = kept(&app).await.len();
    for _ in 0..3 {
        app.query_with(DOCUMENT, ors(190)).await.data();
    }
    assert!(kept(&app).await.len() >= before);
    let nothing = SvcConfig {
        database: svc::DatabaseConfig {
            statement_cache: 0,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let app = app_with(nothing, Limits::default()).await;
    for _ in 0..3 {
        assert_eq!(
            app.query_with(DOCUMENT, ors(3)).await.data()["users"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }
    assert_eq!(kept(&app).await, Vec::<String>::new());
}
