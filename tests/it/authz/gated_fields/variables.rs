//! Variables that name gated fields.

use serde_json::json;

use super::super::service::codes;
use super::{database, denies, serve};

#[tokio::test]
async fn variables_are_searched_for_gated_fields() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    let query = "query ($w: MemberWhere, $o: [MemberOrderBy!]) { found(where: $w) { id } members(where: $w, order_by: $o) { id } }";
    for (variables, is_denied) in [
        (json!({}), false),
        (json!({ "w": { "id": { "eq": 1 } } }), false),
        (json!({ "w": { "OR": [{ "email": { "eq": "a" } }] } }), true),
        (json!({ "o": [{ "email": "ASC" }] }), true),
    ] {
        let answer = app.query_with(query, variables.clone()).await.json();
        assert_eq!(
            !codes(&answer).is_empty(),
            is_denied,
            "{variables}: {answer}"
        );
    }
}

#[tokio::test]
async fn group_variables_are_searched_for_gated_fields() {
    let database = database().await;
    let (app, asked) = serve(&database, denies).await;
    let query = "query ($by: [MemberGroupBy!], $one: MemberGroupBy!, $h: MemberGroupHaving, $n: IntFilter) {
        statistics { count groups(by: $by, having: $h) { count } one: groups(by: [NAME, $one], having: {count: $n}) { count } } }";
    for (variables, fields) in [
        (json!({ "one": "ID" }), vec![]),
        (
            json!({ "one": "ID", "by": ["NAME", "TEAM_ID"], "h": { "count": { "gt": 1 } }, "n": { "gt": 0 } }),
            vec![],
        ),
        (json!({ "one": "EMAIL" }), vec!["Member.email"]),
        (
            json!({ "one": "ID", "by": ["JOINED_YEAR", "SCORE"] }),
            vec!["Member.joined", "Member.score"],
        ),
        (
            json!({ "one": "ID", "by": "TEAM__EMAIL" }),
            vec!["Member.email", "Member.team"],
        ),
        (
            json!({ "one": "ID", "h": { "AND": [{ "min": { "token": { "eq": "a" } } }] } }),
            vec!["Member.token"],
        ),
    ] {
        let answer = app.query_with(query, variables.clone()).await.json();
        assert_eq!(
            !codes(&answer).is_empty(),
            !fields.is_empty(),
            "{variables}: {answer}"
        );
        let mut asked = std::mem::take(&mut *asked.0.lock().unwrap());
        asked.sort();
        let fields: Vec<_> = fields.iter().map(|field| format!("{field}()")).collect();
        assert_eq!(asked, fields, "{variables}");
    }
    let statements = database.texts("v_member").await;
    assert!(
        statements
            .iter()
            .all(|text| !text.contains("email") && !text.contains("joined")),
        "{statements:?}"
    );
}
