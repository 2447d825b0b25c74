//! Types of functions that change while the service runs.

use std::time::Duration;

use serde_json::json;
use svc::prelude::*;
use svc::{DatabaseConfig, SvcConfig};
use svc_tests::{App, Log, TestDatabase, eventually};

#[svc_type]
struct Note {
    id: i32,
}

#[svc::query]
fn nothing() -> bool {
    true
}

#[svc::mutation(function = "add")]
async fn add(mood: String) -> Option<Note>;

/// The body gives a status, for which the type has no place at first.
const SQL: &str = r#"
    CREATE TABLE tb_note (mood text);
    CREATE TYPE mood AS ENUM ('good', 'bad');
    CREATE TYPE answer AS (id int, message text);
    CREATE FUNCTION add(mood mood) RETURNS answer LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO tb_note VALUES (mood);
        RETURN jsonb_populate_record(NULL::answer, '{"id": 1, "message": "said", "status": "failed:conflict"}');
    END $$;"#;

async fn serve(database: &TestDatabase, catalogue_poll: Option<Duration>) -> App {
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            catalogue_poll,
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .queries(queries![nothing])
            .mutations(mutations![add]),
    )
    .await
}

async fn call(app: &App) -> svc_tests::Reply {
    app.query("mutation { add(mood: \"good\") { id } }").await
}

async fn count(database: &TestDatabase) -> i64 {
    database.value("SELECT count(*) FROM tb_note").await
}

const STATUS: &str = "ALTER TYPE answer ADD ATTRIBUTE status text";
const CHANGED: &str = "of the schema have changed in the database";

#[tokio::test]
async fn a_status_added_to_a_result_type_rolls_back_failed_calls() {
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let app = serve(&database, Some(Duration::from_millis(20))).await;
    assert_eq!(call(&app).await.data(), json!({ "add": { "id": 1 } }));
    database.execute(STATUS).await;
    log.has(CHANGED).await;
    let reply = call(&app).await;
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["mutation"],
        "NOT_DONE",
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 1);
}

/// Without looks, a failing status that was kept is what shows it.
#[tokio::test]
async fn an_unexpected_status_reloads_the_result_type() {
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let app = serve(&database, None).await;
    call(&app).await.data();
    database.execute(STATUS).await;
    let reply = call(&app).await;
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["mutation"],
        "DONE",
        "{}",
        reply.text
    );
    log.has("a failed call was not rolled back").await;
    log.has(CHANGED).await;
    let reply = call(&app).await;
    assert_eq!(
        reply.json()["errors"][0]["extensions"]["mutation"],
        "NOT_DONE",
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 2);
}

#[tokio::test]
async fn a_renamed_parameter_type_is_followed() {
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database, Some(Duration::from_millis(20))).await;
    call(&app).await.data();
    database.execute("ALTER TYPE mood RENAME TO humour").await;
    eventually(async || {
        let reply = call(&app).await;
        if reply.json()["data"]["add"].is_object() {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}
