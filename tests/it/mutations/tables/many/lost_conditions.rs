//! Filters that have lost a condition on their way, such as the undefined values of JavaScript.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{BEFORE, SQL, clear, options, serve, stored};

/// The answer to a document with variables.
async fn sent(app: &App, document: &str, variables: Value) -> Value {
    app.query_with(document, variables).await.json()
}

#[track_caller]
fn assert_refused(answer: &Value, why: &str, case: &str) {
    let error = &answer["errors"][0];
    assert_eq!(
        error["extensions"]["code"], "BAD_USER_INPUT",
        "{case}: {answer}"
    );
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains(why), "{case}: {message}");
}

/// An absent variable counts as omitted, and would leave an empty condition or filter behind.
#[tokio::test]
async fn variables_without_values_select_no_rows() {
    let (database, app) = serve().await;
    for document in [
        "mutation($x: Int) { remove(where: { id: { eq: $x } }) { id } }",
        "mutation($x: Int) { remove(where: { price: { gt: 0, lt: $x } }) { id } }",
        "mutation($x: StringFilter) { remove(where: { shelf: $x }) { id } }",
        "mutation($x: ItemWhere) { remove(where: { NOT: $x }) { id } }",
        "mutation($x: [ItemWhere!]) { remove(where: { OR: $x }) { id } }",
        r#"mutation($x: String) { remove(where: { AND: [{ shelf: { eq: "a" } }, { owner: { eq: $x } }] }) { id } }"#,
        "mutation($x: Int) { change(where: { id: { eq: $x } }, input: { price: 5 }) { id } }",
    ] {
        let answer = sent(&app, document, json!({})).await;
        assert_refused(&answer, "the variable `$x` has no value", document);
    }
    assert_eq!(stored(&database).await, BEFORE);

    // A default is a value, and omitted columns of the input are unaffected.
    for document in [
        "mutation($x: Int = 9) { remove(where: { id: { eq: $x } }) { id } }",
        "mutation($x: Int) { change(where: { id: { eq: 9 } }, input: { price: $x }) { id } }",
    ] {
        let answer = sent(&app, document, json!({})).await;
        assert_eq!(answer.get("errors"), None, "{document}: {answer}");
    }
    assert_eq!(stored(&database).await, BEFORE);
}

/// The same with a whole filter in a variable, whose undefined values JSON omits.
#[tokio::test]
async fn conditions_without_parts_select_no_rows() {
    let (database, app) = serve().await;
    let document = "mutation($where: ItemWhere!) { remove(where: $where) { id } }";
    for filter in [
        json!({ "id": {} }),
        json!({ "shelf": { "eq": "a" }, "owner": {} }),
        json!({ "AND": [] }),
        json!({ "AND": [{}] }),
        json!({ "OR": [{ "shelf": { "eq": "a" } }, {}] }),
        json!({ "NOT": {} }),
        json!({ "NOT": { "OR": [] } }),
        json!({ "NOT": { "id": {} } }),
    ] {
        let answer = sent(&app, document, json!({ "where": filter })).await;
        assert_refused(&answer, "is empty", &filter.to_string());
    }

    let literal = "mutation { remove(where: { id: {} }) { id } }";
    assert_refused(&sent(&app, literal, json!({})).await, "is empty", literal);
    assert_eq!(stored(&database).await, BEFORE);
}

#[svc_type(sql_source = "v_detailed")]
struct Detailed {
    id: i32,
    details: Value,
    parts: Vec<Value>,
}

#[svc::mutation(delete = "app.tb_item", key = "pk_item", by = filter)]
async fn drop_detailed() -> Vec<Detailed>;

