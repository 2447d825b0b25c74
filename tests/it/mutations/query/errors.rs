//! Errors below `query`: the mutation stays done, and its result stays in the response.

use std::time::Duration;

use serde_json::{Value, json};
use svc::db::Db;
use svc::prelude::*;
use svc_tests::{App, Reply};

use super::{adding, database, error, names, options, service};

const ADDED: [&str; 3] = ["one", "two", "three"];

fn is(code: &str, path: Value) -> (String, String, Value) {
    (code.to_owned(), "DONE".to_owned(), path)
}

#[tokio::test]
async fn an_error_makes_its_field_null() {
    let (app, database) = service().await;
    let reply = app.query(&adding("optional item(id: 3) { name }")).await;
    assert_eq!(
        error(&reply),
        is("FORBIDDEN", json!(["addItem", "query", "optional"]))
    );
    let query = json!({ "optional": null, "item": { "name": "three" } });
    assert_eq!(
        reply.json()["data"],
        json!({ "addItem": { "status": "created", "query": query } })
    );
    assert_eq!(names(&database).await, ADDED);
}

#[tokio::test]
async fn a_null_in_a_required_field_ends_at_query() {
    let (app, database) = service().await;
    let reply = app.query(&adding("required item(id: 3) { name }")).await;
    assert_eq!(
        error(&reply),
        is("FORBIDDEN", json!(["addItem", "query", "required"]))
    );
    assert_eq!(
        reply.json()["data"],
        json!({ "addItem": { "status": "created", "query": null } })
    );
    assert_eq!(names(&database).await, ADDED);
}

#[tokio::test]
async fn a_panic_does_not_invite_to_repeat_the_mutation() {
    let (app, database) = service().await;
    let reply = app.query(&adding(r#"crash(text: "boom")"#)).await;
    assert_eq!(
        error(&reply),
        is("NOT_READ", json!(["addItem", "query", "crash"]))
    );
    assert_eq!(
        reply.json()["data"]["addItem"],
        json!({ "status": "created", "query": { "crash": null } })
    );
    assert_eq!(names(&database).await, ADDED);
}

async fn ask(app: &App, on_error: &str, read: &str) -> Reply {
    let query = format!(
        r#"mutation {{
            a: addItem(id: 3, name: "three") {{ ... on AddItemSuccess {{ query {{ {read} }} }} }}
            b: addItem(id: 4, name: "four") {{ __typename }}
        }}"#
    );
    app.post(&json!({ "query": query, "onError": on_error }))
        .await
}

#[tokio::test]
async fn an_error_halts_the_operation_on_request() {
    for read in ["optional", "required"] {
        let (app, database) = service().await;
        let reply = ask(&app, "HALT", read).await;
        assert_eq!(
            error(&reply),
            is("FORBIDDEN", json!(["a", "query", read])),
            "{}",
            reply.text
        );
        let json = reply.json();
        assert_eq!(json["data"], Value::Null);
        assert_eq!(
            json["extensions"],
            json!({ "mutations": { "a": "DONE", "b": "NOT_DONE" } })
        );
        assert_eq!(names(&database).await, ADDED);
    }
}

#[tokio::test]
async fn a_halt_does_not_wait_for_the_other_fields_of_query() {
    let (app, database) = service().await;
    let reply = ask(&app, "HALT", "pending optional").await;
    assert_eq!(
        error(&reply),
        is("FORBIDDEN", json!(["a", "query", "optional"])),
        "{}",
        reply.text
    );
    assert_eq!(
        reply.json()["extensions"],
        json!({ "mutations": { "a": "DONE", "b": "NOT_DONE" } })
    );
    assert_eq!(names(&database).await, ADDED);
}

