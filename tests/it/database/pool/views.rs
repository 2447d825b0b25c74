//! Views that change while connections have statements prepared that read them.

use serde_json::json;
use svc::prelude::*;

use super::{serve, two_rows};

#[tokio::test]
async fn a_stale_statement_is_prepared_again_after_a_view_change() {
    let (database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
    // Another type of a column makes the statement stale.
    database
        .execute(
            "DROP VIEW v_driven;
             CREATE VIEW v_driven AS SELECT i AS id, ('new ' || i)::varchar AS name FROM generate_series(1, 1) AS i",
        )
        .await;
    assert_eq!(
        app.query("{ rows { id name } }").await.data(),
        json!({ "rows": [{ "id": 1, "name": "new 1" }] })
    );
    database
        .execute("CREATE OR REPLACE VIEW v_driven AS SELECT i AS id, 'more'::varchar AS name FROM generate_series(5, 5) AS i")
        .await;
    assert_eq!(
        app.query("{ rows { id name } }").await.data(),
        json!({ "rows": [{ "id": 5, "name": "more" }] })
    );
    assert_eq!(
        database
            .statements("SELECT * FROM (SELECT t.\"id\", t.\"name\" FROM \"v_driven\"")
            .await,
        3
    );
}

/// Columns with new types, and new views, are noticed without a restart.
#[tokio::test]
async fn the_catalog_follows_view_changes() {
    let (database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
    database
        .execute(
            "DROP VIEW v_driven;
             CREATE VIEW v_driven AS SELECT i::bigint AS id, 'row ' || i AS name FROM generate_series(1, 2) AS i",
        )
        .await;
    app.until_data("{ rows { id name } }", &two_rows()).await;
    database
        .execute("ALTER VIEW v_sleep RENAME TO v_none")
        .await;
    svc_tests::eventually(async || {
        let ready = app.get("/ready").await;
        if ready.text.contains("missing in the database: v_sleep") {
            return Ok(());
        }
        assert_eq!(
            app.query("{ sleep { id } }").await.code(),
            "SERVICE_UNAVAILABLE"
        );
        Err(ready.text)
    })
    .await;
    database
        .execute("CREATE VIEW v_sleep AS SELECT 7 AS id")
        .await;
    app.until_data("{ sleep { id } }", &json!({ "sleep": { "id": 7 } }))
        .await;
}
