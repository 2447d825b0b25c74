//! Concurrent requests for one response have it made once.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use svc_tests::{TestDatabase, eventually};

use super::service::{ask, database, options, serve, until_waiting, waiting};

/// A database whose authors are read once a function has returned.
async fn slow_database(function: &str) -> TestDatabase {
    let database = database().await;
    let slow = format!(
        "CREATE OR REPLACE VIEW v_kept_author AS SELECT id, name FROM tb_author, (SELECT {function}) AS slept"
    );
    database.execute(&slow).await;
    database
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_misses_cause_one_statement() {
    let database = slow_database("pg_sleep(0.5)").await;
    let app = serve(options(&database)).await;
    let before = database.statements("v_kept_author").await;
    let replies = join_all((0..100).map(|_| app.query("{ authors { id name } }"))).await;
    assert!(
        replies
            .iter()
            .all(|reply| reply.data()["authors"][1]["name"] == "bob"),
        "{replies:?}"
    );
    assert_eq!(database.statements("v_kept_author").await - before, 1);
    // Each user has one of its own.
    let users: Vec<_> = (0..20)
        .map(|number| format!("user{}", number % 4))
        .collect();
    let document = "{ authors { name } }";
    join_all(
        users
            .iter()
            .map(async |user| ask(&app, document, &[("x-user", user)]).await.data()),
    )
    .await;
    assert_eq!(database.statements("v_kept_author").await - before, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_request_takes_over_from_a_disconnected_client() {
    let database = slow_database("pg_advisory_xact_lock_shared(8)").await;
    let app = serve(options(&database)).await;
    // Authors are read once nobody holds the lock.
    let pool = database.pool().await;
    let mut lock = pool.acquire().await.unwrap();
    sqlx::query("SELECT pg_advisory_lock(8)")
        .execute(&mut *lock)
        .await
        .unwrap();
    let body = json!({ "query": "{ authors { name } }" }).to_string();
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .body(body);
    let leader = tokio::spawn(request.send());
    let first = until_waiting(&pool, 1).await;
    let others = join_all((0..5).map(|_| app.query("{ authors { name } }")));
    let gone = async {
        // Nothing tells that the others wait.
        tokio::time::sleep(Duration::from_millis(100)).await;
        leader.abort();
        eventually(async || match waiting(&pool).await {
            now if now.len() == 1 && now != first => Ok(()),
            now => Err(format!("{now:?} after {first:?}")),
        })
        .await;
        sqlx::query("SELECT pg_advisory_unlock(8)")
            .execute(&mut *lock)
            .await
            .unwrap();
    };
    let (replies, ()) = tokio::join!(others, gone);
    assert!(
        replies
            .iter()
            .all(|reply| reply.data()["authors"][1]["name"] == "bob"),
        "{replies:?}"
    );
}

/// A response with errors is not shared, and the others do not wait for each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_are_not_shared() {
    let database = database().await;
    let broken =
        "CREATE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(6); RAISE 'no'; END $$;
        CREATE OR REPLACE VIEW v_kept_author AS SELECT id + fail() AS id, name FROM tb_author";
    database.execute(broken).await;
    let app = serve(options(&database)).await;
    let began = std::time::Instant::now();
    // The first one, and as many at once as there are connections.
    let replies = join_all((0..9).map(|_| app.query("{ authors { id } }"))).await;
    let mut ids: Vec<_> = replies
        .iter()
        .map(|reply| reply.json()["errors"][0]["extensions"]["errorId"].to_string())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 9, "{ids:?}");
    assert!(
        began.elapsed() < Duration::from_secs(45),
        "{:?}: one after the other takes 54 s",
        began.elapsed()
    );
    database
        .execute("CREATE OR REPLACE VIEW v_kept_author AS SELECT id, name FROM tb_author")
        .await;
    eventually(async || {
        let reply = app.query("{ authors { id } }").await;
        if reply.json().get("errors").is_none() {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}
