//! The error tracker when its database is away, stands still, or gets more than it can take.

use std::io;
use std::time::{Duration, Instant};

use svc::error_tracker::{ErrorContext, MIGRATION, init_error_tracker};
use svc_tests::{Frozen, TestDatabase, eventually, is_alone, wait};

use super::tracked::{PATIENCE, tracked};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_errors_during_an_outage_block_no_request() {
    let name = "ten_thousand_errors_during_an_outage_block_no_request";
    if !is_alone(module_path!(), name) {
        return;
    }
    let (database, app, tracker) = tracked().await;
    app.query("{ broken }").await;
    assert!(tracker.flush(PATIENCE).await);
    let own = TestDatabase::new("").await;
    let frozen = Frozen::backends(&database.pool().await).await;
    let begun = Instant::now();
    for _ in 0..10_000 {
        tracker.capture_exception(
            &io::Error::other("a flood"),
            ErrorContext::new().function("flood"),
        );
    }
    let took = begun.elapsed();
    assert!(
        took < Duration::from_secs(120),
        "10,000 errors took {took:?}"
    );
    let asked = Instant::now();
    for _ in 0..20 {
        assert_eq!(app.query("{ broken fine }").await.json()["data"]["fine"], 1);
    }
    assert!(
        asked.elapsed() < Duration::from_secs(120),
        "20 requests took {:?}",
        asked.elapsed()
    );
    let status = tracker.status();
    assert!(
        status.waiting <= 1_024 + 256 && status.dropped >= 8_700,
        "{status:?}"
    );
    assert_eq!(
        status.waiting + status.dropped,
        10_020,
        "each error is either: {status:?}"
    );
    eventually(async || {
        tracker
            .status()
            .failure
            .map(drop)
            .ok_or_else(|| "no failure is told".to_owned())
    })
    .await;
    drop((frozen, own));
    assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
    let groups = tracker.groups(None, 10).await.unwrap();
    let flood = groups
        .iter()
        .find(|group| group.function == "flood")
        .unwrap();
    let broken = groups
        .iter()
        .find(|group| group.function == "Query.broken")
        .unwrap();
    let kept = 10_021 - i64::try_from(tracker.status().dropped).unwrap();
    assert_eq!(
        flood.occurrences + broken.occurrences,
        kept,
        "a batch that was sent twice counts once"
    );
    assert!(tracker.occurrences(flood.id, 1_000).await.unwrap().len() <= 100);
    assert_eq!(tracker.status().failure, None);
}

#[tokio::test]
async fn errors_are_stored_once_the_schema_exists() {
    if !is_alone(module_path!(), "errors_are_stored_once_the_schema_exists") {
        return;
    }
    let database = TestDatabase::new("").await;
    let tracker = init_error_tracker(database.pool().await, "test", "1");
    let id = tracker.capture_exception(&io::Error::other("early"), ErrorContext::new());
    eventually(async || {
        tracker
            .status()
            .failure
            .map(drop)
            .ok_or_else(|| "no failure is told".to_owned())
    })
    .await;
    database.execute(MIGRATION).await;
    assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
    assert!(tracker.find(id).await.unwrap().is_some());
}

#[tokio::test]
async fn an_unstorable_error_of_many_fields_is_dropped_once() {
    let name = "an_unstorable_error_of_many_fields_is_dropped_once";
    if !is_alone(module_path!(), name) {
        return;
    }
    let (database, app, tracker) = tracked().await;
    database
        .execute(
            "CREATE OR REPLACE FUNCTION svc_errors.capture(batch_id uuid, groups jsonb) RETURNS void LANGUAGE plpgsql \
             AS $$ BEGIN RAISE EXCEPTION 'not today' USING ERRCODE = 'data_exception'; END $$",
        )
        .await;
    app.query("{ a: broken b: broken c: broken }").await;
    assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
    let status = tracker.status();
    assert_eq!((status.waiting, status.dropped), (0, 1), "{status:?}");
}

/// Two instances capture the same errors, in batches of opposite order.
#[tokio::test]
async fn two_instances_share_error_groups() {
    if std::env::var_os("SVC_TESTS_TRACKED").is_some() {
        let url = std::env::var("SVC_TESTS_TRACKED").unwrap();
        let tracker = init_error_tracker(sqlx::PgPool::connect(&url).await.unwrap(), "test", "1");
        for round in 0..20 {
            for number in 0..50 {
                let number = if round % 2 == 0 { number } else { 49 - number };
                let context = ErrorContext::new().function(format!("function {number}"));
                tracker.capture_exception(&io::Error::other("shared"), context);
            }
            assert!(tracker.flush(PATIENCE).await, "{:?}", tracker.status());
        }
        return assert_eq!(tracker.status().dropped, 0);
    }
    let database = TestDatabase::new(MIGRATION).await;
    let test = format!(
        "{}::two_instances_share_error_groups",
        module_path!().split_once("::").unwrap().1
    );
    let instance = || {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", &test])
            .env("SVC_TESTS_TRACKED", database.url());
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    for instance in [instance(), instance()] {
        let ended = tokio::task::spawn_blocking(move || wait(instance, "an instance"));
        assert!(ended.await.unwrap().status.success());
    }
    let pool = database.pool().await;
    let counts: Vec<i64> = sqlx::query_scalar("SELECT occurrences FROM svc_errors.error_group")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(
        counts, [40; 50],
        "each of 50 groups, 20 times by each of two instances"
    );
}
