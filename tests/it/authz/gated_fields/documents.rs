//! Documents that name gated fields, and the answers without these.

use serde_json::{Value, json};
use svc::prelude::*;

use super::super::service::codes;
use super::{database, denies, serve};

/// Documents that tell something of the gated fields, however they do it.
const TELLING: [&str; 36] = [
    "{ members { x: email } }",
    "{ members { ...F } } fragment F on Member { ... on Member { email } }",
    "{ members { mates { email } } }",
    "{ members(limit: 2) { mates(limit: 2) { mates(limit: 2) { mates(limit: 2) { email } } } } }",
    "{ members { plain mates { email plain } } }",
    "{ members { team { id } } }",
    r#"{ members { hint(length: 3) } }"#,
    "{ awaited { email } }",
    "{ awaited { mates { email } } }",
    "{ found { email } }",
    "{ page { nodes { email } } }",
    "{ page { edges { node { email } } } }",
    r#"{ members(where: { email: { eq: "secret-1" } }) { id } }"#,
    r#"{ members(where: { AND: [{ NOT: { email: { isnull: true } } }] }) { id } }"#,
    r#"{ members(where: { mates: { some: { email: { eq: "a" } } } }) { id } }"#,
    "{ members(order_by: [{ email: ASC }]) { id } }",
    "{ members { mates(order_by: [{ email: ASC }]) { id } } }",
    r#"{ page(where: { email: { eq: "a" } }) { total_count } }"#,
    "{ page(order_by: [{ email: ASC }]) { edges { cursor } } }",
    r#"{ member(email: "secret-1") { id } }"#,
    "{ statistics { max { email } } }",
    "{ statistics { sum { score } } }",
    "{ statistics { groups(by: [NAME, EMAIL]) { key { name email } count } } }",
    "{ statistics { groups(order_by: [{ min: { email: ASC } }]) { count } } }",
    "{ statistics { groups(by: [EMAIL]) { count } } }",
    "{ statistics { a: groups(by: [NAME]) { count } b: groups(by: EMAIL, limit: 1) { count key { email } } } }",
    "{ statistics { groups(by: [TEAM__NAME]) { count } } }",
    "{ statistics { groups(by: [NAME, TEAM__NAME], order_by: [{ key: { team: { name: ASC } } }]) { count } } }",
    "{ statistics { groups(by: [JOINED_YEAR]) { count } } }",
    "{ statistics { groups(by: [NAME, JOINED_MONTH]) { key { name joined_month } } } }",
    "{ statistics { groups(by: [NAME, JOINED_WEEK], order_by: [{ key: { joined_week: ASC } }]) { count } } }",
    r#"{ statistics { groups(having: { max: { email: { contains: "1" } } }) { count } } }"#,
    "{ statistics { groups(by: [NAME], having: { OR: [{ NOT: { sum: { score: { gt: 1 } } } }] }) { count } } }",
    "{ statistics { groups(having: { count_distinct: { joined: { gt: 1 } } }) { count } } }",
    "{ statistics { count_distinct { email } } }",
    "{ statistics { groups(by: [NAME], order_by: [{ count_distinct: { score: DESC } }]) { count } } }",
];

#[tokio::test]
async fn a_denied_field_reveals_nothing() {
    let database = database().await;
    let (app, asked) = serve(&database, denies).await;
    for query in TELLING {
        let reply = app.query(query).await;
        let answer = reply.json();
        assert!(
            !codes(&answer).is_empty() && codes(&answer).iter().all(|code| *code == "FORBIDDEN"),
            "{query}: {answer}"
        );
        assert!(
            !reply.text.contains("secret-") && !reply.text.contains("4177"),
            "{query}: {answer}"
        );
        assert!(
            answer["errors"][0]["extensions"]["field"]
                .as_str()
                .unwrap()
                .starts_with("Member."),
            "{answer}"
        );
        let asked = std::mem::take(&mut *asked.0.lock().unwrap());
        assert_eq!(
            asked.len(),
            1,
            "each field is asked about once, and no method runs: {query}: {asked:?}"
        );
    }
    let statements = database.texts("v_member").await;
    // Whole rows are for structs of the program, which never have a part of their fields.
    let is_whole = |text: &str| text.contains("\"token\"");
    let reads =
        |text: &&String| (text.contains("email") || text.contains("score")) && !is_whole(text);
    assert_eq!(statements.iter().filter(reads).collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test]
async fn allowed_fields_are_answered() {
    let database = database().await;
    let (app, _) = serve(&database, |_| Ok(AuthorizationDecision::allow())).await;
    for query in TELLING {
        app.query(query).await.data();
    }
}

#[tokio::test]
async fn the_other_fields_of_the_rows_are_answered() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    for query in [
        "{ members { id email } }",
        "{ awaited { id email } }",
        "{ found { id email } }",
    ] {
        let answer = app.query(query).await.json();
        let rows = answer["data"].as_object().unwrap().values().next().unwrap();
        assert_eq!(
            *rows,
            json!([{ "id": 1, "email": null }, { "id": 2, "email": null }]),
            "{query}"
        );
        assert_eq!(codes(&answer), ["FORBIDDEN"; 2]);
        let path = answer["errors"][1]["path"].as_array().unwrap();
        assert_eq!(path[1..], [json!(1), json!("email")], "{answer}");
    }
    let answer = app
        .query("{ members { plain mates { id plain email } } }")
        .await
        .json();
    assert_eq!(
        answer["data"]["members"][1]["mates"][0],
        json!({ "id": 1, "plain": 1, "email": null })
    );
    // What cannot be null takes its row along.
    let answer = app
        .query("{ members { id token } a: members { id } }")
        .await
        .json();
    assert_eq!(
        (&answer["data"], codes(&answer)),
        (&Value::Null, vec!["FORBIDDEN"]),
        "{answer}"
    );
}

/// Each type that implements an interface keeps its own gates.
#[tokio::test]
async fn members_of_an_interface_keep_their_gates() {
    let database = database().await;
    let (app, _) = serve(&database, denies).await;
    let answer = app
        .query("{ items(order_by: [{ id: ASC }]) { id code } }")
        .await
        .json();
    assert_eq!(
        answer["data"]["items"],
        json!([{ "id": 1, "code": "open" }, { "id": 2, "code": null }]),
        "{answer}"
    );
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    for query in [
        "{ items(order_by: [{ code: ASC }]) { id } }",
        r#"{ items(where: { code: { eq: "open" } }) { id } }"#,
    ] {
        assert_eq!(
            codes(&app.query(query).await.json()),
            ["FORBIDDEN"],
            "{query}"
        );
    }
}
