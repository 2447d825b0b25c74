//! Connections that die, and clients that go away while their statements run.

use std::time::Duration;

use svc::prelude::*;
use svc::sqlx;
use tokio::io::AsyncWriteExt as _;

use super::{serve, two_rows};

/// So many connections, whose statements do not end by themselves while a test waits for their end.
fn patient(pool_size: u32) -> SvcConfig {
    let (query_timeout, pool_timeout) = (Duration::from_secs(300), Duration::from_secs(50));
    SvcConfig {
        database: svc::DatabaseConfig {
            pool_size,
            query_timeout,
            pool_timeout,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_connections_are_replaced() {
    let (database, app) = serve(SvcConfig::default()).await;
    let all = "{ a: rows { id } b: rows { id } c: own_sql own_sql rows { id name } }";
    app.query(all).await.data();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.execute(end).await;
    assert_eq!(app.query(all).await.data()["rows"], two_rows()["rows"]);
    app.until_ready().await;
    database.execute(end).await;
    app.until_ready().await;
}

/// A read that has returned rows is not sent again, as it may be what ended the connection.
#[tokio::test]
async fn a_connection_lost_between_rows_is_an_error() {
    let (database, app) = serve(SvcConfig {
        database: svc::DatabaseConfig {
            pool_size: 1,
            ..svc::DatabaseConfig::default()
        },
        ..SvcConfig::default()
    })
    .await;
    database
        .execute(
            "CREATE SEQUENCE attempts;
             CREATE OR REPLACE VIEW v_driven AS
             SELECT i AS id, CASE WHEN i = 350 AND nextval('attempts') = 1
                 THEN pg_terminate_backend(pg_backend_pid())::text ELSE repeat('x', 2000) END AS name
             FROM generate_series(1, 400) AS i ORDER BY i",
        )
        .await;
    let all = "{ rows(limit: 400, order_by: [{id: ASC}]) { id name } }";
    let lost = app.query(all).await;
    let expected = (
        "SERVICE_UNAVAILABLE",
        "the connection to the database was lost",
    );
    assert_eq!((lost.code().as_str(), lost.message().as_str()), expected);
    let attempts: i64 = sqlx::query_scalar("SELECT last_value FROM attempts")
        .fetch_one(&database.pool().await)
        .await
        .unwrap();
    assert_eq!(attempts, 1);
    assert_eq!(
        app.query(all).await.data()["rows"].as_array().map(Vec::len),
        Some(400)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disconnected_client_cancels_its_statement() {
    let (database, app) = serve(patient(1)).await;
    for _ in 0..2 {
        let body = r#"{"query":"{ sleep { id } }"}"#;
        let mut stream = tokio::net::TcpStream::connect(app.address()).await.unwrap();
        let head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
        stream
            .write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
            .await
            .unwrap();
        database.until_running("v_sleep", 1).await;
        drop(stream);
        database.until_running("v_sleep", 0).await;
        // The only connection serves again.
        assert_eq!(app.query("{ rows { id name } }").await.data(), two_rows());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_leaves_other_statements_alone() {
    let (database, app) = serve(patient(2)).await;
    for _ in 0..5 {
        let gone = tokio::time::timeout(Duration::from_millis(80), app.query("{ sleep { id } }"));
        let (gone, ()) = tokio::join!(gone, async {
            for _ in 0..20 {
                assert_eq!(
                    app.query("{ a: rows { id } rows { id name } }")
                        .await
                        .data()["rows"],
                    two_rows()["rows"]
                );
            }
        });
        assert!(gone.is_err());
    }
    database.until_running("v_sleep", 0).await;
}
