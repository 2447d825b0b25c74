//! Operators that take regular expressions can be switched off.

use svc::{Limits, SvcConfig};

use super::{app, app_with};

const WITH: [&str; 3] = [
    "name: {matches: \"^u\"}",
    "name: {imatches: \"^U\"}",
    "meta: {pathExists: \"$.k ? (@ > 0)\"}",
];
const WITHOUT: [&str; 3] = [
    "name: {like: \"u%\"}",
    "name: {icontains: \"USER\"}",
    "meta: {contains: {k: 1}}",
];

#[tokio::test]
async fn regular_expressions_can_be_switched_off() {
    let config = SvcConfig::from_variables(|name| {
        (name == "SVC_REGULAR_EXPRESSIONS").then(|| "off".to_owned())
    })
    .unwrap();
    let without = app_with(config, Limits::default()).await;
    let with = app().await;
    for condition in WITH {
        let document = format!(
            "{{ users(where: {{{condition}}}) {{ id }} found(where: {{{condition}}}) {{ id }} }}"
        );
        let reply = without.query(&document).await;
        assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED", "{}", reply.text);
        assert_eq!(
            with.query(&document).await.data()["users"]
                .as_array()
                .unwrap()
                .len(),
            5,
            "{document}"
        );
        let name = if condition.contains("path") {
            "meta"
        } else {
            "name"
        };
        let document = "query ($w: UserWhere) { users(where: $w) { id } }";
        let operator = condition.split(['{', ':']).nth(2).unwrap().trim();
        let variables = svc::serde_json::json!({ "w": { name: { operator: "$" } } });
        assert_eq!(
            without.query_with(document, variables).await.code(),
            "BAD_USER_INPUT"
        );
    }
    for condition in WITHOUT {
        let document = format!("{{ users(where: {{{condition}}}) {{ id }} }}");
        assert_eq!(
            without.query(&document).await.data()["users"]
                .as_array()
                .unwrap()
                .len(),
            5,
            "{document}"
        );
    }
    let introspection = "{ __type(name: \"StringFilter\") { inputFields { name } } }";
    assert!(!without.query(introspection).await.text.contains("matches"));
    assert!(
        with.query(introspection)
            .await
            .text
            .contains("\"imatches\"")
    );
}
