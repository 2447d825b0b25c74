//! Orders.

use serde_json::json;

use super::{ROOTS, app, ids, same_data};

const NUMBERS: [&str; 5] = [
    "{small: {}}",
    "{ratio: {}}",
    "{price: {}}",
    "{big: {}}",
    "{part: {rank: {}}}",
];
const OTHERS: [&str; 2] = ["{word: {}}", "{at: {}}"];

/// The order of rows 1 to 5 in each direction.
const DIRECTIONS: [(&str, &str); 6] = [
    ("ASC", "43215"),
    ("ASC_NULLS_FIRST", "54321"),
    ("ASC_NULLS_LAST", "43215"),
    ("DESC", "51234"),
    ("DESC_NULLS_FIRST", "51234"),
    ("DESC_NULLS_LAST", "12345"),
];

/// Numbers order as numbers and nulls as the direction says, in a list, in a page of a connection
/// and in a nested list, with and without whole rows.
#[tokio::test]
async fn every_type_orders_in_every_direction() {
    let (app, _database) = app().await;
    for field in NUMBERS.iter().chain(&OTHERS) {
        for (direction, expected) in DIRECTIONS {
            let order = format!("orderBy: [{}]", field.replace("{}", direction));
            let first = format!("where: {{id: {{lte: 5}}}}, {order}");
            let query = format!(
                "{{ {{root}}Rows({first}) {{ id }} whole: {{root}}Rows({first}) {{ id says }}
                   page: {{root}}Page({first}) {{ nodes {{ id }} }} one: {{root}}One(id: 5) {{ children({order}) {{ id }} }} }}"
            );
            let data = same_data(&app, &query).await;
            for rows in [
                &data["rows"],
                &data["whole"],
                &data["page"]["nodes"],
                &data["one"]["children"],
            ] {
                assert_eq!(ids(rows), expected, "{order}");
            }
        }
    }
}

/// No statement that orders numbers has a collation.
#[tokio::test]
async fn numbers_have_no_collation() {
    let (app, database) = app().await;
    for field in NUMBERS {
        let order = field.replace("{}", "ASC");
        same_data(
            &app,
            &format!("{{ {{root}}Rows(orderBy: [{order}]) {{ id }} }}"),
        )
        .await;
    }
    for source in ["c_item", "d_item", "tv_item"] {
        let texts = database.texts(source).await;
        assert!(
            texts.iter().any(|text| text.contains("ORDER BY")),
            "{source}: {texts:?}"
        );
        assert!(
            texts
                .iter()
                .all(|text| !text.to_uppercase().contains("COLLATE")),
            "{source}: {texts:?}"
        );
    }
}

/// In lists, connections, nested lists and objects, as a literal and as a variable.
#[tokio::test]
async fn an_order_by_an_unknown_field_is_an_error() {
    let (app, database) = app().await;
    for (root, ty) in ROOTS {
        for order in [
            "{nope: ASC}",
            "{part: {nope: ASC}}",
            "{parent: {nope: ASC}}",
            "{word: ASC, nope: DESC}",
            "{id: UP}",
        ] {
            for field in [
                format!("{root}Rows(orderBy: [{order}]) {{ id }}"),
                format!("{root}Page(orderBy: [{order}]) {{ nodes {{ id }} }}"),
                format!("{root}One(id: 5) {{ children(orderBy: [{order}]) {{ id }} }}"),
            ] {
                let reply = app.query(&format!("{{ {field} }}")).await;
                assert_eq!(
                    reply.code(),
                    "GRAPHQL_VALIDATION_FAILED",
                    "{field}: {}",
                    reply.text
                );
                assert!(reply.json().get("data").is_none(), "{}", reply.text);
            }
        }
        for order in [
            json!({ "nope": "ASC" }),
            json!({ "part": { "nope": "ASC" } }),
            json!({ "id": "UP" }),
        ] {
            for field in [
                format!("{root}Rows(orderBy: $o) {{ id }}"),
                format!("{root}Page(orderBy: $o) {{ totalCount }}"),
            ] {
                let query = format!("query ($o: [{ty}OrderBy!]) {{ {field} }}");
                let reply = app.query_with(&query, json!({ "o": [order] })).await;
                assert_eq!(reply.code(), "BAD_USER_INPUT", "{order}: {}", reply.text);
            }
        }
    }
    assert_eq!(
        database.statements("_item\"").await,
        0,
        "none of them reached the database"
    );
}
