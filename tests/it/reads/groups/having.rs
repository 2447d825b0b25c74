//! `having`: conditions on what is computed of a group.

use serde_json::json;

use super::app;

#[tokio::test]
async fn having_filters_groups_by_their_aggregates() {
    let (_database, app) = app().await;
    for (having, cities) in [
        ("{count: {gte: 2}}", json!(["Bonn", "Ulm"])),
        ("{count: {gte: 2, neq: 3}}", json!(["Ulm"])),
        ("{count: {in: [1, 2]}}", json!(["Ulm", null])),
        ("{sum: {price: {gt: \"8.25\"}}}", json!([null])),
        ("{sum: {price: {gte: \"8.25\"}}}", json!(["Bonn", null])),
        ("{sum: {pieces: {lte: 5}, weight: {lt: 3}}}", json!(["Ulm"])),
        ("{avg: {pieces: {eq: 2.5}}}", json!(["Ulm"])),
        ("{avg: {pieces: {eq: 0.5}}}", json!(["Bonn"])),
        ("{avg: {price: {lt: \"2.76\"}}}", json!(["Bonn", "Ulm"])),
        ("{avg: {weight: {gte: 1.5}}}", json!(["Bonn", null])),
        ("{min: {soldOn: {lt: \"2024-02-01\"}}}", json!(["Ulm"])),
        (
            "{max: {soldAt: {gt: \"2025-01-01T00:00:00Z\"}}}",
            json!(["Bonn"]),
        ),
        ("{max: {city: {startswith: \"B\"}}}", json!(["Bonn"])),
        ("{min: {city: {isnull: true}}}", json!([null])),
        ("{countDistinct: {channel: {eq: 2}}}", json!(["Bonn"])),
        ("{countDistinct: {shopId: {lt: 2}}}", json!(["Ulm", null])),
        ("{NOT: {max: {city: {eq: \"Ulm\"}}}}", json!(["Bonn", null])),
        (
            "{OR: [{count: {eq: 1}}, {AND: [{count: {gt: 2}}, {max: {pieces: {lt: 2}}}]}]}",
            json!(["Bonn", null]),
        ),
        ("{OR: []}", json!([])),
        ("{AND: []}", json!(["Bonn", "Ulm", null])),
        ("{}", json!(["Bonn", "Ulm", null])),
    ] {
        let answer = app
            .same(
                "",
                &format!("{{ groups(by: [CITY], having: {having}) {{ key {{ city }} }} }}"),
            )
            .await;
        let groups = answer["groups"].as_array().unwrap();
        let found: Vec<_> = groups
            .iter()
            .map(|group| group["key"]["city"].clone())
            .collect();
        assert_eq!(json!(found), cities, "{having}");
    }
}

#[tokio::test]
async fn having_can_exclude_the_group_of_all_rows() {
    let (_database, app) = app().await;
    assert_eq!(
        app.same("", "{ groups(having: {count: {gt: 6}}) { count } }")
            .await["groups"],
        json!([])
    );
    let all = app
        .same("", "{ groups(having: {count: {gt: 5}}) { count } }")
        .await;
    assert_eq!(all["groups"], json!([{ "count": 6 }]));
    // What is compared need not be selected, and pages are of what matches.
    let page = app
        .same("", "{ groups(by: [ID], having: {max: {pieces: {gt: 0}}}, orderBy: [{max: {pieces: DESC}}], limit: 2, offset: 1) { key { id } } }")
        .await;
    assert_eq!(
        page["groups"],
        json!([{ "key": { "id": 2 } }, { "key": { "id": 1 } }])
    );
}

#[tokio::test]
async fn meaningless_having_conditions_are_refused() {
    let (database, app) = app().await;
    for (having, message) in [
        ("{count: null}", "the condition `count` is null"),
        ("{sum: {price: null}}", "the condition `price` is null"),
        ("{NOT: null}", "the condition `NOT` is null"),
    ] {
        let reply = app
            .query(&format!(
                "{{ columns {{ groups(having: {having}) {{ count }} }} }}"
            ))
            .await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{having}: {}", reply.text);
        assert!(
            reply.message().contains(message),
            "{having}: {}",
            reply.text
        );
    }
    for having in [
        "{sum: {city: {eq: 1}}}",
        "{count: {contains: 1}}",
        "{key: {city: {eq: \"a\"}}}",
    ] {
        let reply = app
            .query(&format!(
                "{{ columns {{ groups(having: {having}) {{ count }} }} }}"
            ))
            .await;
        assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{having}");
    }
    assert_eq!(database.statements("_sale\"").await, 0);
    // No value stands in the text of a statement.
    let document =
        "query ($n: Int) { columns { groups(by: [CITY], having: {count: {gt: $n}}) { count } } }";
    for n in [0, 77_123] {
        app.query_with(document, json!({ "n": n })).await.data();
    }
    let texts = database.texts("c_sale").await;
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(
        !texts[0].contains("77123") && texts[0].contains("HAVING"),
        "{texts:?}"
    );
}
