//! Processes of PostgreSQL that stand still.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use svc::sqlx::{self, PgPool};
use svc_embedded::{Database, Options};
use svc_tests::{App, Frozen, Reply};

use super::{IN_TIME, KINDS, SQL, all_in_time, options, timed, until_answered, until_well, warm};

/// The number of tries of which one is quick: a busy machine makes some of them slow, but not each.
const TRIES: usize = 20;

/// A PostgreSQL of the test's own: one whose backends stand still keeps others from creating
/// databases.
async fn serve() -> (Database, PgPool, App) {
    let database = Database::start(Options::temporary()).await.unwrap();
    let pool = PgPool::connect(&database.url()).await.unwrap();
    sqlx::raw_sql(SQL).execute(&pool).await.unwrap();
    let app = App::serve(options(&database.url())).await;
    warm(&app).await;
    (database, pool, app)
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_backends_block_no_request_and_no_connection() {
    let (database, pool, app) = serve().await;
    let frozen = Frozen::backends(&pool).await;
    let answers = join_all(KINDS.iter().chain(&KINDS).map(|query| timed(&app, query))).await;
    all_in_time(&answers);
    // They still stand, and every place is there again.
    let answers = join_all(KINDS.iter().map(|query| timed(&app, query))).await;
    all_in_time(&answers);
    until_answered(&app, "{ rows { id } }").await;
    // None of three waits for its place, which would take a second, or fails for want of one.
    let mut tries = Vec::new();
    while tries.len() < TRIES {
        let (again, ready) = tokio::join!(
            join_all([0; 3].map(|_| timed(&app, KINDS[0]))),
            app.get("/ready")
        );
        let rows = json!({ "data": { "rows": [{ "id": 1, "name": "first" }] } });
        let is_quick = |time: Duration| time < Duration::from_millis(900);
        if ready.status == 200
            && again
                .iter()
                .all(|(reply, time)| reply.json() == rows && is_quick(*time))
        {
            break;
        }
        tries.push((again, ready));
    }
    assert!(tries.len() < TRIES, "{tries:#?}");
    drop(frozen);
    database.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_call_has_an_unknown_outcome() {
    let (database, pool, app) = serve().await;
    // A statement stays prepared from its second time on; while it is prepared it has not run.
    add_in_a_row(&app, 3).await;
    let frozen = Frozen::backends(&pool).await;
    let (reply, time) = timed(&app, "mutation { add(name: \"third\") }").await;
    drop(frozen);
    assert!(time < IN_TIME, "{time:?}");
    assert_eq!(reply.code(), "OUTCOME_UNKNOWN", "{}", reply.text);
    assert!(
        reply.message().contains("may have been done, or not"),
        "{}",
        reply.text
    );
    // Once at most.
    until_well(&app).await;
    add_in_a_row(&app, 1).await;
    database.stop().await;
}

/// Adds so many rows one after the other. On a busy machine one may end at its deadline, and its
/// connection with it: then they begin anew.
async fn add_in_a_row(app: &App, times: usize) {
    let (mut number, mut done) = (0, 0);
    svc_tests::eventually(async || {
        while done < times {
            number += 1;
            let reply = app
                .query(&format!("mutation {{ add(name: \"row {number}\") }}"))
                .await;
            if reply.json().get("errors").is_some() {
                done = 0;
                return Err(reply.text);
            }
            done += 1;
        }
        Ok(())
    })
    .await;
}

/// Has the server stand still; what the first probe says then, and after how long.
async fn probed(pool: &PgPool, app: &App) -> (Frozen, Reply, Duration) {
    let (frozen, start) = (Frozen::server(pool).await, Instant::now());
    let ready = app.get("/ready").await;
    (frozen, ready, start.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_server_is_detected_within_seconds_and_recovers() {
    // Two seconds, and some of what a busy machine adds.
    const TOLD: Duration = Duration::from_secs(4);
    let (database, pool, app) = serve().await;
    let (mut frozen, mut ready, mut time) = probed(&pool, &app).await;
    for _ in 1..TRIES {
        if time < TOLD {
            break;
        }
        drop(frozen);
        until_well(&app).await;
        (frozen, ready, time) = probed(&pool, &app).await;
    }
    assert!(time < TOLD, "{time:?}");
    let why = "failed: the database is not reachable";
    assert_eq!(
        (ready.status, &ready.json()["checks"]["database"]),
        (503, &json!(why))
    );
    let answers = join_all(KINDS.iter().map(|query| timed(&app, query))).await;
    all_in_time(&answers);
    // The service knows it by now, and no request waits.
    let mut times = Vec::new();
    for _ in 0..TRIES {
        let (reply, time) = timed(&app, "{ rows { id } }").await;
        assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{time:?}");
        times.push(time);
    }
    assert!(
        times.iter().any(|time| *time < Duration::from_secs(1)),
        "{times:?}"
    );
    drop(frozen);
    until_well(&app).await;
    app.until_ready().await;
    database.stop().await;
}
