//! Bulk writes: those of others cost a subscriber nothing, and a client that reads is told of its
//! own.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use svc::authz::RowDecision;
use svc::db::col;
use svc::events::{EventSource, SourceEvent};
use svc::futures_util::future::BoxFuture;
use svc::futures_util::stream::{self, BoxStream};
use svc::futures_util::{FutureExt as _, StreamExt as _};
use svc::prelude::*;
use svc::testing::{Subscribed, Subscription, TestService};
use svc_tests::{Log, TestDatabase};
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::service::{Post, Posts, assert_silent, next, start};

const PATIENCE: Duration = Duration::from_secs(120);

/// The trigger names the column that the policy compares.
const NAMING: &str =
    "DROP TRIGGER post_changed ON tb_post; CREATE TRIGGER post_changed AFTER INSERT OR UPDATE OR DELETE
    ON tb_post FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed', 'tenant');";

fn of_a(_: &Context<'_>) -> Result<RowDecision> {
    Ok(RowDecision::allow_where(
        col("tenant").eq("a").and(col("author_id").gt(0)),
    ))
}

fn with_queue(queue: u32, database: &TestDatabase) -> AppOptions {
    let mut config = SvcConfig::default();
    config.events.queue = queue;
    Posts::with(AppOptions::new().config(config), database)
}

fn insert(rows: std::ops::RangeInclusive<i32>, tenant: &str) -> String {
    let (first, last) = (rows.start(), rows.end());
    format!(
        "INSERT INTO tb_post SELECT n, 'bulk', 1, '{tenant}' FROM generate_series({first}, {last}) AS n"
    )
}

async fn subscribed(service: &TestService, document: &str) -> Subscribed {
    service
        .subscribe(Subscription::new(document))
        .await
        .unwrap()
}

/// The events that a reading client gets until one has this title, and that one.
async fn until_title(answers: &mut Subscribed, title: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let reading = async {
        loop {
            let answer = answers.next().await.expect("the stream goes on");
            let is_last = answer["data"]["changed"]["title"] == title;
            found.push(answer);
            if is_last {
                break;
            }
        }
    };
    timeout(PATIENCE, reading)
        .await
        .unwrap_or_else(|_| panic!("{title} is not told"));
    found
}

/// Asks for an event before there is one: from then on the client is one that reads, whatever the
/// machine does first.
fn begins_to_read(answers: &mut Subscribed) {
    let early = answers.next().now_or_never();
    assert!(early.is_none(), "{early:?}");
}

/// They are not sent even to a client that reads nothing at the time, and nothing is read for it.
#[tokio::test]
async fn rows_forbidden_by_their_event_are_neither_queued_nor_read() {
    let database = Posts::database().await;
    database.execute(NAMING).await;
    let service = start(with_queue(3, &database).row_policy::<Post>(of_a)).await;
    let mut answers = subscribed(&service, "subscription { changed { id title } }").await;
    let before = database.statements("v_sub_post").await;
    database.execute(&insert(100..=400, "b")).await;
    database
        .execute("UPDATE tb_post SET title = 'mine' WHERE id = 1")
        .await;
    assert_eq!(
        next(&mut answers).await["data"]["changed"],
        json!({"id": 1, "title": "mine"})
    );
    assert_silent(&mut answers).await;
    assert_eq!(database.statements("v_sub_post").await - before, 1);
}

/// A row that moves to another tenant and is deleted there tells nothing, though its events did not
/// wait.
#[tokio::test]
async fn the_deletion_of_a_forbidden_row_is_not_reported() {
    let database = Posts::database().await;
    database.execute(NAMING).await;
    let service = start(Posts::of(&database).row_policy::<Post>(of_a)).await;
    let mut answers = subscribed(&service, "subscription { removable { title } }").await;
    database
        .execute("UPDATE tb_post SET title = 'seen' WHERE id IN (1, 2)")
        .await;
    for _ in 0..2 {
        assert_eq!(
            next(&mut answers).await,
            json!({"data": {"removable": {"title": "seen"}}})
        );
    }
    database
        .execute("UPDATE tb_post SET tenant = 'b' WHERE id = 1")
        .await;
    database
        .execute("DELETE FROM tb_post WHERE id IN (1, 2)")
        .await;
    let deleted = json!({"data": {"removable": null}, "extensions": {"deleted": {"id": "2"}}});
    assert_eq!(next(&mut answers).await, deleted);
    assert_silent(&mut answers).await;
}

