//! The mutation is done, and what it answers cannot be read.

use serde_json::{Value, json};

use super::schema::{app, count, database, error_of, is};

const HIDE: &str = "ALTER VIEW v_post RENAME TO v_hidden";
/// Each read of it ends its connection.
const DEADLY: &str = "CREATE OR REPLACE VIEW v_post AS SELECT id, title FROM tb_post WHERE pg_terminate_backend(pg_backend_pid())";

#[tokio::test]
async fn an_unreadable_entity_is_an_error_at_its_path() {
    for sql in [HIDE, DEADLY] {
        let database = database().await;
        let app = app(&database.url(), false).await;
        app.query("{ posts { id } }").await.data();
        database.execute(sql).await;
        let reply = app.query(
            r#"mutation { loose(title: "a") { __typename ... on LooseSuccess { status message id post { title } } } }"#,
        );
        let reply = reply.await;
        assert_eq!(
            error_of(&reply),
            is("NOT_READ", "DONE", json!(["loose", "post"])),
            "{}",
            reply.text
        );
        assert!(
            reply.message().starts_with("the mutation is done"),
            "{}",
            reply.text
        );
        let known = json!({ "__typename": "LooseSuccess", "status": "created", "message": "well done", "id": "1", "post": null });
        assert_eq!(reply.json()["data"]["loose"], known);
        assert_eq!(count(&database).await, 1, "{sql}");
    }
}

#[tokio::test]
async fn fields_lost_to_a_null_are_in_the_error_extensions() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    database.execute(HIDE).await;
    for (index, (query, path)) in [
        (
            r#"strict(title: "a") { ... on StrictSuccess { status post { title } } }"#,
            json!(["strict", "post"]),
        ),
        (
            r#"strict(title: "b") { ... on StrictSuccess { status p: post { loud } } }"#,
            json!(["strict", "p"]),
        ),
        (r#"plain(title: "c") { title }"#, json!(["plain"])),
        (r#"must(title: "d") { loud }"#, json!(["must"])),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = app.query(&format!("mutation {{ {query} }}")).await;
        assert_eq!(
            error_of(&reply),
            is("NOT_READ", "DONE", path),
            "{}",
            reply.text
        );
        let extensions = &reply.json()["errors"][0]["extensions"];
        assert_eq!(
            (&extensions["status"], &extensions["id"]),
            (&json!("created"), &json!((index + 1).to_string()))
        );
        assert_eq!(
            reply.json()["errors"].as_array().unwrap().len(),
            1,
            "{}",
            reply.text
        );
        assert_eq!(count(&database).await, index as i64 + 1);
    }
}

#[tokio::test]
async fn errors_below_the_entity_report_done() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    database
        .execute("ALTER VIEW v_comment RENAME TO v_hidden")
        .await;
    let reply =
        app.query(r#"mutation { loose(title: "a") { ... on LooseSuccess { id post { comments { id } } } } }"#).await;
    let (code, mutation, path) = error_of(&reply);
    assert_eq!(
        (code.as_str(), mutation.as_str()),
        ("NOT_READ", "DONE"),
        "{}",
        reply.text
    );
    assert_eq!(path[0], "loose");
    database
        .execute("CREATE OR REPLACE VIEW v_post AS SELECT id, NULL::text AS title FROM tb_post")
        .await;
    let reply = app
        .query(r#"mutation { plain(title: "b") { id title } }"#)
        .await;
    assert_eq!(
        error_of(&reply),
        is("NOT_READ", "DONE", json!(["plain", "title"])),
        "{}",
        reply.text
    );
    assert_eq!(reply.json()["data"], json!({ "plain": Value::Null }));
    assert_eq!(count(&database).await, 2);
}
