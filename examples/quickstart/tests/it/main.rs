//! The real program: how it starts, what it says, and how it ends.

#![expect(clippy::unwrap_used, reason = "tests")]

mod absence;
mod crash;
mod output;
mod settings;
mod signals;
mod waits;

use std::path::Path;
use std::process::Command;

/// The program in a folder, on a free port and with nothing of this environment's own.
fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
    command
        .current_dir(folder)
        .env("SVC_PORT", "0")
        .env_remove("SVC_DATABASE_URL")
        .env_remove("DATABASE_URL");
    command
}

/// The answer to a query.
async fn ask(url: &str, query: &str) -> String {
    let body = serde_json::json!({ "query": query }).to_string();
    let request = svc_tests::client()
        .post(url)
        .header("content-type", "application/json")
        .body(body);
    request.send().await.unwrap().text().await.unwrap()
}

/// The status and the body of `/ready`.
async fn ready(url: &str) -> (u16, String) {
    let answer = svc_tests::client()
        .get(url.replace("/graphql", "/ready"))
        .send()
        .await
        .unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// A connection of the superuser to the database in a folder.
async fn connect(folder: &Path) -> sqlx::PgConnection {
    use sqlx::Connection as _;
    let sockets = folder.canonicalize().unwrap().join(".svc/postgres.run");
    let url = format!(
        "postgres://postgres@localhost/postgres?host={}&sslmode=disable",
        sockets.display()
    );
    sqlx::PgConnection::connect(&url).await.unwrap()
}

/// Waits until an answer has a text.
async fn until_answered(url: &str, query: &str, text: &str) {
    let asked = async || {
        let answer = ask(url, query).await;
        if answer.contains(text) {
            Ok(())
        } else {
            Err(answer)
        }
    };

    svc_tests::eventually(asked).await;
}

/// Waits until the program is ready; one probe may fail on a busy machine.
async fn until_ready(url: &str) {
    svc_tests::eventually(async || match ready(url).await {
        (200, _) => Ok(()),
        (_, text) => Err(text),
    })
    .await;
}
