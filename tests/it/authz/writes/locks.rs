//! Rows of others that somebody has locked: a write neither waits for them nor locks them.

use std::time::Duration;

use serde_json::json;
use svc_tests::TestDatabase;

use super::{SQL, ask, code, serve};

/// Whoever waits for the lock waits for longer: it is given back after all answers.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_locked_hidden_row_looks_absent() {
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database).await;
    let pool = database.pool().await;
    let mut other = pool.begin().await.unwrap();
    let lock = "SELECT 1 FROM tb_doc WHERE id = 100 FOR UPDATE; SELECT 1 FROM tb_comment WHERE id IN (50, 51) FOR UPDATE";
    sqlx::raw_sql(lock).execute(&mut *other).await.unwrap();

    for (mutation, locked, absent) in [
        ("change(id: N, input: {slug: \"x\"})", 100, 999),
        ("change(id: N, input: {})", 100, 999),
        ("remove(id: N)", 100, 999),
        ("change(id: 1, input: {commentIds: [N]})", 51, 999),
        (
            "change(id: 1, input: {comments: [{id: N, code: \"x\"}]})",
            51,
            999,
        ),
        ("change(id: 1, input: {comments: [{id: N}]})", 50, 999),
    ] {
        let answer = |id: i32| {
            let mutation = mutation.replace('N', &id.to_string());
            let app = &app;
            async move { tokio::time::timeout(PATIENCE, ask(app, &mutation)).await }
        };
        let (locked, absent) = (
            answer(locked).await.expect(mutation),
            answer(absent).await.unwrap(),
        );
        assert_eq!(
            (&locked, code(&locked)),
            (&absent, json!("NOT_FOUND")),
            "{mutation}"
        );
    }
    // The hidden comment on the own document stays.
    for mutation in [
        "change(id: 1, input: {comments: []})",
        "change(id: 1, input: {commentIds: []})",
    ] {
        let answer = tokio::time::timeout(PATIENCE, ask(&app, mutation))
            .await
            .expect(mutation);
        assert_eq!(answer, json!({"data": {"answer": {"id": 1}}}), "{mutation}");
    }
    other.rollback().await.unwrap();
    let left: Vec<i32> = sqlx::query_scalar("SELECT id FROM tb_comment ORDER BY id")
        .fetch_all(&pool)
        .await
        .unwrap();
    pool.close().await;
    assert_eq!(left, [50, 51]);
}
