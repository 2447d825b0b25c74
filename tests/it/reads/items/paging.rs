//! Pages.

use serde_json::json;

use super::{ROOTS, app, assert_clean, ids, same, same_data};

/// In lists, connections and nested lists.
#[tokio::test]
async fn an_invalid_page_is_refused() {
    let (app, _database) = app().await;
    for (field, part) in [
        ("{root}Rows(limit: -1) { id }", "negative"),
        ("{root}Rows(offset: -1) { id }", "negative"),
        ("{root}Rows(limit: 1001) { id }", "at most 1000"),
        (
            "{root}One(id: 5) { children(limit: -1) { id } }",
            "negative",
        ),
        (
            "{root}One(id: 5) { children(offset: -1) { id } }",
            "negative",
        ),
        (
            "{root}One(id: 5) { children(limit: 1001) { id } }",
            "at most 1000",
        ),
        ("{root}Page(first: -1) { nodes { id } }", "negative"),
        ("{root}Page(last: -1) { nodes { id } }", "negative"),
        ("{root}Page(first: 1001) { nodes { id } }", "at most 1000"),
        ("{root}Page(last: 1001) { nodes { id } }", "at most 1000"),
        ("{root}Page(first: 1, last: 1) { nodes { id } }", "not both"),
        (
            r#"{root}Page(after: "broken") { nodes { id } }"#,
            "the cursor is not one of this list",
        ),
        (
            r#"{root}Page(before: "W10") { nodes { id } }"#,
            "the cursor is not one of this list",
        ),
    ] {
        let answer = same(&app, &format!("{{ {field} }}")).await;
        let error = &answer["errors"][0];
        assert_eq!(
            error["extensions"]["code"], "BAD_USER_INPUT",
            "{field}: {answer}"
        );
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| message.contains(part)),
            "{field}: {answer}"
        );
        assert_clean(&answer.to_string());
    }
}

/// 20 rows, in lists, connections and nested lists.
#[tokio::test]
async fn a_list_without_a_limit_is_capped() {
    let (app, _database) = app().await;
    let count = |rows: &serde_json::Value| rows.as_array().map(Vec::len);
    for rows in ["id", "says"] {
        let query = format!(
            "{{ {{root}}Rows {{ {rows} }} page: {{root}}Page {{ nodes {{ {rows} }} edges {{ __typename }} totalCount pageInfo {{ hasNextPage }} }}
               none: {{root}}Rows(limit: null) {{ {rows} }} one: {{root}}One(id: 1) {{ children {{ {rows} }} none: children(limit: null) {{ {rows} }} }} }}"
        );
        let data = same_data(&app, &query).await;
        let (page, one) = (&data["page"], &data["one"]);
        for list in [
            &data["rows"],
            &data["none"],
            &page["nodes"],
            &page["edges"],
            &one["children"],
            &one["none"],
        ] {
            assert_eq!(count(list), Some(20), "{list}");
        }
        assert_eq!(
            (&page["totalCount"], &page["pageInfo"]["hasNextPage"]),
            (&json!(30), &json!(true))
        );
    }
}

/// In lists and nested lists, and after the last cursor of a connection.
#[tokio::test]
async fn pages_beyond_the_end_are_empty() {
    let (app, _database) = app().await;
    let data = same_data(
        &app,
        "{ {root}Rows(offset: 30) { id } whole: {root}Rows(offset: 1000, limit: 5) { says } last: {root}Rows(offset: 29) { id }
           one: {root}One(id: 5) { children(offset: 5) { id } last: children(offset: 4) { id } }
           page: {root}Page(last: 1) { nodes { id } pageInfo { hasNextPage } } }",
    )
    .await;
    assert_eq!(
        (&data["rows"], &data["whole"], &data["one"]["children"]),
        (&json!([]), &json!([]), &json!([]))
    );
    assert_eq!(
        (ids(&data["last"]), ids(&data["one"]["last"])),
        ("30".to_owned(), "5".to_owned())
    );
    assert_eq!(
        (
            ids(&data["page"]["nodes"]),
            &data["page"]["pageInfo"]["hasNextPage"]
        ),
        ("30".to_owned(), &json!(false))
    );
    for (root, _) in ROOTS {
        let last = app
            .query(&format!(
                "{{ page: {root}Page(last: 1) {{ pageInfo {{ endCursor }} }} }}"
            ))
            .await
            .data();
        let end = &last["page"]["pageInfo"]["endCursor"];
        let after = format!(
            "{{ page: {root}Page(first: 5, after: {end}) {{ nodes {{ id }} edges {{ cursor }} totalCount pageInfo {{ hasNextPage endCursor }} }} }}"
        );
        let info = json!({ "hasNextPage": false, "endCursor": null });
        assert_eq!(
            app.query(&after).await.data()["page"],
            json!({ "nodes": [], "edges": [], "totalCount": 30, "pageInfo": info })
        );
    }
}

/// The cursor of a row that was found by its id leads on in the whole list.
#[tokio::test]
async fn a_row_that_is_found_by_its_id_has_a_cursor() {
    let (app, _database) = app().await;
    for (root, _) in ROOTS {
        let query =
            format!("{{ page: {root}Page(where: {{id: {{eq: 7}}}}) {{ edges {{ cursor }} }} }}");
        let cursor = app.query(&query).await.data()["page"]["edges"][0]["cursor"].clone();
        let query =
            format!("{{ page: {root}Page(after: {cursor}, first: 2) {{ nodes {{ id }} }} }}");
        assert_eq!(
            ids(&app.query(&query).await.data()["page"]["nodes"]),
            "89",
            "{root}"
        );
    }
}