#[tokio::test]
async fn an_error_stays_in_its_place_on_request() {
    let (app, _database) = service().await;
    let reply = ask(&app, "NULL", "required").await;
    assert_eq!(
        error(&reply),
        is("FORBIDDEN", json!(["a", "query", "required"]))
    );
    assert_eq!(
        reply.json()["data"],
        json!({ "a": { "query": { "required": null } }, "b": { "__typename": "AddItemSuccess" } })
    );
}

#[tokio::test]
async fn a_deadline_during_the_reads_reports_the_mutation_as_done() {
    let database = database().await;
    let app = App::serve(options(&database).request_timeout(Duration::from_secs(5))).await;
    // The mutation has to be done before the request ends.
    app.query("{ items { id } }").await.data();
    let reply = ask(&app, "PROPAGATE", "pending").await;
    assert_eq!(
        (reply.status, &reply.json()["extensions"]),
        (
            504,
            &json!({ "mutations": { "a": "DONE", "b": "NOT_DONE" } })
        ),
        "{}",
        reply.text
    );
    assert_eq!(names(&database).await, ADDED);
}

/// Items whose names are read with a write.
#[svc_type(sql_source = "v_item")]
struct Noted {
    id: i32,
    #[svc::authorize_field(note)]
    name: Option<String>,
}

async fn note(_: &Noted, request: AuthorizationRequest) -> Result<bool> {
    let note = [json!(1), json!("noted")];
    let noted: Option<i32> = request.context().db().call("rename_item", note).await?;
    Ok(noted.is_some())
}

/// Asserts that the deadline came after the first of two mutations and before the second.
fn assert_second_not_begun(reply: &Reply) {
    let effects = json!({ "mutations": { "a": "DONE", "b": "NOT_DONE" } });
    assert_eq!(
        (reply.status, &reply.json()["extensions"]),
        (504, &effects),
        "{}",
        reply.text
    );
}

#[svc::query]
async fn noted(id: i32) -> Option<Noted>;

#[tokio::test]
async fn a_check_below_query_has_no_part_in_the_next_mutation() {
    let database = database().await;
    let options = options(&database)
        .queries(queries![noted])
        .request_timeout(Duration::from_secs(5));
    let app = App::serve(options).await;
    app.query("{ noted(id: 2) { id } }").await.data();
    let reply = ask(&app, "PROPAGATE", "noted(id: 2) { name } pending").await;
    assert_second_not_begun(&reply);
    assert_eq!(names(&database).await, ["noted", "two", "three"]);
}

/// A database that is kept for the request.
struct Kept(Db);

#[svc::query]
async fn kept(ctx: &Context<'_>) -> Result<Option<i32>> {
    let note = [json!(1), json!("kept")];
    ctx.data::<Kept>()?.0.call("rename_item", note).await
}

#[tokio::test]
async fn a_write_of_request_data_below_query_has_no_part_in_the_next_mutation() {
    let database = database().await;
    let options = options(&database)
        .queries(queries![kept])
        .request_data(|request| async move { Ok(Kept(request.db().clone())) })
        .request_timeout(Duration::from_secs(5));
    let app = App::serve(options).await;
    app.query("{ items { id } }").await.data();
    let reply = ask(&app, "PROPAGATE", "kept pending").await;
    assert_second_not_begun(&reply);
    assert_eq!(names(&database).await, ["kept", "two", "three"]);
}

#[tokio::test]
async fn query_is_read_even_if_the_entity_cannot_be() {
    let (app, database) = service().await;
    app.query("{ items { id } }").await.data();
    database
        .execute("ALTER VIEW v_item RENAME TO v_hidden")
        .await;
    let query = r#"mutation {
        addItem(id: 3, name: "three") {
            ... on AddItemSuccess { item { name } query { __typename } }
        }
    }"#;
    let reply = app.query(query).await;
    assert_eq!(
        error(&reply),
        is("NOT_READ", json!(["addItem", "item"])),
        "{}",
        reply.text
    );
    assert_eq!(
        reply.json()["data"],
        json!({ "addItem": { "item": null, "query": { "__typename": "Query" } } })
    );
}
