//! Answers that instances share in Redis, and what happens while it is away.

use std::time::{Duration, Instant};

use serde_json::json;
use svc::prelude::*;
use svc::{RedisClient, ResponseCacheConfig};
use svc_tests::{App, Log, Redis, TestDatabase, eventually};

use super::service::{TRIGGER, ask, database, options, serve, title, until_title};

/// The bound of a request's wait, and what a busy machine adds.
const PATIENCE: Duration = Duration::from_secs(45);
/// The time-out of events that must happen.
const SOON: Duration = Duration::from_secs(120);

async fn instance(database: &TestDatabase, redis: &Redis) -> App {
    let response_cache = ResponseCacheConfig {
        redis: true,
        enabled: Some(true),
        ..ResponseCacheConfig::default()
    };
    let config = SvcConfig {
        response_cache,
        ..SvcConfig::default()
    };
    let options = options(database)
        .config(config)
        .database_url(database.url());
    serve(options.redis(RedisClient::new(&redis.url()).unwrap())).await
}

/// The headers of a user of the service, under the name that all of its instances have.
fn of(user: &str) -> [(&str, &str); 2] {
    [("x-user", user), ("host", "svc.example.com")]
}

/// Waits until what one instance has made is known to the other one.
async fn until_shared(database: &TestDatabase, one: &App, other: &App, document: &str) {
    let mut number = 0;
    eventually(async || {
        number += 1;
        let user = format!("user{number}");
        ask(one, document, &of(&user)).await.data();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let before = database.statements("v_kept_post").await;
        ask(other, document, &of(&user)).await.data();
        let after = database.statements("v_kept_post").await;
        if after == before {
            Ok(())
        } else {
            Err("it was read again".to_owned())
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_share_and_invalidate_responses_together() {
    let (database, redis) = (database().await, Redis::new().await);
    database.execute(TRIGGER).await;
    let (one, other) = (
        instance(&database, &redis).await,
        instance(&database, &redis).await,
    );
    until_shared(&database, &one, &other, "{ posts { title } }").await;
    let asked = async |app: &App, user: &str| {
        ask(app, "{ posts(id: 1) { title owner } }", &of(user))
            .await
            .data()["posts"][0]["title"]
            .clone()
    };
    for round in 0..10 {
        let expected = format!("r{round}");
        assert_ne!(asked(&one, "ada").await, expected);
        assert_ne!(asked(&other, "ada").await, expected);
        match round % 2 {
            0 => drop(
                one.query(&format!(
                    r#"mutation {{ rename(id: 1, title: "{expected}") }}"#
                ))
                .await
                .data(),
            ),
            _ => {
                database
                    .execute(&format!(
                        "UPDATE tb_post SET title = '{expected}' WHERE id = 1"
                    ))
                    .await;
            }
        }
        for app in [&one, &other] {
            svc_tests::within(SOON, async || {
                let found = asked(app, "ada").await;
                if found == expected {
                    Ok(())
                } else {
                    Err(found.to_string())
                }
            })
            .await;
        }
    }
    until_shared(&database, &one, &other, "{ posts { title id } }").await;
    // One that starts later begins with what changed meanwhile in mind.
    database
        .execute("UPDATE tb_post SET title = 'last' WHERE id = 1")
        .await;
    let third = instance(&database, &redis).await;
    until_title(&third, "last", SOON).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_absent_redis_delays_no_request() {
    let (database, mut redis) = (database().await, Redis::new().await);
    let app = instance(&database, &redis).await;
    let log = Log::start();
    let frozen = redis.freeze();
    let mut longest = Duration::ZERO;
    for number in 0..20 {
        let began = Instant::now();
        let user = format!("user{number}");
        let reply = ask(&app, "{ posts(id: 1) { title } }", &of(&user)).await;
        assert_eq!(reply.data(), json!({ "posts": [{ "title": "one" }] }));
        longest = longest.max(began.elapsed());
    }
    assert!(longest < PATIENCE, "{longest:?}");
    drop(frozen);
    redis.stop();
    for number in 20..40 {
        let user = format!("user{number}");
        let reply = ask(&app, "{ posts(id: 1) { title } }", &of(&user)).await;
        assert_eq!(reply.data(), json!({ "posts": [{ "title": "one" }] }));
    }
    // What changes meanwhile is told when it is back: nobody finds the old answer there.
    app.query(r#"mutation { rename(id: 1, title: "new") }"#)
        .await
        .data();
    assert_eq!(title(&app).await, "new");
    redis.start().await;
    let other = instance(&database, &redis).await;
    until_shared(&database, &app, &other, "{ posts(id: 1) { title } }").await;
    assert_eq!(title(&app).await, "new");
    assert_eq!(title(&other).await, "new");
    drop(log);
}

#[tokio::test]
async fn sharing_needs_a_redis() {
    let database = database().await;
    let response_cache = ResponseCacheConfig {
        redis: true,
        enabled: Some(true),
        ..ResponseCacheConfig::default()
    };
    let config = SvcConfig {
        response_cache,
        ..SvcConfig::default()
    };
    let refused = create_svc_app(
        options(&database)
            .config(config)
            .database_url(database.url()),
    )
    .await
    .unwrap_err();
    assert!(refused.to_string().contains("SVC_REDIS_URL"), "{refused}");
}
