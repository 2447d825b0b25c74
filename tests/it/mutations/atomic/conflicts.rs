//! Operations that lock the same rows.

use futures_util::future::join;
use serde_json::json;
use svc::DatabaseConfig;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{database, errors, items, names, step, step_in_body};

/// Runs two operations that lock two rows in opposite orders, and returns the number of those that
/// succeed.
async fn crossed(retries: u32, field: &str) -> (usize, TestDatabase) {
    let database = database().await;
    let config = SvcConfig {
        database: DatabaseConfig {
            url: Some(database.url()),
            retries,
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .auto_camel_case(true)
        .queries(queries![items])
        .mutations(mutations![step, step_in_body]);
    let app = App::serve(options).await;
    let [forth, back] = [(1, 2), (2, 1)].map(|(first, second)| {
        format!("mutation @atomic {{ a: {field}(id: {first}) b: {field}(id: {second}) }}")
    });
    let (forth, back) = join(app.query(&forth), app.query(&back)).await;
    let replies = [forth, back];
    let failed = replies.iter().filter(|reply| !errors(reply).is_empty());
    for reply in failed.clone() {
        assert!(reply.text.contains("\"CONFLICT\""), "{}", reply.text);
        assert_eq!(reply.json()["data"], json!({"a": null, "b": null}));
    }
    (2 - failed.count(), database)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_is_a_conflict_unless_a_setting_allows_retries() {
    for (retries, succeeding, expected) in [(0, 1, ["one+", "two+"]), (5, 2, ["one++", "two++"])] {
        let (succeeded, database) = crossed(retries, "step").await;
        assert_eq!(succeeded, succeeding);
        assert_eq!(names(&database).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_of_the_program_is_not_run_again() {
    let (succeeded, database) = crossed(5, "stepInBody").await;
    assert_eq!(succeeded, 1);
    assert_eq!(names(&database).await, ["one+", "two+"]);
    assert_eq!(
        database.value::<i64>("SELECT last_value FROM runs").await,
        4
    );
}
