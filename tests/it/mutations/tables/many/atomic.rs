//! Mutations by filter in an operation with `@atomic`.

use serde_json::{Value, json};
use svc::DatabaseConfig;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{BEFORE, SQL, options, stored};

/// The service, with one connection for all requests.
async fn serve() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let config = SvcConfig {
        database: DatabaseConfig {
            pool_size: 1,
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = options(&database)
        .config(config)
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options).await;
    (database, app)
}

async fn sent(app: &App, document: &str) -> Value {
    app.query_with(document, json!({})).await.json()
}

#[tokio::test]
async fn rows_are_kept_if_a_later_field_fails() {
    let (database, app) = serve().await;
    let document = r#"mutation @atomic {
        remove(where: { shelf: { eq: "a" } }) { id }
        change(where: { id: { eq: 5 } }, input: { price: 1000 }) { id }
    }"#;
    let answer = sent(&app, document).await;
    assert_eq!(answer["data"], Value::Null, "{answer}");
    assert_eq!(stored(&database).await, BEFORE);
}

#[tokio::test]
async fn a_filter_selects_by_the_writes_of_earlier_fields() {
    let (database, app) = serve().await;
    let document = r#"mutation @atomic {
        moved: change(where: { id: { in: [1, 2] } }, input: { shelf: "c" }) { id }
        cheaper: change(where: { shelf: { eq: "c" } }, input: { price: 5 }) { id shelf }
        removed: remove(where: { price: { lt: 10 }, owner: { eq: "bob" } }) { id }
    }"#;
    let answer = sent(&app, document).await;
    let expected = json!({
        "moved": [{ "id": 1 }, { "id": 2 }],
        "cheaper": [{ "id": 1, "shelf": "c" }, { "id": 2, "shelf": "c" }],
        "removed": [{ "id": 2 }],
    });
    assert_eq!(answer, json!({ "data": expected }));
    assert_eq!(
        stored(&database).await,
        "1 ada c 5; 3 ada b 30; 4 ada a 40; 5 bob b 50"
    );
}
