//! Queries with errors at the root, in objects, lists and pages.

use serde_json::{Value, json};

use super::{app, ask, limited};

/// Checks a document with one error: its `data` with each `onError`, and the path of the error.
/// Without `onError`, the response is the same as with `PROPAGATE`.
async fn check(query: &str, path: Value, propagate: Value, null: Value) {
    let app = app().await;
    let path = vec![path];
    assert_eq!(
        ask(&app, query, "PROPAGATE").await,
        (propagate.clone(), path.clone()),
        "{query}"
    );
    assert_eq!(
        super::parts(&app.query(query).await.json()),
        (propagate, path.clone()),
        "{query}"
    );
    assert_eq!(
        ask(&app, query, "NULL").await,
        (null, path.clone()),
        "{query}"
    );
    assert_eq!(
        ask(&app, query, "HALT").await,
        (Value::Null, path),
        "{query}"
    );
}

#[tokio::test]
async fn non_null_root_fields_follow_on_error() {
    check(
        "{ fine lost }",
        json!(["lost"]),
        Value::Null,
        json!({ "fine": 1, "lost": null }),
    )
    .await;
}

#[tokio::test]
async fn nullable_root_fields_follow_on_error() {
    let data = json!({ "broken": null, "fine": 1 });
    check("{ broken fine }", json!(["broken"]), data.clone(), data).await;
}

#[tokio::test]
async fn stored_nulls_follow_on_error() {
    check(
        "{ writers(where: { id: { eq: 2 } }) { id name } }",
        json!(["writers", 0, "name"]),
        Value::Null,
        json!({ "writers": [{ "id": 2, "name": null }] }),
    )
    .await;
}

#[tokio::test]
async fn rows_of_relations_follow_on_error() {
    let books = json!([
        { "id": 1, "title": "one" },
        { "id": 2, "title": null },
        { "id": 3, "title": "three" },
    ]);
    check(
        "{ writers(where: { id: { eq: 1 } }) { name books(order_by: [{ id: ASC }]) { id title } } }",
        json!(["writers", 0, "books", 1, "title"]),
        Value::Null,
        json!({ "writers": [{ "name": "ada", "books": books }] }),
    )
    .await;
}

#[tokio::test]
async fn items_of_lists_follow_on_error() {
    check(
        "{ writers(where: { id: { eq: 3 } }) { tags } }",
        json!(["writers", 0, "tags", 1]),
        Value::Null,
        json!({ "writers": [{ "tags": ["x", null, "y"] }] }),
    )
    .await;
}

#[tokio::test]
async fn rows_of_pages_follow_on_error() {
    let nodes = json!([
        { "id": 1, "name": "ada" },
        { "id": 2, "name": null },
        { "id": 3, "name": "eve" },
    ]);
    check(
        "{ page(first: 3, order_by: [{ id: ASC }]) { nodes { id name } } }",
        json!(["page", "nodes", 1, "name"]),
        Value::Null,
        json!({ "page": { "nodes": nodes } }),
    )
    .await;
}

#[tokio::test]
async fn methods_follow_on_error() {
    for method in ["grade", "slow_grade"] {
        check(
            &format!("{{ tutors {{ id {method} }} }}"),
            json!(["tutors", 1, method]),
            Value::Null,
            json!({ "tutors": [
                { "id": 1, method: 1 },
                { "id": 2, method: null },
                { "id": 3, method: 3 },
            ] }),
        )
        .await;
    }
}

#[tokio::test]
async fn denied_fields_follow_on_error() {
    check(
        "{ writers(where: { id: { eq: 1 } }) { name salary } }",
        json!(["writers", 0, "salary"]),
        Value::Null,
        json!({ "writers": [{ "name": "ada", "salary": null }] }),
    )
    .await;
}

#[tokio::test]
async fn denied_root_fields_follow_on_error() {
    check(
        "{ secret fine }",
        json!(["secret"]),
        Value::Null,
        json!({ "secret": null, "fine": 1 }),
    )
    .await;
}

/// A mask hides a value without an error.
#[tokio::test]
async fn a_masked_value_halts_nothing() {
    let app = app().await;
    let query = "{ writers(where: { id: { eq: 1 } }) { name phone } }";
    let data = json!({ "writers": [{ "name": "ada", "phone": null }] });
    for on_error in ["NULL", "PROPAGATE", "HALT"] {
        assert_eq!(
            ask(&app, query, on_error).await,
            (data.clone(), Vec::new()),
            "{on_error}"
        );
    }
}

#[tokio::test]
async fn each_error_is_reported_in_its_place_or_only_the_first() {
    let app = app().await;
    let query = "{ broken tutors { slow_grade grade } lost }";
    let (data, paths) = ask(&app, query, "NULL").await;
    let tutors = json!([
        { "slow_grade": 1, "grade": 1 },
        { "slow_grade": null, "grade": null },
        { "slow_grade": 3, "grade": 3 },
    ]);
    assert_eq!(
        data,
        json!({ "broken": null, "tutors": tutors, "lost": null })
    );
    assert_eq!(
        paths,
        [
            json!(["broken"]),
            json!(["tutors", 1, "slow_grade"]),
            json!(["tutors", 1, "grade"]),
            json!(["lost"]),
        ]
    );
    let (data, paths) = ask(&app, query, "HALT").await;
    assert_eq!((data, paths.len()), (Value::Null, 1), "{paths:?}");
}

#[tokio::test]
async fn halt_drops_the_fields_that_still_run() {
    let app = app().await;
    for query in ["{ endless lost }", "{ lost endless }", "{ endless broken }"] {
        let (data, paths) = ask(&app, query, "HALT").await;
        assert!(data.is_null() && paths.len() == 1, "{query}: {paths:?}");
        assert_ne!(paths[0], json!(["endless"]), "{query}");
    }
}

/// A null in a non-null position would otherwise be taken for a value.
#[tokio::test]
async fn no_null_is_sent_without_its_error() {
    let app = limited(2).await;
    let (data, paths) = ask(&app, "{ fine a: lost b: lost }", "NULL").await;
    assert_eq!(
        (data, paths),
        (
            json!({ "fine": 1, "a": null, "b": null }),
            vec![json!(["a"]), json!(["b"])]
        )
    );
    for query in [
        "{ fine a: lost b: lost c: lost }",
        "{ a: writers(where: { id: { eq: 2 } }) { a: name b: name c: name } }",
    ] {
        let (data, paths) = ask(&app, query, "NULL").await;
        assert_eq!((data, paths.len()), (Value::Null, 2), "{query}: {paths:?}");
    }

    // A null in a nullable position says nothing else without its error.
    for on_error in ["PROPAGATE", "NULL"] {
        let query = "{ fine a: broken b: broken c: broken }";
        let (data, paths) = ask(&app, query, on_error).await;
        assert_eq!(
            (data, paths.len()),
            (json!({ "fine": 1, "a": null, "b": null, "c": null }), 2),
            "{on_error}"
        );
    }
}