/// The events do not name the tenants of the rows, so each is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forbidden_rows_do_not_overflow_an_active_reader() {
    let database = Posts::database().await;
    let service = start(with_queue(10, &database).row_policy::<Post>(of_a)).await;
    let mut answers = subscribed(&service, "subscription { changed { id title } }").await;
    begins_to_read(&mut answers);
    let reading = tokio::spawn(async move { (until_title(&mut answers, "mine").await, answers) });
    for round in 0..5 {
        database
            .execute(&insert(round * 1_000 + 100..=round * 1_000 + 700, "b"))
            .await;
    }
    // An event may be one of those that the gap takes in, and nothing was sent of its row before.
    // Each update changes the row, because `svc_notify` sends no event otherwise.
    while !reading.is_finished() {
        database
            .execute("UPDATE tb_post SET title = 'mine', author_id = author_id + 1 WHERE id = 1")
            .await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (found, _answers) = reading.await.unwrap();
    assert_eq!(
        found,
        [json!({"data": {"changed": {"id": 1, "title": "mine"}}})]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_active_reader_gets_each_row_of_a_bulk_write() {
    let database = Posts::database().await;
    let service = start(with_queue(100, &database)).await;
    let mut answers = subscribed(&service, "subscription { changed { id title } }").await;
    begins_to_read(&mut answers);
    let reading = tokio::spawn(async move { until_title(&mut answers, "last").await });
    database.execute(&insert(100..=799, "a")).await;
    database
        .execute("UPDATE tb_post SET title = 'last' WHERE id = 1")
        .await;
    let found = reading.await.unwrap();
    let ids: BTreeSet<i64> = found
        .iter()
        .filter_map(|answer| answer["data"]["changed"]["id"].as_i64())
        .collect();
    assert_eq!(ids, (100..=799).chain([1]).collect());
}

/// More than may wait becomes one gap: what was sent is right afterwards, and the stream goes on.
#[tokio::test]
async fn too_many_events_are_one_gap_for_an_active_reader() {
    let database = Posts::database().await;
    let service = start(with_queue(20, &database)).await;
    let mut answers = subscribed(&service, "subscription { changed { id title } }").await;
    database
        .execute("UPDATE tb_post SET title = 'held' WHERE id = 2")
        .await;
    assert_eq!(next(&mut answers).await["data"]["changed"]["title"], "held");
    let reading =
        tokio::spawn(async move { (until_title(&mut answers, "changed").await, answers) });
    // Nothing but the gap tells of the row that was sent.
    let bulk = format!(
        "{}; UPDATE tb_post SET title = 'changed' WHERE id = 2",
        insert(1_000..=3_000, "a")
    );
    database.execute(&bulk).await;
    let (found, mut answers) = reading.await.unwrap();
    assert!(
        found.iter().all(|answer| answer.get("errors").is_none()),
        "{found:?}"
    );
    database
        .execute("UPDATE tb_post SET title = 'last' WHERE id = 1")
        .await;
    let last = until_title(&mut answers, "last").await;
    assert!(
        last.iter().all(|answer| answer.get("errors").is_none()),
        "{last:?}"
    );
}

/// Events that a test sends, with gaps among them.
#[derive(Clone)]
struct Scripted(broadcast::Sender<SourceEvent>);

impl EventSource for Scripted {
    fn listen<'a>(
        &'a self,
        _: &'a [String],
    ) -> BoxFuture<'a, Result<BoxStream<'static, SourceEvent>>> {
        let events = stream::unfold(self.0.subscribe(), |mut events| async move {
            Some((events.recv().await.ok()?, events))
        });
        std::future::ready(Ok(events.boxed())).boxed()
    }

    fn publish<'a>(&'a self, channel: &'a str, payload: &'a str) -> BoxFuture<'a, Result<()>> {
        let _ = self.0.send(SourceEvent::new(channel, payload));
        std::future::ready(Ok(())).boxed()
    }
}

async fn scripted(database: &TestDatabase) -> (TestService, Scripted) {
    let source = Scripted(broadcast::Sender::new(4_096));
    let options = Posts::of(database)
        .row_policy::<Post>(of_a)
        .event_source(source.clone());
    (start(options).await, source)
}

fn changed(source: &Scripted, payload: &Value) {
    source
        .0
        .send(SourceEvent::new("post_changed", payload.to_string()))
        .unwrap();
}

/// A deletion behind a gap is not sent, however many gaps there were: the changes before it were
/// not heard of.
#[tokio::test]
async fn a_second_gap_does_not_reveal_a_foreign_deletion() {
    let database = Posts::database().await;
    let (service, source) = scripted(&database).await;
    for gaps in [1, 2, 3] {
        database.execute("DELETE FROM tb_post WHERE id = 50; INSERT INTO tb_post VALUES (50, 'seen', 1, 'a')").await;
        let mut answers = subscribed(&service, "subscription { removable { title } }").await;
        changed(&source, &json!({"id": 50}));
        assert_eq!(
            next(&mut answers).await,
            json!({"data": {"removable": {"title": "seen"}}})
        );
        database
            .execute("UPDATE tb_post SET tenant = 'b' WHERE id = 50")
            .await;
        source.0.send(SourceEvent::Gap).unwrap();
        database.execute("DELETE FROM tb_post WHERE id = 50").await;
        changed(&source, &json!({"id": 50, "op": "delete"}));
        for _ in 1..gaps {
            source.0.send(SourceEvent::Gap).unwrap();
        }
        assert_silent(&mut answers).await;
    }
}

/// Payloads that name no row of the type are dropped with a line of the log, which repeated ones do
/// not fill.
#[tokio::test]
async fn events_with_a_key_of_another_type_are_dropped() {
    let log = Log::start();
    let database = Posts::database().await;
    let (service, source) = scripted(&database).await;
    let mut answers = subscribed(&service, "subscription { changed { title } }").await;
    for _ in 0..100 {
        for id in [
            json!("x"),
            json!("1\u{0}"),
            json!("\u{0}"),
            json!(true),
            json!("1e999"),
            json!("NaN"),
            json!([1]),
        ] {
            changed(&source, &json!({ "id": id }));
        }
    }
    for id in [json!(1.5), json!(9_223_372_036_854_775_808_u64), json!("")] {
        changed(&source, &json!({ "id": id }));
    }
    changed(&source, &json!({"id": 1}));
    assert_eq!(
        next(&mut answers).await,
        json!({"data": {"changed": {"title": "t1"}}})
    );
    assert_silent(&mut answers).await;
    log.has("dropped an event that names no row").await;
    let lines = log
        .text()
        .matches("dropped an event that names no row")
        .count();
    assert!(lines < 20, "{lines} lines");
}