/// All JSON objects contain `{}`, so it is no condition either, at any depth.
#[tokio::test]
async fn json_without_parts_selects_no_rows() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let view = r#"CREATE VIEW v_detailed AS SELECT pk_item AS id, '[{"n": 1}]'::jsonb AS parts,
        jsonb_build_object('owner', jsonb_build_object('name', owner)) AS details FROM app.tb_item"#;
    database.execute(view).await;
    let app = App::serve(options(&database).mutations(mutations![drop_detailed])).await;

    let document = "mutation($where: DetailedWhere!) { dropDetailed(where: $where) { id } }";
    for filter in [
        json!({ "details": { "contains": {} } }),
        json!({ "details": { "contains": { "owner": {} } } }),
        json!({ "details": { "contains": [] } }),
        json!({ "parts": { "contains": [{}] } }),
    ] {
        let answer = sent(&app, document, json!({ "where": filter })).await;
        assert_refused(&answer, "is empty", &filter.to_string());
    }
    assert_eq!(stored(&database).await, BEFORE);

    let none = json!({ "where": { "details": { "eq": {} } } });
    let answer = sent(&app, document, none).await;
    assert_eq!(answer, json!({ "data": { "dropDetailed": [] } }));

    let some = json!({ "where": { "details": { "contains": { "owner": { "name": "bob" } } } } });
    let answer = sent(&app, document, some).await;
    let rows = json!([{ "id": 2 }, { "id": 5 }]);
    assert_eq!(answer, json!({ "data": { "dropDetailed": rows } }));
}

/// Only `some` and `none` may be empty: without them, a filter could not ask for any related row.
#[tokio::test]
async fn conditions_on_relations_need_parts() {
    let database = TestDatabase::copy_of("many_rows", SQL).await;
    let app = App::serve(options(&database).mutations(mutations![clear])).await;
    let document = "mutation($where: ShelvedWhere!) { clear(where: $where) { id } }";
    for filter in [
        json!({ "same": {} }),
        json!({ "same": { "price": {} } }),
        json!({ "NOT": { "same": {} } }),
        json!({ "beside": {} }),
        json!({ "beside": { "every": {} } }),
        json!({ "beside": { "some": { "price": {} } } }),
        json!({ "besideAggregate": { "count": {}, "sum": { "price": { "gt": 0 } } } }),
        json!({ "besideAggregate": { "count": { "gt": 0 }, "sum": {} } }),
        json!({ "besideAggregate": { "count": { "gt": 0 }, "where": {} } }),
        json!({ "besideAggregate": { "count": { "gt": 0 }, "where": { "price": {} } } }),
    ] {
        let answer = sent(&app, document, json!({ "where": filter })).await;
        assert_refused(&answer, "is empty", &filter.to_string());
    }
    assert_eq!(stored(&database).await, BEFORE);

    let none = json!({ "where": { "beside": { "none": {} } } });
    let answer = sent(&app, document, none).await;
    assert_eq!(answer, json!({ "data": { "clear": [] } }));
    assert_eq!(stored(&database).await, BEFORE);

    let some = json!({ "where": { "beside": { "some": {} }, "price": { "gt": 45 } } });
    let answer = sent(&app, document, some).await;
    assert_eq!(answer, json!({ "data": { "clear": [{ "id": 5 }] } }));
}

/// Unless a mutation allows it, `{}` is no filter: a client may have lost its only condition.
#[tokio::test]
async fn an_empty_filter_needs_a_permission() {
    let (database, app) = serve().await;
    let document = r#"mutation($where: ItemWhere!) {
        changeOn(shelf: "b", where: $where, input: { price: 5 }) { id }
    }"#;
    let why = "an empty filter would select all rows";
    let variable = sent(&app, document, json!({ "where": {} })).await;
    assert_refused(&variable, why, document);

    let literal = r#"mutation { changeOn(shelf: "b", where: {}, input: { price: 5 }) { id } }"#;
    assert_refused(&sent(&app, literal, json!({})).await, why, literal);
    assert_eq!(stored(&database).await, BEFORE);

    let all = json!({ "where": { "id": { "isnull": false } } });
    let answer = sent(&app, document, all).await;
    let rows = json!([{ "id": 3 }, { "id": 5 }]);
    assert_eq!(answer, json!({ "data": { "changeOn": rows } }));

    let document = "mutation($where: ItemWhere!) { remove(where: $where) { id } }";
    let answer = sent(&app, document, json!({ "where": {} })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    assert_eq!(stored(&database).await, "");
}

/// Lists keep the meaning of empty conditions.
#[tokio::test]
async fn empty_conditions_of_lists_match_all_rows() {
    let (_database, app) = serve().await;
    for document in [
        "{ items(where: { id: {} }) { id } }",
        "query($x: Int) { items(where: { id: { eq: $x } }) { id } }",
    ] {
        let answer = sent(&app, document, json!({})).await;
        let rows = answer["data"]["items"].as_array().map(Vec::len);
        assert_eq!(rows, Some(5), "{document}: {answer}");
    }
}
