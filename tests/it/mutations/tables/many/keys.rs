//! Ids of a view that are not the keys of its table.

use serde_json::Value;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::failure;
use crate::mutations::ready;

#[svc_type(sql_source = "v_event")]
struct Event {
    id: DateTime<Utc>,
}

#[svc_type(sql_source = "v_named")]
struct Named {
    id: String,
}

#[svc_type(sql_source = "v_both")]
struct Both {
    id: i32,
}

#[svc_type(sql_source = "v_public")]
struct Public {
    id: Uuid,
}

#[svc_input]
struct Note {
    note: Option<String>,
}

#[svc::query]
async fn events() -> Vec<Event>;
#[svc::mutation(update = "tb_event", key = "at", by = filter)]
async fn change_events(input: Note) -> Vec<Event>;
#[svc::mutation(delete = "tb_event", key = "at", by = filter)]
async fn remove_events() -> Vec<Event>;
#[svc::mutation(delete = "tb_thing", by = filter)]
async fn remove_named() -> Vec<Named>;
#[svc::mutation(delete = "tb_thing", by = filter)]
async fn remove_both() -> Vec<Both>;
#[svc::mutation(delete = "tb_thing", by = filter)]
async fn remove_public() -> Vec<Public>;

const SQL: &str = "
    CREATE TABLE tb_event (at timestamptz PRIMARY KEY, note text);
    INSERT INTO tb_event VALUES ('2024-05-06 07:08:09+00');
    CREATE VIEW v_event AS SELECT at AS id FROM tb_event;
    CREATE TABLE tb_thing (id int PRIMARY KEY);
    CREATE TABLE tb_other (id int PRIMARY KEY);
    INSERT INTO tb_thing VALUES (1), (2);
    INSERT INTO tb_other VALUES (7);
    CREATE VIEW v_named AS SELECT 'thing ' || id AS id FROM tb_thing;
    CREATE VIEW v_both AS SELECT id FROM tb_thing UNION ALL SELECT id FROM tb_other;
    CREATE VIEW v_public AS SELECT gen_random_uuid() AS id FROM tb_thing;";

async fn serve() -> (TestDatabase, App) {
    let database = TestDatabase::copy_of("many_rows_keys", SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![events])
        .mutations(mutations![
            change_events,
            remove_events,
            remove_named,
            remove_both
        ]);
    let app = App::serve(options).await;
    (database, app)
}

async fn stored(database: &TestDatabase) -> i64 {
    let sql = "SELECT (SELECT count(*) FROM tb_event WHERE note IS NULL) + (SELECT count(*) FROM tb_thing)";
    database.value(sql).await
}

/// The mistake is the program's: the rows are neither skipped nor is the client blamed.
#[tokio::test]
async fn ids_in_another_form_than_the_keys_are_an_internal_error() {
    let (database, app) = serve().await;
    for mutation in [
        r#"changeEvents(where: { id: { isnull: false } }, input: { note: "x" }) { id }"#,
        "removeEvents(where: { id: { isnull: false } }) { id }",
        r#"removeNamed(where: { id: { eq: "thing 1" } }) { id }"#,
    ] {
        let answer: Value = app
            .query(&format!("mutation {{ {mutation} }}"))
            .await
            .json();
        assert_eq!(
            failure(&answer).0,
            "INTERNAL_SERVER_ERROR",
            "{mutation}: {answer}"
        );
        assert_eq!(stored(&database).await, 3, "{mutation}");
    }
}

#[tokio::test]
async fn rows_of_another_table_undo_all() {
    let (database, app) = serve().await;
    let remove = "mutation { removeBoth(where: { id: { gt: 1 } }) { id } }";
    let answer: Value = app.query(remove).await.json();
    assert_eq!(
        failure(&answer),
        ("CONFLICT", "conflict:not_taken"),
        "{answer}"
    );
    assert_eq!(stored(&database).await, 3);

    let remove = "mutation { removeBoth(where: { id: { eq: 2 } }) { id } }";
    let answer: Value = app.query(remove).await.json();
    assert_eq!(answer.get("errors"), None, "{answer}");
    assert_eq!(stored(&database).await, 2);
}

#[tokio::test]
async fn keys_of_another_type_than_the_ids_are_reported() {
    let database = TestDatabase::copy_of("many_rows_keys", SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![events])
        .mutations(mutations![remove_public, remove_both]);
    let app = App::serve(options).await;
    app.query("{ events { id } }").await;
    let schema =
        ready(&app, "`removePublic` cannot write").await.json()["checks"]["schema"].to_string();
    let why =
        "the key of `tb_thing` is of type integer, and the `id` of `v_public` is of type uuid";
    assert!(schema.contains(why), "{schema}");
    assert!(!schema.contains("removeBoth"), "{schema}");
}
