//! A failed field undoes the whole operation.

use serde_json::{Value, json};
use svc::OnFailure;
use svc::prelude::*;
use svc_tests::App;

use super::{Item, TakeItemResult, database, error, errors, names, options};

/// A write of each kind.
const WRITES: [&str; 8] = [
    r#"createItem(input: {id: 10, name: "ten"}) { id }"#,
    r#"updateItem(id: 1, input: {name: "changed"}) { name }"#,
    r#"putItem(input: {id: 2, name: "put"}) { name }"#,
    "deleteItem(id: 2) { name }",
    r#"addItem(id: 11, name: "eleven")"#,
    "inTransaction(id: 12) { id parts { id } }",
    "withRetries(id: 13)",
    "plainly(id: 14)",
];

#[tokio::test]
async fn a_failed_field_undoes_every_kind_of_mutation() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    for write in WRITES {
        let reply = app
            .query(&format!(
                "mutation @atomic {{ a: {write} b: fail c: fail }}"
            ))
            .await;
        assert_eq!(
            reply.json()["data"],
            json!({"a": null, "b": null, "c": null}),
            "{}",
            reply.text
        );
        let expected = [
            error("NOT_DONE", "a"),
            error("BAD_USER_INPUT", "b"),
            error("NOT_DONE", "c"),
        ];
        assert_eq!(errors(&reply), expected, "{}", reply.text);
        assert_eq!(names(&database).await, ["one", "two"], "{write}");
    }
}

#[tokio::test]
async fn all_mutations_are_kept_together_and_see_each_other() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    let query = r#"mutation @atomic {
        created: createItem(input: {id: 10, name: "ten"}) { id }
        updated: updateItem(id: 10, input: {name: "changed"}) { name }
        put: putItem(input: {id: 10, name: "put"}) { name }
        deleted: deleteItem(id: 2) { name }
        added: addItem(id: 11, name: "eleven")
        body: inTransaction(id: 12) { name parts { id } }
        retried: withRetries(id: 13)
        plain: plainly(id: 14)
    }"#;
    let expected = json!({
        "created": {"id": 10},
        "updated": {"name": "changed"},
        "put": {"name": "put"},
        "deleted": {"name": "two"},
        "added": 11,
        "body": {"name": "body", "parts": [{"id": 12}]},
        "retried": true,
        "plain": 14,
    });
    assert_eq!(app.query(query).await.data(), expected);
    assert_eq!(
        names(&database).await,
        ["one", "put", "eleven", "body", "retried", "plain"]
    );
}

#[tokio::test]
async fn every_way_to_fail_undoes_the_operation() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    for (failing, code) in [
        ("fail", "BAD_USER_INPUT"),
        (r#"crash(text: "crashed")"#, "INTERNAL_SERVER_ERROR"),
        (
            r#"createItem(input: {id: 1, name: "again"}) { id }"#,
            "CONFLICT",
        ),
        (
            r#"updateItem(id: 99, input: {name: "none"}) { id }"#,
            "NOT_FOUND",
        ),
        ("rollBack(id: 40, drops: false)", "NOT_DONE"),
        ("rollBack(id: 41, drops: true)", "NOT_DONE"),
        ("swallow", "INTERNAL_SERVER_ERROR"),
        ("keepItems { __typename }", "NOT_DONE"),
        ("withSqlx", "INTERNAL_SERVER_ERROR"),
    ] {
        let query = format!("mutation @atomic {{ a: plainly(id: 20) b: {failing} }}");
        let reply = app.query(&query).await;
        let expected = [error("NOT_DONE", "a"), error(code, "b")];
        assert_eq!(errors(&reply), expected, "{query} {}", reply.text);
        assert_eq!(names(&database).await, ["one", "two"], "{query}");
    }
}

#[tokio::test]
async fn the_only_error_beside_null_data_is_that_of_the_failed_field() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    let query =
        r#"mutation @atomic { a: mustCreate(input: {id: 10, name: "ten"}) { id } b: fail }"#;
    let reply = app.query(query).await;
    assert_eq!(reply.json()["data"], Value::Null, "{}", reply.text);
    assert_eq!(errors(&reply), [error("BAD_USER_INPUT", "b")]);
    assert_eq!(
        reply.json()["extensions"]["mutations"],
        json!({"a": "NOT_DONE", "b": "NOT_DONE"})
    );
    assert_eq!(names(&database).await, ["one", "two"]);
}

#[tokio::test]
async fn on_error_changes_the_nulls_and_not_the_outcome() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    let required =
        r#"mutation @atomic { a: mustCreate(input: {id: 10, name: "ten"}) { id } b: fail }"#;
    let optional = "mutation @atomic { a: plainly(id: 20) b: fail }";
    let nulls = json!({"a": null, "b": null});
    let (both, only) = (
        vec![error("NOT_DONE", "a"), error("BAD_USER_INPUT", "b")],
        vec![error("BAD_USER_INPUT", "b")],
    );

    for (query, on_error, data, expected) in [
        (required, "PROPAGATE", Value::Null, &only),
        (required, "NULL", nulls.clone(), &both),
        (required, "HALT", Value::Null, &only),
        (optional, "PROPAGATE", nulls.clone(), &both),
        (optional, "NULL", nulls.clone(), &both),
        (optional, "HALT", Value::Null, &only),
    ] {
        let body = json!({ "query": query, "onError": on_error });
        let reply = app.post(&body).await;
        assert_eq!(reply.json()["data"], data, "{on_error} {}", reply.text);
        assert_eq!(&errors(&reply), expected, "{on_error} {}", reply.text);
        if data.is_null() {
            let effects = json!({"a": "NOT_DONE", "b": "NOT_DONE"});
            assert_eq!(reply.json()["extensions"]["mutations"], effects);
        }
        assert_eq!(names(&database).await, ["one", "two"], "{on_error}");
    }
}

