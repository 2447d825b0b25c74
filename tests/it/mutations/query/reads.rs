//! The values below `query`.

use serde_json::json;
use svc::ResponseCache;
use svc_tests::{App, eventually};

use super::{NAMES, adding, database, options, service};
use crate::mutations::until_cached;

#[tokio::test]
async fn the_fields_of_query_see_the_write() {
    let (app, _database) = service().await;
    for (mutation, success, names) in [
        (
            r#"addItem(id: 3, name: "three")"#,
            "AddItemSuccess",
            json!(["one", "two", "three"]),
        ),
        (
            r#"createItem(input: {id: 4, name: "four"})"#,
            "CreateItemSuccess",
            json!(["one", "two", "three", "four"]),
        ),
        (
            r#"changeItems(where: {id: {gt: 2}}, input: {name: "many"})"#,
            "ChangeItemsSuccess",
            json!(["one", "two", "many", "many"]),
        ),
        (
            r#"renameItem(id: 1, name: "uno")"#,
            "RenameItemSuccess",
            json!(["uno", "two", "many", "many"]),
        ),
    ] {
        let query = format!(
            "mutation {{ result: {mutation} {{ ... on {success} {{ status query {{ {NAMES} }} }} }} }}"
        );
        let data = app.query(&query).await.data();
        let items = data["result"]["query"]["items"].as_array().unwrap();
        let found: Vec<_> = items.iter().map(|item| item["name"].clone()).collect();
        assert_eq!(json!(found), names, "{mutation}");
        assert!(data["result"]["status"].is_string(), "{data}");
    }
}

#[tokio::test]
async fn each_query_sees_the_mutations_before_it() {
    let (app, _database) = service().await;
    let query = format!(
        r#"mutation {{
            a: addItem(id: 3, name: "three") {{ ...added }}
            b: renameItem(id: 1, name: "uno") {{ __typename }}
            c: addItem(id: 4, name: "four") {{ ...added }}
        }}
        fragment added on AddItemSuccess {{ query {{ {NAMES} }} }}"#
    );
    let data = app.query(&query).await.data();
    assert_eq!(
        data["a"]["query"]["items"],
        json!([{"name": "one"}, {"name": "two"}, {"name": "three"}])
    );
    assert_eq!(
        data["c"]["query"]["items"],
        json!([{"name": "uno"}, {"name": "two"}, {"name": "three"}, {"name": "four"}])
    );
}

#[tokio::test]
async fn all_keys_are_in_the_order_of_the_request() {
    let (app, _database) = service().await;
    let query = r#"mutation {
        addItem(id: 3, name: "\"}, {") {
            ... on AddItemSuccess {
                item { name }
                first: query { kind: __typename item(id: 1) { name } none: item(id: 9) { name } }
                status
                query { item(id: 3) { id } }
                __typename
            }
        }
    }"#;
    assert_eq!(
        app.query(query).await.text,
        concat!(
            r#"{"data":{"addItem":{"item":{"name":"\"}, {"},"#,
            r#""first":{"kind":"Query","item":{"name":"one"},"none":null},"#,
            r#""status":"created","query":{"item":{"id":3}},"__typename":"AddItemSuccess"}}}"#
        )
    );
}

