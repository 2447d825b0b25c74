//! A database that cannot be used, and why.

use futures_util::future::join_all;
use svc_embedded::{Database, Options};
use svc_tests::Program;

use crate::{ask, command, ready, until_answered, until_ready};

#[tokio::test]
async fn each_new_reason_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let port = svc_embedded::free_port().unwrap();
    let mut start = command(folder.path());

    start.env(
        "SVC_DATABASE_URL",
        format!("postgres://postgres@127.0.0.1:{port}/missing?sslmode=disable"),
    );
    let mut program = Program::start(&mut start);
    let line = program.wait_for("Connection refused");
    assert_eq!(
        line.matches("error connecting to server").count(),
        1,
        "{line}"
    );

    let url = program.url();
    let told = async |text: &str| {
        svc_tests::eventually(async || {
            let (status, told) = ready(&url).await;
            if status == 503 && told.contains(text) {
                Ok(())
            } else {
                Err(told)
            }
        })
        .await;
    };

    told("refused").await;
    let data = tempfile::tempdir().unwrap();
    let database = Database::start(Options::new(data.path()).port(Some(port)))
        .await
        .unwrap();
    let line = program.wait_for("does not exist");
    assert!(!line.contains("line"), "{line}");
    told("does not exist").await;
    database.ensure_database("missing").await.unwrap();
    program.wait_for("the database is available again");
    until_answered(&url, "{ users { name } }", "Ada").await;

    until_ready(&url).await;
}

#[tokio::test]
async fn a_server_with_fewer_connections_than_the_pool_is_waited_for() {
    let data = tempfile::tempdir().unwrap();
    let few = [
        ("max_connections", "3"),
        ("superuser_reserved_connections", "0"),
        ("max_wal_senders", "0"),
    ];

    let options = few
        .into_iter()
        .fold(Options::new(data.path()), |options, (name, value)| {
            options.setting(name, value)
        });

    let database = Database::start(options).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());

    // All wait for their turn, however slow the machine is.
    command
        .env("SVC_DATABASE_POOL_TIMEOUT", "120")
        .env("SVC_LOAD_SHEDDING", "false");
    let mut program = Program::start(command.env("SVC_DATABASE_URL", database.url()));
    let url = program.url();
    until_answered(&url, "{ users { name } }", "Ada").await;
    let asked = join_all((0..60).map(|_| ask(&url, "{ users { name createdAt } }"))).await;
    let failed = asked
        .iter()
        .filter(|answer| !answer.contains("Ada"))
        .collect::<Vec<_>>();
    assert!(failed.is_empty(), "{} of 60: {failed:?}", failed.len());

    program.wait_for("has no connections left");
}
