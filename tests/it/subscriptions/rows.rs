//! Planned subscriptions: events name rows, which are read.

use std::time::{Duration, Instant};

use serde_json::json;
use svc::prelude::*;
use svc::testing::Subscription;

use super::service::{
    Author, Posts, assert_only_reads, assert_silent, next, start, started, until_listening,
};

#[svc_type(sql_source = "v_sub_day")]
struct Day {
    id: NaiveDate,
    title: String,
}

#[svc::subscription(channel = "day_changed")]
async fn days(title: Option<String>) -> Day;

#[tokio::test]
async fn an_event_sends_its_row() {
    let (database, service) = started().await;
    let document = "subscription { changed { title author { name } loud } }";
    let mut answers = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = 'new' WHERE id = 1")
        .await;
    let post = json!({"title": "new", "author": {"name": "ada"}, "loud": "NEW"});
    assert_eq!(next(&mut answers).await, json!({"data": {"changed": post}}));
    database
        .execute("INSERT INTO tb_post VALUES (9, 'ninth', 2, 'a')")
        .await;
    assert_eq!(
        next(&mut answers).await["data"]["changed"]["title"],
        "ninth"
    );
}

#[tokio::test]
async fn an_update_without_changes_sends_nothing() {
    let (database, service) = started().await;
    let mut answers = service
        .subscribe(Subscription::new("subscription { changed { title } }"))
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = title; UPDATE tb_post SET title = 'x' WHERE id = 2")
        .await;
    assert_eq!(
        next(&mut answers).await,
        json!({"data": {"changed": {"title": "x"}}})
    );
    assert_silent(&mut answers).await;
}

#[tokio::test]
async fn arguments_filter_events_and_rows() {
    let (database, service) = started().await;
    let by_id = "subscription { changed(id: 2) { id } }";
    // The payload has the author, and not the title.
    let by_author = "subscription { changed(author: 1) { id } }";
    let by_title = r#"subscription { changed(title: "t3") { id } }"#;
    let mut subscribed = Vec::new();
    for document in [by_id, by_author, by_title] {
        subscribed.push(
            service
                .subscribe(Subscription::new(document))
                .await
                .unwrap(),
        );
    }
    let before = database.statements("v_sub_post").await;
    database
        .execute("UPDATE tb_post SET tenant = 'b' WHERE id = 1")
        .await;
    assert_eq!(
        next(&mut subscribed[1]).await,
        json!({"data": {"changed": {"id": 1}}})
    );
    assert_silent(&mut subscribed[0]).await;
    // Only the one whose condition the payload does not tell reads besides.
    assert_only_reads(&mut subscribed[2..], &database, before, 2).await;
    assert_eq!(database.statements("v_sub_post").await - before, 2);
    database
        .execute("UPDATE tb_post SET title = 't3' WHERE id = 2")
        .await;
    assert_eq!(
        next(&mut subscribed[0]).await,
        json!({"data": {"changed": {"id": 2}}})
    );
    assert_eq!(
        next(&mut subscribed[2]).await,
        json!({"data": {"changed": {"id": 2}}})
    );
    assert_silent(&mut subscribed[1]).await;
}

/// Only the database can tell that these are no dates, and the subscriber has not sent them.
#[tokio::test]
async fn an_event_whose_id_the_database_refuses_is_dropped() {
    let database = Posts::database().await;
    database
        .execute("CREATE VIEW v_sub_day AS SELECT DATE '2026-01-01' + id AS id, title FROM tb_post")
        .await;
    let service = start(Posts::of(&database).subscriptions(subscriptions![days])).await;
    until_listening(&service, "subscription { days { id } }").await;
    let mut subscribed = Vec::new();
    for document in [
        "subscription { days { title } }",
        r#"subscription { days(title: "t1") { title } }"#,
    ] {
        subscribed.push(
            service
                .subscribe(Subscription::new(document))
                .await
                .unwrap(),
        );
    }
    for id in ["x", "2026-13-01", "2026-01-02"] {
        database
            .execute(&format!(
                r#"SELECT pg_notify('day_changed', '{{"id": "{id}"}}')"#
            ))
            .await;
    }
    for answers in &mut subscribed {
        assert_eq!(
            next(answers).await,
            json!({"data": {"days": {"title": "t1"}}})
        );
        assert_silent(answers).await;
    }
}

