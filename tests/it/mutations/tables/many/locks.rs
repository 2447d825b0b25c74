//! Rows that other transactions change or lock meanwhile.

use std::time::Duration;

use futures_util::future::join;
use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{Item, SQL, ask, done, options, serve, stored};
use crate::mutations::contention::until_one_waits;

/// Whoever waits for the lock waits for longer: it is given back after all answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// The filter is checked again once the row is locked.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_stops_matching_is_not_written() {
    for mutation in [
        r#"change(where: { shelf: { eq: "a" } }, input: { price: 5 }) { id }"#,
        r#"remove(where: { shelf: { eq: "a" } }) { id }"#,
    ] {
        let (database, app) = serve().await;
        let pool = database.pool().await;
        let mut other = pool.begin().await.unwrap();
        let moved = "UPDATE app.tb_item SET shelf = 'z' WHERE pk_item = 2";
        sqlx::query(moved).execute(&mut *other).await.unwrap();

        let change = async {
            until_one_waits(&pool).await;
            other.commit().await.unwrap();
        };
        let (answer, ()) = join(done(&app, mutation), change).await;
        pool.close().await;

        assert_eq!(answer, json!([{ "id": 1 }, { "id": 4 }]), "{mutation}");
        let kept = stored(&database).await;
        assert!(kept.contains("2 bob z 20"), "{mutation}: {kept}");
    }
}

/// A row that another transaction removes is no longer selected.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_removed_is_not_written() {
    let (database, app) = serve().await;
    let pool = database.pool().await;
    let mut other = pool.begin().await.unwrap();
    let removed = "DELETE FROM app.tb_item WHERE pk_item = 1";
    sqlx::query(removed).execute(&mut *other).await.unwrap();

    let change = async {
        until_one_waits(&pool).await;
        other.commit().await.unwrap();
    };
    let mutation = r#"change(where: { owner: { eq: "ada" } }, input: { price: 5 }) { id }"#;
    let (answer, ()) = join(done(&app, mutation), change).await;
    pool.close().await;

    assert_eq!(answer, json!([{ "id": 3 }, { "id": 4 }]));
    assert_eq!(
        stored(&database).await,
        "2 bob a 20; 3 ada b 5; 4 ada a 5; 5 bob b 50"
    );
}

/// Inserts of referring rows lock the rows that they refer to against deletes, but not against
/// updates, which keep the keys.
#[tokio::test]
async fn updates_do_not_wait_for_references() {
    let (database, app) = serve().await;
    let pool = database.pool().await;
    let mut other = pool.begin().await.unwrap();
    let lock = "SELECT 1 FROM app.tb_item FOR KEY SHARE";
    sqlx::query(lock).execute(&mut *other).await.unwrap();

    let change = r#"change(where: { shelf: { eq: "b" } }, input: { price: 5 }) { id }"#;
    let answer = tokio::time::timeout(PATIENCE, done(&app, change))
        .await
        .expect("no wait");
    assert_eq!(answer, json!([{ "id": 3 }, { "id": 5 }]));

    other.rollback().await.unwrap();
    pool.close().await;
}

#[tokio::test]
async fn hidden_rows_are_not_waited_for() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let options = options(&database).row_policy::<Item>(|ctx| {
        let user = ctx.header("x-user").unwrap_or_default().to_owned();
        Ok(RowDecision::allow_where(col("owner").eq(user)))
    });
    let app = App::serve(options).await;
    let pool = database.pool().await;
    let mut other = pool.begin().await.unwrap();
    let lock = "SELECT 1 FROM app.tb_item WHERE owner = 'bob' FOR UPDATE";
    sqlx::query(lock).execute(&mut *other).await.unwrap();

    for mutation in [
        "change(where: {}, input: { price: 5 }) { id }",
        "remove(where: {}) { id }",
    ] {
        let answer = tokio::time::timeout(PATIENCE, ask(&app, "ada", mutation))
            .await
            .expect(mutation);
        assert_eq!(
            answer,
            json!({ "data": { "answer": [{ "id": 1 }, { "id": 3 }, { "id": 4 }] } }),
            "{mutation}"
        );
    }
    other.rollback().await.unwrap();
    pool.close().await;
    assert_eq!(stored(&database).await, "2 bob a 20; 5 bob b 50");
}
