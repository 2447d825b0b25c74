//! The connections of planned reads: what happens when they die, when statements take too long, and
//! when views change.

mod busy;
mod connections;
mod statements;
mod views;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::sqlx;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_driven")]
struct Row {
    id: i32,
    name: Option<String>,
}

#[svc_type(sql_source = "v_sleep")]
struct Sleep {
    id: i32,
}

#[svc::query]
async fn rows() -> Vec<Row>;
#[svc::query]
async fn sleep() -> Option<Sleep>;
#[svc::query]
async fn own_sql(ctx: &Context<'_>) -> Result<Vec<i32>> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    Ok(sqlx::query_scalar("SELECT id FROM v_driven")
        .fetch_all(&mut *tx)
        .await?)
}

const SQL: &str = "
CREATE VIEW v_driven AS SELECT i AS id, 'row ' || i AS name FROM generate_series(1, 2) AS i;
CREATE VIEW v_sleep AS SELECT 1 AS id FROM pg_sleep(300);
CREATE VIEW v_prepared AS SELECT count(*)::int AS number, coalesce(sum(octet_length(statement)), 0)::int AS bytes FROM pg_prepared_statements;";

async fn serve(config: SvcConfig) -> (TestDatabase, App) {
    let database = TestDatabase::new(SQL).await;
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            ..config.database
        },
        ..config
    };
    (database, App::serve(options(config)).await)
}

fn options(config: SvcConfig) -> AppOptions {
    AppOptions::new().config(config).queries(queries![
        rows,
        sleep,
        own_sql,
        statements::prepared,
        statements::picked,
        statements::picked_by_sqlx
    ])
}

fn two_rows() -> Value {
    json!({ "rows": [{ "id": 1, "name": "row 1" }, { "id": 2, "name": "row 2" }] })
}