/// Whether the event says the key or only the row does, and whatever the view has it in.
#[tokio::test]
async fn an_argument_is_compared_with_the_key_of_a_relation() {
    let (database, service) = started().await;
    let mut of_ada = service
        .subscribe(Subscription::new(
            "subscription { noted(author: 1) { id } }",
        ))
        .await
        .unwrap();
    let mut of_bob = service
        .subscribe(Subscription::new(
            "subscription { noted(author: 2) { id } }",
        ))
        .await
        .unwrap();
    for payload in [r#"{"id": 1}"#, r#"{"id": 1, "author_id": 1}"#] {
        database
            .execute(&format!("SELECT pg_notify('note_changed', '{payload}')"))
            .await;
        assert_eq!(
            next(&mut of_ada).await,
            json!({"data": {"noted": {"id": 1}}}),
            "{payload}"
        );
        assert_silent(&mut of_bob).await;
    }
}

#[tokio::test]
async fn arguments_do_not_reveal_withheld_related_rows() {
    let database = Posts::database().await;
    let of_bob = |_: &Context<'_>| Ok(RowDecision::allow_where(col("name").eq("bob")));
    let service = start(Posts::of(&database).row_policy::<Author>(of_bob)).await;
    for (field, channel) in [("changed", "post_changed"), ("noted", "note_changed")] {
        let asked = |author| {
            Subscription::new(format!(
                "subscription {{ {field}(author: {author}) {{ id }} }}"
            ))
        };
        let mut hidden = service.subscribe(asked(1)).await.unwrap();
        let mut seen = service.subscribe(asked(2)).await.unwrap();
        for key in ["", r#", "author_id": "#] {
            for id in [1, 2] {
                let key = if key.is_empty() {
                    String::new()
                } else {
                    format!("{key}{id}")
                };
                database
                    .execute(&format!(
                        r#"SELECT pg_notify('{channel}', '{{"id": {id}{key}}}')"#
                    ))
                    .await;
            }
            assert_eq!(
                next(&mut seen).await["data"][field]["id"],
                2,
                "{field} {key}"
            );
            assert_silent(&mut hidden).await;
        }
    }
}

#[tokio::test]
async fn a_deletion_is_sent_to_subscribers_that_received_the_row() {
    let (database, service) = started().await;
    let mut knows = service
        .subscribe(Subscription::new("subscription { removable { title } }"))
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = 'known' WHERE id = 1")
        .await;
    assert_eq!(
        next(&mut knows).await,
        json!({"data": {"removable": {"title": "known"}}})
    );
    let mut never_sent = service
        .subscribe(Subscription::new("subscription { removable { title } }"))
        .await
        .unwrap();
    let mut never_told = service
        .subscribe(Subscription::new("subscription { changed { title } }"))
        .await
        .unwrap();
    database.execute("DELETE FROM tb_post WHERE id = 1").await;
    let deleted = json!({"data": {"removable": null}, "extensions": {"deleted": {"id": "1"}}});
    assert_eq!(next(&mut knows).await, deleted);
    assert_silent(&mut never_sent).await;
    assert_silent(&mut never_told).await;
}

#[tokio::test]
async fn a_deletion_directly_after_a_change_is_sent() {
    let (database, service) = started().await;
    let document = "subscription { removable { title } }";
    let mut quick = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    let mut slow = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = 'known' WHERE id = 1")
        .await;
    for answers in [&mut quick, &mut slow] {
        assert_eq!(
            next(answers).await,
            json!({"data": {"removable": {"title": "known"}}})
        );
    }
    let waiting = tokio::spawn(async move { (next(&mut quick).await, quick) });
    database
        .execute("BEGIN; UPDATE tb_post SET title = 'x' WHERE id = 1; DELETE FROM tb_post WHERE id = 1; COMMIT")
        .await;
    let deleted = json!({"data": {"removable": null}, "extensions": {"deleted": {"id": "1"}}});
    let (answer, mut quick) = waiting.await.unwrap();
    assert_eq!(answer, deleted);
    assert_eq!(next(&mut slow).await, deleted);
    assert_silent(&mut quick).await;
    // A row that they were never sent is nobody's loss.
    database
        .execute("BEGIN; UPDATE tb_post SET title = 'x' WHERE id = 2; DELETE FROM tb_post WHERE id = 2; COMMIT")
        .await;
    assert_silent(&mut slow).await;
}

