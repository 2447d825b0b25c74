//! `/ready` and the log tell of fields that their views cannot give.

use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_thing")]
struct Thing {
    id: i32,
    price: Option<i32>,
    #[relation(from = "maker_id")]
    maker: Option<One<Maker>>,
}

#[svc_type(sql_source = "v_maker")]
struct Maker {
    id: i32,
    name: String,
}

#[svc::query]
async fn things() -> Vec<Thing>;
#[svc::query]
async fn makers() -> Vec<Maker>;

const SQL: &str = "
CREATE VIEW v_thing AS SELECT 1 AS id, 2 AS price, 3 AS maker_id;
CREATE VIEW v_maker AS SELECT jsonb_build_object('id', 3, 'name', 'Ada') AS data;";

/// Waits until `/ready` has a text, or is fine.
async fn ready(app: &App, text: Option<&str>) {
    svc_tests::eventually(async || {
        let reply = app.get("/ready").await;
        let fits = match text {
            Some(text) => reply.status == 503 && reply.text.contains(text),
            None => reply.status == 200,
        };
        if fits { Ok(()) } else { Err(reply.text) }
    })
    .await;
}

#[tokio::test]
async fn a_missing_column_is_named_by_ready_until_it_returns() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![things, makers]);
    let app = App::serve(options).await;
    ready(&app, None).await;
    let replace =
        |columns: &str| format!("DROP VIEW v_thing; CREATE VIEW v_thing AS SELECT {columns}");
    database
        .execute(&replace("1 AS id, 2 AS cost, 3 AS maker_id"))
        .await;
    ready(
        &app,
        Some("`v_thing` has no column that fits the field `price`, and no `data` column"),
    )
    .await;
    database
        .execute(&replace("1 AS id, 1.5::numeric AS price, 3 AS maker_id"))
        .await;
    ready(
        &app,
        Some("`v_thing` has no column that fits the field `price`, and no `data` column"),
    )
    .await;
    database.execute(&replace("1 AS id, 2 AS price")).await;
    ready(
        &app,
        Some("a relation needs the key `maker_id` of `v_thing`"),
    )
    .await;
    database
        .execute(&replace("1 AS id, 2 AS price, 3 AS maker_id"))
        .await;
    ready(&app, None).await;
}

#[tokio::test]
async fn an_unreadable_view_is_named_by_ready_until_it_is_granted() {
    let database = TestDatabase::new(SQL).await;
    let role = format!("reader_of_{}", database.name());
    let grant = format!(
        "CREATE ROLE {role} LOGIN; GRANT SELECT ON v_maker TO {role}; GRANT SELECT (id, price) ON v_thing TO {role}"
    );
    database.execute(&grant).await;
    let url = database
        .url()
        .replace("postgres://postgres@", &format!("postgres://{role}@"));
    assert!(url.contains(&role), "{url}");
    let app = App::serve(
        AppOptions::new()
            .database_url(url)
            .queries(queries![things, makers]),
    )
    .await;
    ready(
        &app,
        Some("the service may not read the column `maker_id` of `v_thing`"),
    )
    .await;
    database
        .execute(&format!(
            "GRANT SELECT ON v_thing TO {role}; REVOKE SELECT ON v_maker FROM {role}"
        ))
        .await;
    ready(
        &app,
        Some("the service may not read `v_maker`: GRANT SELECT ON v_maker TO its role"),
    )
    .await;
    database
        .execute(&format!("GRANT SELECT ON v_maker TO {role}"))
        .await;
    ready(&app, None).await;
}
