//! The helpers that the tests share.

use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection};
use svc_embedded::Database;

/// Runs a query that returns one text.
pub(crate) async fn ask(url: &str, query: &'static str) -> String {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let answer = sqlx::query_scalar(query)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    answer
}

/// Runs a statement in the database `postgres`.
pub(crate) async fn run(database: &Database, statement: &'static str) {
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    sqlx::query(statement)
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// Whether a process exists and isn't a zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    let state = std::process::Command::new("ps")
        .args(["-o", "state=", "-p", &pid.to_string()])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// Polls until a condition holds.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "{what} never happened"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    let id = std::process::Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}