#[tokio::test]
async fn equal_subscribers_share_one_statement_for_each_event() {
    let (database, service) = started().await;
    let document = "subscription ($id: Int) { changed(id: $id) { title author { name } } }";
    let mut subscribed = Vec::new();
    for number in 0..100 {
        let variables = if number % 2 == 0 {
            json!({})
        } else {
            json!({"id": 1})
        };
        let subscription = Subscription::new(document).variables(variables);
        subscribed.push(service.subscribe(subscription).await.unwrap());
    }
    let before = database.statements("v_sub_post").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(
        database.statements("v_sub_post").await,
        before,
        "nothing has happened"
    );
    let mut swift = 0;
    for round in 1..=50 {
        let before = database.statements("v_sub_post").await;
        database
            .execute(&format!(
                "UPDATE tb_post SET title = 'r{round}' WHERE id = 1"
            ))
            .await;
        let expected =
            json!({"data": {"changed": {"title": format!("r{round}"), "author": {"name": "ada"}}}});
        let asked = Instant::now();
        let all = svc::futures_util::future::join_all(subscribed.iter_mut().map(next)).await;
        // Rows are kept for a second: on a machine that stands still for so long, the last ones
        // read again.
        let is_swift = asked.elapsed() < Duration::from_secs(1);
        assert!(all.iter().all(|answer| *answer == expected), "{all:?}");
        let statements = database.statements("v_sub_post").await - before;
        assert!(statements == 1 || !is_swift, "{statements} statements");
        swift += u32::from(is_swift);
        if swift == 5 {
            return;
        }
    }
    panic!("the machine stood still in most rounds");
}

#[tokio::test]
async fn a_subscriber_that_leaves_does_not_silence_the_others() {
    let (database, service) = started().await;
    let document = "subscription { changed { title } }";
    let first = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    let mut second = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    drop(first);
    database
        .execute("UPDATE tb_post SET title = 'still' WHERE id = 1")
        .await;
    assert_eq!(next(&mut second).await["data"]["changed"]["title"], "still");
    let before = database.statements("v_sub_post").await;
    drop(second);
    database
        .execute("UPDATE tb_post SET title = 'nobody' WHERE id = 1")
        .await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(
        database.statements("v_sub_post").await,
        before,
        "nobody reads for those who have left"
    );
    let mut third = service
        .subscribe(Subscription::new(document))
        .await
        .unwrap();
    database
        .execute("UPDATE tb_post SET title = 'third' WHERE id = 2")
        .await;
    assert_eq!(next(&mut third).await["data"]["changed"]["title"], "third");
}

#[tokio::test]
async fn a_slow_reader_gets_each_last_row_and_a_slower_one_is_ended() {
    let database = Posts::database().await;
    let mut config = SvcConfig::default();
    config.events.queue = 5;
    let service = start(Posts::with(AppOptions::new().config(config), &database)).await;
    let mut slow = service
        .subscribe(Subscription::new("subscription { changed { id title } }"))
        .await
        .unwrap();
    let mut quick = service
        .subscribe(Subscription::new(
            "subscription { changed(id: 3) { title } }",
        ))
        .await
        .unwrap();
    for round in 0..20 {
        database
            .execute(&format!(
                "UPDATE tb_post SET title = 's{round}' WHERE id = 1"
            ))
            .await;
    }
    database
        .execute("UPDATE tb_post SET title = 'done' WHERE id = 3")
        .await;
    assert_eq!(next(&mut quick).await["data"]["changed"]["title"], "done");
    assert_eq!(
        next(&mut slow).await["data"]["changed"],
        json!({"id": 1, "title": "s19"})
    );
    assert_eq!(
        next(&mut slow).await["data"]["changed"],
        json!({"id": 3, "title": "done"})
    );
    database
        .execute(
            "INSERT INTO tb_post SELECT n, 'flood', 1, 'a' FROM generate_series(100, 120) AS n",
        )
        .await;
    database
        .execute("UPDATE tb_post SET title = 'behind' WHERE id = 3")
        .await;
    assert_eq!(next(&mut quick).await["data"]["changed"]["title"], "behind");
    // They have come, and one who takes none for a second is too slow for those that come after it.
    let start = Instant::now();
    let mut is_slow = false;
    while !is_slow {
        is_slow = start.elapsed() > Duration::from_millis(1_500);
        database
            .execute("UPDATE tb_post SET title = 'flood ' || clock_timestamp() WHERE id >= 100")
            .await;
    }
    database
        .execute("UPDATE tb_post SET title = 'after' WHERE id = 3")
        .await;
    // The one that reads on is not in the way of the flood.
    assert_eq!(next(&mut quick).await["data"]["changed"]["title"], "after");
    let end = next(&mut slow).await;
    assert_eq!(
        end["errors"][0]["extensions"]["code"], "SUBSCRIPTION_TOO_SLOW",
        "{end}"
    );
    assert_eq!(slow.next().await, None);
}
