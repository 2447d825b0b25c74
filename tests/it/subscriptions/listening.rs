//! The listening connection: one for each service with subscriptions, and another when it is lost.

use std::time::Duration;

use serde_json::{Value, json};
use svc::prelude::*;
use svc::testing::{Subscribed, Subscription, TestService};
use svc_tests::{TestDatabase, eventually};
use tokio::time::timeout;

use super::service::{Posts, assert_silent, next, start, started};

#[tokio::test]
async fn two_instances_deliver_the_same_event() {
    let (database, first) = started().await;
    let second = start(Posts::of(&database)).await;
    let document = "subscription { changed { title } }";
    let mut answers = [
        first.subscribe(Subscription::new(document)).await.unwrap(),
        second.subscribe(Subscription::new(document)).await.unwrap(),
    ];
    database
        .execute("UPDATE tb_post SET title = 'both' WHERE id = 1")
        .await;
    for answers in &mut answers {
        assert_eq!(next(answers).await["data"]["changed"]["title"], "both");
    }
}

async fn kill_listeners(database: &TestDatabase) {
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    database.execute(kill).await;
}

/// The last title that a subscriber has been sent.
async fn until_title(answers: &mut Subscribed, wanted: &str, patience: Duration) {
    let mut last = Value::Null;
    let found = async {
        while last["data"]["changed"]["title"] != wanted {
            last = answers.next().await.expect("the stream goes on");
        }
    };
    assert!(
        timeout(patience, found).await.is_ok(),
        "the last title is not {wanted}: {last}"
    );
}

/// `LISTENER_LOSSES=100` loses it as often as it says, and wants it back within two seconds each
/// time.
#[tokio::test]
async fn the_last_value_is_right_after_losses_of_the_listening_connection() {
    let losses: Option<u32> = std::env::var("LISTENER_LOSSES")
        .ok()
        .map(|losses| losses.parse().expect("a number"));
    // Beside all other tests everything takes longer.
    let patience = Duration::from_secs(if losses.is_some() { 2 } else { 30 });
    let (database, service) = started().await;
    let document = "subscription ($id: Int) { changed(id: $id) { title } }";
    let one = Subscription::new(document).variables(json!({"id": 1}));
    let mut one = service.subscribe(one).await.unwrap();
    let mut any = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = 'first' WHERE id = 1")
        .await;
    until_title(&mut any, "first", patience).await;
    for round in 0..losses.unwrap_or(10) {
        kill_listeners(&database).await;
        database
            .execute(&format!(
                "UPDATE tb_post SET title = 'lost {round}' WHERE id = 1"
            ))
            .await;
        until_title(&mut one, &format!("lost {round}"), patience).await;
        until_title(&mut any, &format!("lost {round}"), patience).await;
    }
    // A row that was read because of the gap is sent again when its event comes behind that. This
    // event is the last.
    database
        .execute("UPDATE tb_post SET title = 'settled' WHERE id = 1")
        .await;
    until_title(&mut any, "settled", patience).await;
    // What has not changed in the meantime is not sent again.
    kill_listeners(&database).await;
    assert_silent(&mut any).await;
}

#[tokio::test]
async fn a_program_without_subscriptions_opens_no_listening_connection() {
    let database = Posts::database().await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![super::service::sub_posts]);
    let service = TestService::start(options).await.unwrap();
    let app = svc_tests::App::serve_router(service.router()).await;
    app.until_data(
        "{ sub_posts { id } }",
        &json!({"sub_posts": [{"id": 1}, {"id": 2}, {"id": 3}]}),
    )
    .await;
    let listening = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let pool = database.pool().await;
    let count: i64 = svc::sqlx::query_scalar(listening)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(count, 0);
    pool.close().await;
    assert!(
        app.get("/ready").await.json()["checks"]
            .get("events")
            .is_none()
    );
}

#[tokio::test]
async fn readiness_is_proved_by_a_notification() {
    let (database, service) = started().await;
    let app = svc_tests::App::serve_router(service.router()).await;
    let ready = async || match app.get("/ready").await.json()["checks"]["events"].clone() {
        ok if ok == "ok" => Ok(()),
        other => Err(other.to_string()),
    };
    eventually(ready).await;
    kill_listeners(&database).await;
    eventually(ready).await;
}
