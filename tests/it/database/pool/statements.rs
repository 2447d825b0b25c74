//! The statements that connections keep prepared.

use serde_json::json;
use svc::prelude::*;
use svc::sqlx;

use super::{Row, serve, two_rows};

/// The statements that are prepared on the connection which reads them.
#[svc_type(sql_source = "v_prepared")]
pub(super) struct Prepared {
    number: i32,
    bytes: i32,
}

#[svc::query]
pub(super) async fn prepared() -> Prepared;
/// Rows that fulfil a condition; each bit of the number makes another statement.
fn pick(ctx: &Context<'_>, shape: i32) -> Find<Row> {
    let condition = |bit: i32| {
        if shape & (1 << bit) == 0 {
            col("id").is_null()
        } else {
            col("name").is_null()
        }
    };
    ctx.db()
        .find::<Row>()
        .filter((1..11).fold(condition(0), |filter, bit| filter.or(condition(bit))))
}

#[svc::query]
pub(super) async fn picked(ctx: &Context<'_>, shape: i32) -> Result<Find<Row>> {
    Ok(pick(ctx, shape))
}
/// Picks with sqlx; the number of statements that are then prepared on its connection.
#[svc::query]
pub(super) async fn picked_by_sqlx(ctx: &Context<'_>, shape: i32) -> Result<i32> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    tx.rows(pick(ctx, shape)).await?;
    let count = "SELECT count(*)::int FROM pg_prepared_statements";
    let count = sqlx::query_scalar(count).fetch_one(&mut *tx).await?;
    tx.commit().await?;
    Ok(count)
}

#[tokio::test]
async fn prepared_statements_are_bounded() {
    let (_database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    let prepared = async || {
        let prepared = app.query("{ prepared { number bytes } }").await.data()["prepared"].clone();
        (
            prepared["number"].as_i64().unwrap(),
            prepared["bytes"].as_i64().unwrap(),
        )
    };
    let ask = async |times: usize| {
        for from in (0..1_050).step_by(10) {
            let fields: Vec<String> = (from..from + 10)
                .map(|at| format!("a{at}: picked(shape: {at}) {{ id }}"))
                .collect();
            for _ in 0..times {
                app.query(&format!("{{ {} }}", fields.join(" ")))
                    .await
                    .data();
            }
        }
    };
    // What is asked for once is not kept.
    ask(1).await;
    let (few, _) = prepared().await;
    assert!(few < 10, "{few}");
    ask(2).await;
    let (most, bytes) = prepared().await;
    assert!(
        (100..=1_005).contains(&most),
        "{most} statements are prepared"
    );
    assert!(
        (200_000..=264_000).contains(&bytes),
        "{bytes} bytes are prepared"
    );
    assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
}

/// sqlx bounds their number and not their size, and one with many conditions takes PostgreSQL
/// megabytes.
#[tokio::test]
async fn client_shaped_statements_are_not_cached_by_sqlx() {
    let (_database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    for shape in 0..20 {
        let reply = app
            .query(&format!("{{ picked_by_sqlx(shape: {shape}) }}"))
            .await;
        let own = json!({ "picked_by_sqlx": 1 });
        assert_eq!(
            reply.data(),
            own,
            "the program's own statement is kept, and no other: {}",
            reply.text
        );
    }
}
