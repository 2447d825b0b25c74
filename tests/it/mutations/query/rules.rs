//! The fields below `query` follow the rules of queries.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use svc::Limits;
use svc::authz::{Authorizer, OperationType};
use svc::prelude::*;
use svc_tests::{App, Reply};

use super::{
    Item, NAMES, RenameItemResult, RenameItemResultSuccess, adding, database, error, names, options,
};

/// An authorizer with the fields that it was asked about. It permits the items above 1, and denies
/// a single item.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Authorizer for Asked {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        let (kind, name) = (request.operation_type(), request.operation_name());
        self.0.lock().unwrap().push(format!("{kind} {name}"));
        Ok(match name {
            "items" => AuthorizationDecision::allow_where(col("id").gt(1)),
            "item" => AuthorizationDecision::deny(),
            _ => AuthorizationDecision::allow(),
        })
    }
}

#[tokio::test]
async fn each_field_is_authorized_as_in_a_query() {
    let database = database().await;
    let asked = Asked::default();
    let app = App::serve(options(&database).authorizer(asked.clone())).await;
    let reply = app
        .query(&adding(&format!("{NAMES} item(id: 3) {{ name }}")))
        .await;
    let path = json!(["addItem", "query", "item"]);
    assert_eq!(
        error(&reply),
        ("FORBIDDEN".to_owned(), "DONE".to_owned(), path)
    );
    let query = json!({ "items": [{ "name": "two" }, { "name": "three" }], "item": null });
    assert_eq!(reply.json()["data"]["addItem"]["query"], query);

    let mut asked = asked.0.lock().unwrap().clone();
    asked.sort();
    assert_eq!(asked, ["mutation addItem", "query item", "query items"]);
}

#[tokio::test]
async fn nothing_is_read_after_a_denied_mutation() {
    let database = database().await;
    let only_queries =
        async |request: AuthorizationRequest| request.operation_type() == OperationType::Query;
    let app = App::serve(options(&database).authorizer(only_queries)).await;
    let before = database.statements("v_item").await;
    let reply = app.query(&adding("items { id }")).await;
    let denied = ("FORBIDDEN".to_owned(), "NOT_DONE".to_owned());
    let (code, effect, path) = error(&reply);
    assert_eq!(((code, effect), path), (denied, json!(["addItem"])));
    assert_eq!(database.statements("v_item").await, before);
    assert_eq!(names(&database).await, ["one", "two"]);
}

/// Items whose names the authorizer decides about.
#[svc_type(sql_source = "v_item", authorize_fields = ["name"])]
struct Closed {
    id: i32,
    name: String,
}

#[svc::query]
async fn closed() -> Vec<Closed>;

#[tokio::test]
async fn a_mutation_with_a_denied_required_field_is_not_done() {
    let database = database().await;
    let no_fields =
        async |request: AuthorizationRequest| request.operation_type() != OperationType::Field;
    let options = options(&database)
        .queries(queries![closed])
        .authorizer(no_fields);
    let app = App::serve(options).await;
    let reply = app.query(&adding("closed { name }")).await;
    let path = json!(["addItem"]);
    assert_eq!(
        error(&reply),
        ("FORBIDDEN".to_owned(), "NOT_DONE".to_owned(), path)
    );
    assert_eq!(names(&database).await, ["one", "two"]);
    let reply = app.query(&adding("closed { id }")).await;
    let ids = json!([{ "id": 1 }, { "id": 2 }, { "id": 3 }]);
    assert_eq!(reply.data()["addItem"]["query"]["closed"], ids);
}

#[tokio::test]
async fn row_policies_hide_rows() {
    let database = database().await;
    let policy = |_: &Context<'_>| Ok(RowDecision::allow_where(col("id").gt(1)));
    let app = App::serve(options(&database).row_policy::<Item>(policy)).await;
    let reply = app
        .query(&adding("items(orderBy: [{id: ASC}]) { id }"))
        .await;
    assert_eq!(
        reply.data()["addItem"]["query"]["items"],
        json!([{ "id": 2 }, { "id": 3 }])
    );
}

/// Whether a policy still permits rows.
struct IsOpen(AtomicBool);

/// Reads an item, and permits no more of them.
#[svc::mutation]
async fn close(ctx: &Context<'_>) -> Result<RenameItemResult> {
    let status = match ctx.db().find::<Item>().exists().await? {
        true => "updated",
        false => "deleted",
    };
    ctx.data::<IsOpen>()?.0.store(false, Ordering::SeqCst);
    Ok(RenameItemResultSuccess::new(status).into())
}

#[tokio::test]
async fn row_policies_decide_again_after_the_mutation() {
    let database = database().await;
    let policy = |ctx: &Context<'_>| -> Result<RowDecision> {
        Ok(match ctx.data::<IsOpen>()?.0.load(Ordering::SeqCst) {
            true => RowDecision::allow(),
            false => RowDecision::deny(),
        })
    };
    let options = options(&database)
        .data(IsOpen(AtomicBool::new(true)))
        .mutations(mutations![close])
        .row_policy::<Item>(policy);
    let app = App::serve(options).await;
    let query = "mutation { close { ... on RenameItemSuccess { status query { items { id } } } } }";
    assert_eq!(
        app.query(query).await.data()["close"],
        json!({ "status": "updated", "query": { "items": [] } })
    );
}

async fn with_limits(limits: Limits) -> App {
    App::serve(options(&database().await).limits(limits)).await
}

#[tokio::test]
async fn the_fields_of_query_count_as_root_fields() {
    let app = with_limits(Limits {
        root_fields: 3,
        ..Limits::default()
    })
    .await;
    app.query(&adding("a: items { id } b: items { id }"))
        .await
        .data();
    let reply = app
        .query(&adding("a: items { id } b: items { id } c: items { id }"))
        .await;
    assert_eq!(reply.code(), "QUERY_TOO_LARGE", "{}", reply.text);
    assert!(reply.message().contains("4 root fields"), "{}", reply.text);
}

#[tokio::test]
async fn the_fields_of_query_count_as_levels() {
    let app = with_limits(Limits {
        depth: 3,
        ..Limits::default()
    })
    .await;
    let reply = app.query(&adding("items { id }")).await;
    assert_eq!(reply.code(), "QUERY_TOO_DEEP", "{}", reply.text);
    app.query(&adding("__typename")).await.data();
}

fn complexity(reply: &Reply) -> i64 {
    reply.json()["extensions"]["cost"]["complexity"]["cost"]
        .as_i64()
        .unwrap_or_else(|| panic!("{}", reply.text))
}

/// However many rows the mutation may write.
#[tokio::test]
async fn the_fields_of_query_cost_as_much_as_in_a_query() {
    let app = with_limits(Limits {
        show_cost: true,
        ..Limits::default()
    })
    .await;
    let read = "items(limit: 2) { id name }";
    let alone = complexity(&app.query(&format!("{{ {read} }}")).await);
    for (id, (mutation, success)) in [
        (r#"addItem(id: 3, name: "three")"#, "AddItemSuccess"),
        (
            r#"changeItems(where: {id: {eq: 9}}, input: {name: "nine"})"#,
            "ChangeItemsSuccess",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let ask = async |selected: &str, id: usize| {
            let mutation = mutation.replace("id: 3", &format!("id: {id}"));
            let query =
                format!("mutation {{ {mutation} {{ ... on {success} {{ {selected} }} }} }}");
            complexity(&app.query(&query).await)
        };
        let without = ask("status", 10 + id).await;
        let with = ask(&format!("status query {{ {read} }}"), 20 + id).await;
        assert_eq!(with - without, alone + 1, "{mutation}");
    }
}
