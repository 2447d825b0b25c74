//! Changes make kept answers old.

use std::time::{Duration, Instant};

use serde_json::json;
use svc::ResponseCache;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, eventually};

use super::service::{
    Post, TRIGGER, ask, database, options, serve, title, uncached_options, until_title,
    until_waiting,
};

/// A fifth of the time for which answers are kept, and enough for a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// Writes behind the back of a service whose answers nothing makes old.
async fn write(database: &TestDatabase, title: &str) {
    database
        .execute(&format!(
            "UPDATE tb_post SET title = '{title}' WHERE id = 1"
        ))
        .await;
}

async fn instances(database: &TestDatabase) -> [App; 2] {
    [
        serve(options(database)).await,
        serve(options(database)).await,
    ]
}

#[tokio::test]
async fn a_mutation_invalidates_the_types_it_declares() {
    let database = database().await;
    let [app, other] = instances(&database).await;
    for (number, mutation) in ["rename", "renameAndSay"].into_iter().enumerate() {
        let mutation = if number == 0 {
            mutation.to_owned()
        } else {
            "rename_and_say".to_owned()
        };
        assert_ne!(title(&app).await, mutation);
        assert_ne!(title(&other).await, mutation);
        app.query(&format!(
            r#"mutation {{ {mutation}(id: 1, title: "{mutation}") }}"#
        ))
        .await
        .data();
        assert_eq!(title(&app).await, mutation, "whoever has written reads it");
        until_title(&other, &mutation, SOON).await;
    }
    app.query(r#"mutation { rename_in_silence(id: 1, title: "silence") }"#)
        .await
        .data();
    assert_eq!(title(&app).await, "rename_and_say");
}

#[tokio::test]
async fn a_mutation_invalidates_the_types_of_its_result() {
    let database = database().await;
    let [app, other] = instances(&database).await;
    let name = async |app: &App| {
        app.query("{ authors { name } }").await.data()["authors"][0]["name"].clone()
    };
    let posts = "{ posts { title } }";
    let through_posts = "{ posts { author { name } } }";
    assert_eq!(
        (name(&app).await, name(&other).await),
        (json!("ada"), json!("ada"))
    );
    app.query(posts).await.data();
    app.query(through_posts).await.data();
    let before = database.statements("v_kept_post").await;
    app.query(r#"mutation { rename_author(id: 1, name: "eve") { id } }"#)
        .await
        .data();
    assert_eq!(name(&app).await, "eve");
    app.query(posts).await.data();
    assert_eq!(
        database.statements("v_kept_post").await,
        before,
        "an answer without authors is as good as before"
    );
    assert_eq!(
        app.query(through_posts).await.data()["posts"][0]["author"]["name"],
        "eve"
    );
    eventually(async || {
        if name(&other).await == "eve" {
            Ok(())
        } else {
            Err("ada".to_owned())
        }
    })
    .await;
}

#[tokio::test]
async fn types_of_one_view_and_declared_types_change_together() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let headlines = "{ headlines { title } }";
    app.query(headlines).await.data();
    assert_eq!(app.query("{ count }").await.data(), json!({ "count": 2 }));
    database
        .execute("INSERT INTO tb_post VALUES (3, 'three', 1, 'ada')")
        .await;
    assert_eq!(app.query("{ count }").await.data(), json!({ "count": 2 }));
    app.query(r#"mutation { rename(id: 1, title: "new") }"#)
        .await
        .data();
    assert_eq!(app.query("{ count }").await.data(), json!({ "count": 3 }));
    assert_eq!(
        app.query(headlines).await.data()["headlines"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

/// The filter looks at authors, though none is selected.
#[tokio::test]
async fn types_in_filters_invalidate_a_response() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let document = r#"{ posts(where: { author: { name: { eq: "eve" } } }) { title } }"#;
    assert_eq!(app.query(document).await.data(), json!({ "posts": [] }));
    app.query(r#"mutation { rename_author(id: 1, name: "eve") { id } }"#)
        .await
        .data();
    assert_eq!(
        app.query(document).await.data(),
        json!({ "posts": [{ "title": "one" }] }),
        "empty answers change too"
    );
}

#[tokio::test]
async fn a_mutation_that_does_nothing_changes_nothing() {
    let database = database().await;
    let denied = async |request: AuthorizationRequest| request.operation_name() != "rename";
    let app = serve(options(&database).authorizer(denied)).await;
    assert_eq!(title(&app).await, "one");
    write(&database, "behind").await;
    assert_eq!(
        app.query(r#"mutation { rename(id: 1, title: "x") }"#)
            .await
            .code(),
        "FORBIDDEN"
    );
    assert_eq!(title(&app).await, "one", "strangers cannot empty the cache");
}

/// Writes by psql are seen through two instances within 50 ms, or within the time of ten questions
/// on a busy machine: the tenth of them at least.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_reports_writes_from_outside_the_service() {
    let database = database().await;
    database.execute(TRIGGER).await;
    let [one, other] = instances(&database).await;
    let pool = database.pool().await;
    let (mut times, mut questions) = (Vec::new(), Vec::new());
    for round in 0..40 {
        let expected = format!("r{round}");
        let asked = Instant::now();
        assert_ne!(
            (title(&one).await, title(&other).await),
            (json!(expected), json!(expected))
        );
        questions.push(asked.elapsed());
        let update = sqlx::query("UPDATE tb_post SET title = $1 WHERE id = 1").bind(&expected);
        update.execute(&pool).await.unwrap();
        let written = Instant::now();
        until_title(&one, &expected, SOON).await;
        until_title(&other, &expected, SOON).await;
        times.push(written.elapsed());
    }
    times.sort();
    questions.sort();
    let soon = (questions[questions.len() / 10] * 5).max(Duration::from_millis(50));
    assert!(
        times[times.len() / 10] < soon,
        "{times:?}, and two questions take {questions:?}"
    );
    pool.close().await;
}

#[tokio::test]
async fn channels_and_notifications_invalidate_responses() {
    let database = database().await;
    let cache = ResponseCache::new().changed_by::<Post>("posts_imported");
    let app = serve(uncached_options(&database).response_cache(cache)).await;
    for (title_now, notify) in [
        ("a", "NOTIFY posts_imported"),
        ("b", r#"NOTIFY svc_changed, '{"types": ["Post"]}'"#),
        ("c", r#"NOTIFY svc_changed, '{}'"#),
        ("d", "NOTIFY svc_changed, 'nonsense'"),
    ] {
        let before = title(&app).await;
        write(&database, title_now).await;
        assert_eq!(title(&app).await, before);
        database.execute(notify).await;
        until_title(&app, title_now, SOON).await;
    }
    write(&database, "e").await;
    database
        .execute(r#"NOTIFY svc_changed, '{"types": ["Author", "Unknown"]}'"#)
        .await;
    app.query("{ authors { id } }").await.data();
    assert_eq!(title(&app).await, "d");
}

/// Nothing is kept while changes are not heard of, and what was kept before is forgotten.
#[tokio::test]
async fn a_service_that_cannot_listen_caches_nothing() {
    let database = database().await;
    let app = serve(options(&database)).await;
    assert_eq!(title(&app).await, "one");
    write(&database, "behind").await;
    assert_eq!(title(&app).await, "one");
    let pool = database.pool().await;
    let listening = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                     WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let ended: i64 = sqlx::query_scalar(listening)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(ended > 0);
    until_title(&app, "behind", SOON).await;
    pool.close().await;
}

/// A read that began before a write ends after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fill_from_before_a_change_is_not_cached() {
    let database = database().await;
    let slow = "CREATE FUNCTION slowly(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM pg_advisory_xact_lock_shared(8); RETURN $1; END $$;
                CREATE OR REPLACE VIEW v_kept_post AS SELECT id, slowly(title) AS title, author_id, owner FROM tb_post";
    database.execute(slow).await;
    let app = serve(options(&database)).await;
    // Reads of titles end once nobody holds the lock.
    let pool = database.pool().await;
    let mut lock = pool.acquire().await.unwrap();
    sqlx::query("SELECT pg_advisory_lock(8)")
        .execute(&mut *lock)
        .await
        .unwrap();
    let reading = async {
        let first = title(&app).await;
        (first, title(&app).await)
    };
    let writing = async {
        until_waiting(&pool, 1).await;
        app.query(r#"mutation { rename(id: 1, title: "new") }"#)
            .await
            .data();
        // Whoever asks behind the write does not wait for the read before it, but reads anew.
        let unlocking = async {
            until_waiting(&pool, 2).await;
            sqlx::query("SELECT pg_advisory_unlock(8)")
                .execute(&mut *lock)
                .await
                .unwrap();
        };
        tokio::join!(title(&app), unlocking).0
    };
    let ((first, second), written) = tokio::join!(reading, writing);
    assert_eq!(
        (first, second, written),
        (json!("one"), json!("new"), json!("new"))
    );
}

/// A client that goes away in the middle does not leave an old answer behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mutation_whose_client_disconnected_invalidates() {
    let database = database().await;
    let slow =
        "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); RETURN NEW; END $$;
                CREATE TRIGGER pause BEFORE UPDATE ON tb_author FOR EACH ROW EXECUTE FUNCTION pause()";
    database.execute(slow).await;
    let app = serve(options(&database)).await;
    let names = async || app.query("{ authors { name } }").await.data();
    let mut before = names().await;
    // On a busy machine it may be answered before the client is seen to be late.
    let mut tries = 0..20;
    loop {
        let number = tries
            .next()
            .expect("it is answered too early for this test");
        let mutation =
            format!(r#"mutation {{ rename_author(id: 1, name: "gone {number}") {{ id }} }}"#);
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let request = request.body(json!({ "query": mutation }).to_string());
        if tokio::time::timeout(Duration::from_millis(270), request.send())
            .await
            .is_err()
        {
            break;
        }
        before = names().await;
    }
    // Whether it was cancelled or committed, the service says what is there.
    eventually(async || {
        let stored: String = database
            .value("SELECT name FROM tb_author WHERE id = 1")
            .await;
        let said = names().await;
        if said["authors"][0]["name"] == stored {
            Ok(())
        } else {
            Err(format!("{said} {stored} {before}"))
        }
    })
    .await;
}

#[tokio::test]
async fn a_change_invalidates_the_responses_of_all_users() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let of = async |user| {
        ask(&app, "{ posts(id: 1) { title } }", &[("x-user", user)])
            .await
            .text
    };
    let before = (of("ada").await, of("bob").await);
    app.query(r#"mutation { rename(id: 1, title: "new") }"#)
        .await
        .data();
    assert_ne!(of("ada").await, before.0);
    assert_ne!(of("bob").await, before.1);
}
