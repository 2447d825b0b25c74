//! Pages of related rows in an order that a function computes, each time with other arguments.

use super::*;

/// The nearest place of each city.
fn nearest(selected: &str) -> String {
    format!(
        "query($at: Float!) {{ cities(orderBy: [{{id: ASC}}]) {{
             page: placesConnection(orderBy: [{{distance: {{args: {{at: $at}}}}}}], first: 1) {{ {selected} }} }} }}"
    )
}

#[tokio::test]
async fn pages_of_a_relation_follow_the_arguments_of_each_request() {
    let kinds = kinds().await;
    for (kind, app) in kinds.each() {
        for selected in [
            "nodes { id }",
            "totalCount nodes { id }",
            "nodes { id } edges { cursor }",
        ] {
            let document = nearest(selected);
            for (at, found) in [(1, [2, 3]), (9, [1, 5]), (4, [1, 4]), (1, [2, 3])] {
                let answer = app.query_with(&document, json!({ "at": at })).await.data();
                let pages = column(&answer["cities"], "page");
                let ids: Vec<_> = pages.iter().map(|page| &page["nodes"][0]["id"]).collect();
                assert_eq!(ids, found, "{kind} {selected} at {at}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn cursors_of_such_pages_belong_to_the_arguments_of_their_request() {
    let kinds = kinds().await;
    for (kind, app) in kinds.each() {
        let document = nearest("pageInfo { endCursor }");
        let after = async |cursor: &Value, at: i32| {
            let query = "query($at: Float!, $after: String) { cities(orderBy: [{id: ASC}], limit: 1) {
                page: placesConnection(orderBy: [{distance: {args: {at: $at}}}], first: 1, after: $after) { nodes { id } } } }";
            app.query_with(query, json!({ "at": at, "after": cursor }))
                .await
        };

        for (at, other, next) in [(1, 9, 1), (9, 1, 2), (4, 1, 2), (1, 4, 1)] {
            let answer = app.query_with(&document, json!({ "at": at })).await.data();
            let cursor = &answer["cities"][0]["page"]["pageInfo"]["endCursor"];
            let page = after(cursor, at).await.data()["cities"][0]["page"].clone();
            assert_eq!(page["nodes"], json!([{ "id": next }]), "{kind} after {at}");

            let refused = after(cursor, other).await;
            assert_eq!(refused.code(), "BAD_USER_INPUT", "{}", refused.text);
        }
    }
}
