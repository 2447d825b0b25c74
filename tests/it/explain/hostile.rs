//! Requests that mean the explanation ill, or want too much of it.

use serde_json::{Value, json};

use super::service::{ask, development, explained, hints};

#[tokio::test]
async fn the_number_of_explained_statements_is_bounded() {
    let (_database, app) = development().await;
    let aliases: String = (0..50)
        .map(|n| format!("a{n}: book(id: {n}) {{ title }} "))
        .collect();
    let answer = ask(&app, &format!("{{ {aliases} }}")).await;
    let entries = answer["extensions"]["explain"]
        .as_array()
        .expect("an explanation");
    assert_eq!(entries.len(), 50);
    assert_eq!(
        (&entries[49]["path"], &entries[49]["statements"][0]["rows"]),
        (&json!(["a49"]), &json!(1))
    );
    let entry = explained(&app, "{ one_by_one(count: 300) }").await;
    assert_eq!(entry["way"], "resolved");
    assert_eq!(
        (
            entry["statements"].as_array().unwrap().len(),
            &entry["unshownStatements"]
        ),
        (20, &json!(280))
    );
}

#[tokio::test]
async fn large_plans_are_omitted_and_many_values_are_explained() {
    let (_database, app) = development().await;
    let ids: Vec<_> = (100_000_000..100_009_000).collect();
    let body = json!({
        "query": "query ($ids: [Int!]) { books(where: {id: {in: $ids}}) { id } }",
        "variables": { "ids": ids },
        "extensions": { "explain": true },
    });
    let reply = app.post(&body).await;
    let statement = reply.json()["extensions"]["explain"][0]["statements"][0].clone();
    assert_eq!(
        statement["noPlan"], "the plan has more than 64 kB",
        "{}",
        reply.text
    );
    assert!(reply.text.len() < 100_000, "{} bytes", reply.text.len());
    let conditions: Vec<_> = (0..150)
        .map(|n| format!("{{title: {{eq: \"t{n}\"}}}}"))
        .collect();
    let query = format!(
        "{{ books(where: {{OR: [{}]}}) {{ id }} }}",
        conditions.join(", ")
    );
    let entry = explained(&app, &query).await;
    assert!(entry["statements"][0]["plan"].is_array(), "{entry}");
    assert!(entry["statements"][0]["types"].as_array().unwrap().len() >= 150);
}

#[tokio::test]
async fn table_and_column_names_are_quoted_in_hints() {
    let (database, app) = development().await;
    let query = r#"{ odds(where: {name: {eq: "'); DROP TABLE tb_book; --"}}) { id } }"#;
    let hint = r#"CREATE INDEX ON public."odd ""t"");--" ("drop "";--")"#;
    assert_eq!(hints(&app, query).await, [hint]);
    database.execute(hint).await;
    assert_eq!(hints(&app, query).await, [] as [&str; 0]);
}

#[tokio::test]
async fn explanations_survive_dropped_relations_and_errors() {
    let (database, app) = development().await;
    let answer = ask(&app, "mutation { temporary }").await;
    assert_eq!(answer["data"]["temporary"], 1, "{answer}");
    let statements = answer["extensions"]["explain"][0]["statements"]
        .as_array()
        .unwrap();
    assert_eq!(statements.len(), 3, "{statements:#?}");
    assert!(statements[2]["plan"].is_array(), "{statements:#?}");
    // Views that are gone, and a request that is refused before it runs.
    database.execute("DROP VIEW v_part").await;
    let entry = explained(&app, "{ parts { id } }").await;
    assert_eq!(entry["hints"], json!([]));
    let refused = ask(&app, "{ nothing }").await;
    assert_eq!(refused.get("extensions"), None);
    assert!(refused["errors"].is_array());
    let _: Value = explained(&app, "{ books(limit: 1) { id } }").await;
}

#[tokio::test]
async fn merged_fields_are_explained_once() {
    let (_database, app) = development().await;
    let answer = ask(
        &app,
        "{ __typename a: books(limit: 1) { id } a: books(limit: 1) { title } __schema { queryType { name } } }",
    )
    .await;
    let entries = answer["extensions"]["explain"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{answer}");
}
