//! A view of the same name and columns that comes to stand first in the search path.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc::prelude::*;
use svc::{DatabaseConfig, SvcConfig};
use svc_tests::{App, TestDatabase, eventually};

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
}

#[svc::query]
async fn notes() -> Vec<Note>;

#[svc::query]
async fn own_sql(ctx: &Context<'_>) -> Result<i32> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let id = svc::sqlx::query_scalar("SELECT id FROM v_note")
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(id)
}

const SQL: &str = "CREATE SCHEMA front; CREATE VIEW public.v_note AS SELECT 1 AS id;
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = front, public', current_database()); END $$";

/// The answers to requests that take all connections of the pool.
async fn answers(app: &App) -> Vec<Value> {
    join_all((0..12).map(|_| app.query("{ notes { id } own_sql }")))
        .await
        .iter()
        .map(|reply| reply.json())
        .collect()
}

#[tokio::test]
async fn all_connections_read_the_first_view_of_the_search_path() {
    let database = TestDatabase::new(SQL).await;
    let (pool_timeout, poll) = (Duration::from_secs(50), Some(Duration::from_millis(20)));
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            pool_timeout,
            catalogue_poll: poll,
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let app = App::serve(
        AppOptions::new()
            .config(config)
            .queries(queries![notes, own_sql]),
    )
    .await;
    let of = |id: i32| json!({ "data": { "notes": [{ "id": id }], "own_sql": id } });
    for (id, change) in [
        (1, "SELECT"),
        (2, "CREATE VIEW front.v_note AS SELECT 2 AS id"),
        (1, "DROP VIEW front.v_note"),
        (3, "CREATE TABLE front.v_note AS SELECT 3 AS id"),
    ] {
        database.execute(change).await;
        eventually(async || {
            let answers = answers(&app).await;
            if answers.iter().all(|answer| *answer == of(id)) {
                Ok(())
            } else {
                Err(format!("{change}: {answers:?}"))
            }
        })
        .await;
        // Once with each is enough to prepare a statement, and twice to keep it.
        for _ in 0..2 {
            assert!(
                answers(&app).await.iter().all(|answer| *answer == of(id)),
                "{change}"
            );
        }
    }
}