#[tokio::test]
async fn a_failing_status_is_the_error_of_its_field() {
    let database = database().await;
    let app = App::serve(options(&database)).await;
    let query = r#"mutation @atomic {
        a: plainly(id: 20)
        b: takeItem(name: "taken") { ... on TakeItemError { code } }
    }"#;
    let reply = app.query(query).await;
    assert_eq!(reply.json()["data"], Value::Null, "{}", reply.text);
    assert_eq!(errors(&reply), [error("CONFLICT", "b")], "{}", reply.text);
    assert_eq!(reply.message(), "the name is taken");
    assert_eq!(names(&database).await, ["one", "two"]);
}

#[tokio::test]
async fn a_denied_field_prevents_all_others() {
    let database = database().await;
    let permits =
        async |request: AuthorizationRequest| !request.operation_name().starts_with("add");
    let app = App::serve(options(&database).authorizer(permits)).await;
    let reply = app
        .query(r#"mutation @atomic { a: plainly(id: 20) b: addItem(id: 21, name: "denied") }"#)
        .await;
    let expected = [error("NOT_DONE", "a"), error("FORBIDDEN", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two"]);
}

#[svc::mutation(function = "take_item", on_failure = commit)]
async fn take_and_keep(name: String) -> TakeItemResult;

#[svc::mutation(atomic)]
async fn keep_in_body(ctx: &Context<'_>, name: String) -> Result<Option<i32>> {
    let taken = ctx
        .db()
        .call_with(OnFailure::Commit, "take_item", [json!(name)]);
    taken.await.map(Some)
}

#[tokio::test]
async fn a_call_that_keeps_its_changes_after_a_failure_is_no_part_of_an_operation() {
    let database = database().await;
    let options = options(&database).mutations(mutations![take_and_keep, keep_in_body]);
    let app = App::serve(options).await;
    let call = r#"takeAndKeep(name: "kept") { ... on TakeItemError { code } }"#;
    let reply = app.query(&format!("mutation @atomic {{ {call} }}")).await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
    let body = r#"mutation @atomic { keepInBody(name: "kept") }"#;
    let reply = app.query(body).await;
    let expected = [error("INTERNAL_SERVER_ERROR", "keepInBody")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two"]);
    app.query(&format!("mutation {{ {call} }}")).await.data();
    assert_eq!(names(&database).await, ["one", "two", "kept"]);
}

/// Writes, and denies functions of the database.
async fn note_and_deny(request: AuthorizationRequest) -> Result<bool> {
    let db = request.context().db();
    let id: i32 = db.call("next_note", []).await?;
    let _noted: i32 = db.call("add_item", [json!(id), json!("noted")]).await?;
    Ok(!request.operation_name().starts_with("add"))
}

#[tokio::test]
async fn a_write_of_an_authorizer_is_not_the_outcome_of_a_denied_operation() {
    let database = database().await;
    database
        .execute(
            "CREATE SEQUENCE notes START 80;
            CREATE FUNCTION next_note() RETURNS int LANGUAGE sql AS 'SELECT nextval(''notes'')::int'",
        )
        .await;
    let app = App::serve(options(&database).authorizer(note_and_deny)).await;
    let reply = app
        .query(r#"mutation @atomic { a: plainly(id: 20) b: addItem(id: 21, name: "denied") }"#)
        .await;
    let expected = [error("NOT_DONE", "a"), error("FORBIDDEN", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two", "noted", "noted"]);
}

#[tokio::test]
async fn row_policies_apply_within_the_transaction() {
    let database = database().await;
    let options = options(&database).row_policy::<Item>(|_| {
        Ok(RowDecision::allow_where(
            col("name").starts_with("ok").or(col("name").eq("one")),
        ))
    });
    let app = App::serve(options).await;
    let write = |name: &str| {
        format!(
            r#"mutation @atomic {{
                a: putItem(input: {{id: 10, name: "ok"}}) {{ id }}
                b: putItem(input: {{id: 10, name: "{name}"}}) {{ name }}
            }}"#
        )
    };
    let reply = app.query(&write("bad")).await;
    let expected = [error("NOT_DONE", "a"), error("FORBIDDEN", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two"]);
    assert_eq!(
        app.query(&write("okay")).await.data(),
        json!({"a": {"id": 10}, "b": {"name": "okay"}})
    );
    let hidden = r#"mutation @atomic {
        a: updateItem(id: 1, input: {name: "ok, too"}) { name }
        b: deleteItem(id: 2) { name }
    }"#;
    let reply = app.query(hidden).await;
    let expected = [error("NOT_DONE", "a"), error("NOT_FOUND", "b")];
    assert_eq!(errors(&reply), expected, "{}", reply.text);
    assert_eq!(names(&database).await, ["one", "two", "okay"]);
}
