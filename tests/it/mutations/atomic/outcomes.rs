//! The commit, and the connection that all fields share.

use serde_json::{Value, json};
use svc::DatabaseConfig;
use svc::prelude::*;
use svc_tests::{App, Proxy};

use super::{Item, database, error, errors, names, options, options_with};

#[svc::mutation(function = "add_note", atomic)]
async fn add_note(id: i32, item: i32) -> Option<i32>;

#[tokio::test]
async fn a_deferred_constraint_is_checked_at_the_commit() {
    let database = database().await;
    database
        .execute(
            "CREATE TABLE tb_note (id int PRIMARY KEY,
                item_id int NOT NULL REFERENCES tb_item DEFERRABLE INITIALLY DEFERRED);
            CREATE FUNCTION add_note(id int, item int) RETURNS int LANGUAGE sql
                AS 'INSERT INTO tb_note VALUES ($1, $2) RETURNING id'",
        )
        .await;
    let app = App::serve(options(&database).mutations(mutations![add_note])).await;
    let alone = app.query("mutation { addNote(id: 1, item: 99) }").await;
    let code = alone.code();
    let reply = app
        .query("mutation @atomic { a: plainly(id: 20) b: addNote(id: 1, item: 99) }")
        .await;
    let expected = [error(&code, "a"), error(&code, "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two"]);
    let later = "mutation @atomic { a: addNote(id: 1, item: 20) b: plainly(id: 20) }";
    assert_eq!(app.query(later).await.data(), json!({"a": 1, "b": 20}));
    assert_eq!(names(&database).await, ["one", "two", "plain"]);
}

#[tokio::test]
async fn a_lost_commit_is_an_unknown_outcome_of_each_field_and_is_not_repeated() {
    let database = database().await;
    let proxy = Proxy::new().await;
    let config = DatabaseConfig {
        url: Some(proxy.url(&database)),
        retries: 5,
        ..DatabaseConfig::default()
    };
    let app = App::serve(options_with(config)).await;
    let write = |id: i32| {
        format!(
            r#"mutation @atomic {{
                a: mustCreate(input: {{id: {id}, name: "created"}}) {{ id }}
                b: addItem(id: {}, name: "added")
            }}"#,
            id + 1
        )
    };
    app.query(&write(10)).await.data();
    proxy.lose_answer_to("COMMIT");
    let reply = app.query(&write(20)).await;
    let unknown = (
        "OUTCOME_UNKNOWN".to_owned(),
        "UNKNOWN".to_owned(),
        "a".to_owned(),
    );
    assert_eq!(errors(&reply), [unknown], "{}", reply.text);
    let json = reply.json();
    assert_eq!(json["data"], Value::Null);
    assert_eq!(
        json["extensions"]["mutations"],
        json!({"a": "UNKNOWN", "b": "UNKNOWN"})
    );
    let kept = ["one", "two", "created", "added", "created", "added"];
    assert_eq!(names(&database).await, kept);
}

/// Calls a function that did not exist at the start of the service.
#[svc::mutation(atomic)]
async fn call_late(ctx: &Context<'_>, id: i32) -> Result<Option<i32>> {
    let mut tx = ctx.db().transaction().await?;
    let first: i32 = tx.call("add_late", [json!(id)]).await?;
    tx.commit().await?;
    let second: i32 = ctx.db().call("add_late", [json!(id + 1)]).await?;
    Ok(Some(first + second))
}

#[tokio::test]
async fn an_operation_needs_one_connection() {
    let database = database().await;
    let config = DatabaseConfig {
        url: Some(database.url()),
        pool_size: 1,
        ..DatabaseConfig::default()
    };
    let app = App::serve(options_with(config).mutations(mutations![call_late])).await;
    database
        .execute(
            "CREATE FUNCTION add_late(id int) RETURNS int LANGUAGE sql
                AS 'INSERT INTO tb_item VALUES ($1, ''late'') RETURNING id'",
        )
        .await;
    let query = r#"mutation @atomic {
        created: createItem(input: {id: 10, name: "ten"}) { id parts { id } }
        put: putItem(input: {id: 10, name: "put"}) { name }
        missing: deleteItem(id: 2) { name }
        late: callLate(id: 30)
        body: inTransaction(id: 12) { name parts { id } }
        retried: withRetries(id: 13)
        plain: plainly(id: 14)
    }"#;
    let expected = json!({
        "created": {"id": 10, "parts": []},
        "put": {"name": "put"},
        "missing": {"name": "two"},
        "late": 61,
        "body": {"name": "body", "parts": [{"id": 12}]},
        "retried": true,
        "plain": 14,
    });
    assert_eq!(app.query(query).await.data(), expected);
    let kept = ["one", "put", "body", "retried", "plain", "late", "late"];
    assert_eq!(names(&database).await, kept);
    let failing = r#"mutation @atomic { a: plainly(id: 20) b: addItem(id: 1, name: "again") }"#;
    assert_eq!(errors(&app.query(failing).await).len(), 2);
    app.query("{ items { name } }").await.data();
}

#[svc::mutation(atomic)]
async fn isolation(ctx: &Context<'_>) -> Result<Option<String>> {
    let mut tx = ctx.db().transaction().await?;
    let level: String = tx.call("isolation", []).await?;
    tx.commit().await?;
    Ok(Some(level))
}

#[tokio::test]
async fn row_policies_do_not_weaken_the_isolation_of_the_database() {
    for (default, expected) in [
        ("read committed", "repeatable read"),
        ("serializable", "serializable"),
    ] {
        let database = database().await;
        database
            .execute(
                "CREATE FUNCTION isolation() RETURNS text LANGUAGE sql STABLE
                    AS 'SELECT current_setting(''transaction_isolation'')'",
            )
            .await;
        database
            .execute(&format!(
                "ALTER DATABASE {} SET default_transaction_isolation = '{default}'",
                database.name()
            ))
            .await;
        let options = options(&database)
            .mutations(mutations![isolation])
            .row_policy::<Item>(|_| Ok(RowDecision::allow_where(col("name").eq("one"))));
        let app = App::serve(options).await;
        let reply = app.query("mutation @atomic { isolation }").await;
        assert_eq!(reply.data(), json!({"isolation": expected}));
    }
}
