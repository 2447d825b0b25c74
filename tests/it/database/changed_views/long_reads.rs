//! A catalog that takes longer to read than a request may wait for a connection.

use std::time::Duration;

use serde_json::json;
use svc::prelude::*;
use svc::sqlx::{self, PgPool};
use svc::{DatabaseConfig, SvcConfig};
use svc_tests::{App, Log, TestDatabase, eventually};

const SQL: &str = "CREATE TABLE tb_note AS SELECT 1 AS id; CREATE VIEW v_note AS SELECT 1 AS id";

const POOL_TIMEOUT: Duration = Duration::from_secs(1);

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
}

#[svc::query]
async fn notes() -> Vec<Note>;

/// Its columns are part of what is read, which needs a lock on the table.
#[svc::query(sql = "SELECT id FROM tb_note")]
async fn own_notes() -> Vec<Note>;

/// The backends that wait for the table.
async fn waiting(pool: &PgPool) -> Vec<i32> {
    let waiting = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'tb_note'::regclass \
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY pid";
    sqlx::query_scalar(waiting).fetch_all(pool).await.unwrap()
}

#[tokio::test]
async fn a_slow_catalog_read_is_completed_and_used() {
    let log = Log::start();
    let database = TestDatabase::new(SQL).await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            pool_timeout: POOL_TIMEOUT,
            catalogue_poll: Some(Duration::from_millis(20)),
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let app = App::serve(
        AppOptions::new()
            .config(config)
            .queries(queries![notes, own_notes]),
    )
    .await;
    app.until_ready().await;
    let pool = database.pool().await;
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE tb_note IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *holder)
        .await
        .unwrap();
    database
        .execute("DROP VIEW v_note; CREATE VIEW v_note AS SELECT 2 AS id, 3 AS more")
        .await;
    let reader = eventually(async || match waiting(&pool).await.as_slice() {
        [reader] => Ok(*reader),
        others => Err(format!("{others:?} wait for the table")),
    })
    .await;
    tokio::time::sleep(2 * POOL_TIMEOUT).await;
    assert_eq!(waiting(&pool).await, [reader], "the read was given up");
    assert!(
        !log.text().contains("have changed in the database"),
        "{}",
        log.text()
    );
    holder.rollback().await.unwrap();
    log.has("views, functions or policies of the schema have changed in the database")
        .await;
    app.until_data("{ notes { id } }", &json!({ "notes": [{ "id": 2 }] }))
        .await;
}