#[tokio::test]
async fn many_queries_are_in_their_places() {
    let (app, _database) = service().await;
    let selected = |index: usize| match index % 3 {
        0 => format!("q{index}: query {{ item(id: 3) {{ name }} }}"),
        1 => format!("q{index}: query {{ none: item(id: 9) {{ name }} }} s{index}: status"),
        _ => format!("q{index}: query {{ none: item(id: 3) @skip(if: true) {{ id }} }}"),
    };
    let value = |index: usize| match index % 3 {
        0 => format!(r#""q{index}":{{"item":{{"name":"\"}}, {{"}}}}"#),
        1 => format!(r#""q{index}":{{"none":null}},"s{index}":"created""#),
        _ => format!(r#""q{index}":{{}}"#),
    };
    let all = |one: &dyn Fn(usize) -> String, between: &str| {
        (0..30).map(one).collect::<Vec<_>>().join(between)
    };

    let fields = all(&selected, " ");
    let query = format!(
        r#"mutation {{ addItem(id: 3, name: "\"}}, {{") {{ ... on AddItemSuccess {{ {fields} }} }} }}"#
    );
    let values = all(&value, ",");
    assert_eq!(
        app.query(&query).await.text,
        format!(r#"{{"data":{{"addItem":{{{values}}}}}}}"#)
    );
}

#[tokio::test]
async fn each_field_of_query_is_one_statement() {
    let (app, database) = service().await;
    let before = database.statements("FROM \"v_item\"").await;
    app.query(&adding("items { id } item(id: 1) { name }"))
        .await
        .data();
    assert_eq!(database.statements("FROM \"v_item\"").await, before + 2);
}

#[tokio::test]
async fn nothing_is_read_after_a_failure() {
    let (app, database) = service().await;
    let before = database.statements("FROM \"v_item\"").await;
    let query = r#"mutation {
        addItem(id: 3, name: "taken") {
            ... on AddItemSuccess { query { items { id } } }
            ... on AddItemError { code errors { identifier } }
        }
        renameItem(id: 9, name: "nine") {
            ... on RenameItemSuccess { query { items { id } } }
        }
    }"#;
    assert_eq!(
        app.query(query).await.data(),
        json!({
            "addItem": { "code": 409, "errors": [{ "identifier": "taken" }] },
            "renameItem": null,
        })
    );
    assert_eq!(database.statements("FROM \"v_item\"").await, before);
}

#[tokio::test]
async fn conditions_apply_below_query() {
    let (app, _database) = service().await;
    let query = "mutation ($id: Int!, $name: String!, $more: Boolean!) {
        renameItem(id: $id, name: $name) {
            ... on RenameItemSuccess {
                query { item(id: $id) { name } ... @include(if: $more) { optional } }
                skipped: query @skip(if: true) { required }
            }
        }
    }";
    let variables = json!({ "id": 1, "name": "uno", "more": false });
    assert_eq!(
        app.query_with(query, variables).await.data(),
        json!({ "renameItem": { "query": { "item": { "name": "uno" } } } })
    );
}

#[tokio::test]
async fn cached_responses_are_not_read_below_query() {
    let database = database().await;
    let app = App::serve(options(&database).response_cache(ResponseCache::new())).await;
    until_cached(&app).await;
    let kept = "keptItems(orderBy: [{id: ASC}]) { name }";
    let read = format!("{{ {kept} }}");
    let two = json!([{"name": "one"}, {"name": "two"}]);
    let three = json!([{"name": "one"}, {"name": "two"}, {"name": "three"}]);
    assert_eq!(app.query(&read).await.data()["keptItems"], two);
    let reply = app.query(&adding(kept)).await;
    assert_eq!(reply.data()["addItem"]["query"]["keptItems"], three);
    assert_eq!(app.query(&read).await.data()["keptItems"], three);
}

#[tokio::test]
async fn cached_responses_are_invalidated_before_the_fields_of_query_run() {
    let database = database().await;
    let app = App::serve(options(&database).response_cache(ResponseCache::new())).await;
    until_cached(&app).await;
    let kept = "{ keptItems(orderBy: [{id: ASC}]) { name } }";
    let count = async || {
        app.query(kept).await.data()["keptItems"]
            .as_array()
            .map(Vec::len)
    };
    assert_eq!(count().await, Some(2));

    let seen = eventually(async || match count().await {
        Some(3) => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let mutation = adding("pending");
    tokio::select! {
        reply = app.query(&mutation) => panic!("{}", reply.text),
        () = seen => {}
    }
}

#[tokio::test]
async fn a_failure_keeps_cached_responses() {
    let database = database().await;
    let app = App::serve(options(&database).response_cache(ResponseCache::new())).await;
    until_cached(&app).await;
    let read = "{ keptItems(orderBy: [{id: ASC}]) { name } }";
    let two = json!([{"name": "one"}, {"name": "two"}]);
    assert_eq!(app.query(read).await.data()["keptItems"], two);

    // Only a read after an invalidation shows this row.
    database
        .execute("INSERT INTO tb_item VALUES (9, 'nine')")
        .await;
    let failing = adding("items { id }").replace("three", "taken");
    assert_eq!(app.query(&failing).await.data(), json!({ "addItem": {} }));
    assert_eq!(app.query(read).await.data()["keptItems"], two);
}
