//! A policy's filter reaches every read of its root field.

use serde_json::{Value, json};

use super::schema::{CACHED, VIEWS, options};
use super::{Guarded, Rule, codes};
use svc_engine::sql::col;

fn mine() -> Rule {
    Rule::Where(col("owner").eq("ada"))
}

async fn app(view: &str, rule: &Rule) -> Guarded {
    let fields = [
        "notes",
        "note",
        "noted",
        "page",
        "statistics",
        "found",
        "found_one",
        "found_page",
    ];

    let fields = fields
        .into_iter()
        .chain(["found_statistics", "awaited", "told"]);

    Guarded::new(
        options(view).await,
        fields.map(|field| (field, rule.clone())).collect(),
    )
    .await
}

/// Reads of rows, and of values computed from them.
#[tokio::test]
async fn every_read_of_a_root_field_is_filtered() {
    for view in VIEWS {
        let app = app(view, &mine()).await;
        for (query, expected) in [
            ("{ notes { id } }", json!({"notes": [{"id": 1}, {"id": 3}]})),
            (
                "{ notes(order_by: [{id: DESC}], limit: 1) { id } }",
                json!({"notes": [{"id": 3}]}),
            ),
            (
                "{ notes(where: { OR: [{ id: { gt: 0 } }, { owner: { eq: \"bob\" } }] }) { id } }",
                json!({"notes": [{"id": 1}, {"id": 3}]}),
            ),
            (
                "{ a: note(id: 1) { id } b: note(id: 2) { id } }",
                json!({"a": {"id": 1}, "b": null}),
            ),
            (
                "{ a: noted(secret: \"a\") { id } b: noted(secret: \"b\") { id } }",
                json!({"a": [{"id": 1}], "b": []}),
            ),
            (
                "{ page(first: 1, order_by: [{id: ASC}]) { nodes { id } total_count page_info { has_next_page } } }",
                json!({"page": {"nodes": [{"id": 1}], "total_count": 2, "page_info": {"has_next_page": true}}}),
            ),
            (
                "{ page(first: 2, order_by: [{id: ASC}]) { edges { node { id } } page_info { has_next_page } } }",
                json!({"page": {"edges": [{"node": {"id": 1}}, {"node": {"id": 3}}], "page_info": {"has_next_page": false}}}),
            ),
            (
                "{ statistics { count sum { stars } groups(by: [OWNER]) { key { owner } count } } }",
                json!({"statistics": {"count": 2, "sum": {"stars": 16}, "groups": [{"key": {"owner": "ada"}, "count": 2}]}}),
            ),
            ("{ found { id } }", json!({"found": [{"id": 1}, {"id": 3}]})),
            (
                "{ a: found_one(id: 3) { id } b: found_one(id: 4) { id } }",
                json!({"a": {"id": 3}, "b": null}),
            ),
            (
                "{ found_page { nodes { id } total_count } }",
                json!({"found_page": {"nodes": [{"id": 1}, {"id": 3}], "total_count": 2}}),
            ),
            (
                "{ found_statistics { count max { id } } }",
                json!({"found_statistics": {"count": 2, "max": {"id": 3}}}),
            ),
            (
                "{ awaited { id } }",
                json!({"awaited": [{"id": 1}, {"id": 3}]}),
            ),
        ] {
            // The second request uses the cached statement.
            for _ in 0..2 {
                let answer = app.ask(query).await;
                assert_eq!(answer, json!({ "data": expected }), "{query} over {view}");
            }
        }

        let told = app.ask("{ told { id } }").await["errors"][0]["message"].clone();
        let expected = "count 2 exists false sum Some(\"16\") min Some(\"ada\") distinct [Some(\"ada\")] groups 1 \
                        json 2 slice 2 transaction 2";

        assert_eq!(told, expected, "{view}");
    }
}

/// The filter applies to the root field only; row policies decide about the rows of its relations.
#[tokio::test]
async fn relations_have_no_filter_of_their_own() {
    let app = app(VIEWS[0], &Rule::Where(col("id").eq(1))).await;
    let answer = app
        .ask("{ notes { id siblings(order_by: [{id: ASC}]) { id } } }")
        .await;
    assert_eq!(
        answer,
        json!({"data": {"notes": [{"id": 1, "siblings": [{"id": 1}, {"id": 3}]}]}})
    );
}

#[tokio::test]
async fn cached_sql_is_not_used_under_a_filter() {
    let app = app(VIEWS[0], &mine()).await;
    let rows = json!([{"id": 1, "owner": "ada"}, {"id": 3, "owner": "ada"}]);
    assert_eq!(
        app.ask(CACHED).await,
        json!({"data": {"notes": rows, "other": [{"id": 1}, {"id": 3}]}})
    );
    assert_eq!(app.asked().len(), 2, "each field is decided about once");
}

/// A filter is never ignored: if it cannot be applied, nothing is read.
#[tokio::test]
async fn a_filter_that_cannot_be_applied_denies() {
    let rules = vec![
        ("plain", mine()),
        ("notes", Rule::Where(col("tenant").eq(1))),
    ];
    let app = Guarded::new(options(VIEWS[0]).await, rules).await;
    let answer = app.ask("{ plain }").await;
    assert_eq!(codes(&answer), ["FORBIDDEN"], "{answer}");
    let answer = app.ask("{ notes { id } }").await;
    assert_eq!(codes(&answer), ["FORBIDDEN"], "{answer}");

    assert_eq!(answer.get("data"), Some(&Value::Null), "{answer}");
}
