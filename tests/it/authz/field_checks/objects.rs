//! Decisions about each object, wherever in an answer it is.

use serde_json::{Value, json};

use super::super::principals::serve;
use super::super::service::codes;
use super::{Ran, ask, database, options};

/// Documents that answer with both people, in the order of their ids, and where in the answer their
/// emails are.
const EVERYWHERE: [(&str, &str); 10] = [
    (
        "{ people(order_by: [{ id: ASC }]) { email } }",
        "/people/{}/email",
    ),
    ("{ found { x: email } }", "/found/{}/x"),
    (
        "{ awaited { ...F } } fragment F on Person { ... on Person { email } }",
        "/awaited/{}/email",
    ),
    ("{ page { nodes { id email } } }", "/page/nodes/{}/email"),
    (
        "{ page { edges { node { email } cursor } } }",
        "/page/edges/{}/node/email",
    ),
    (
        "{ person(id: 1) { peers(order_by: [{ id: ASC }]) { email } } }",
        "/person/peers/{}/email",
    ),
    (
        "{ awaited { peers(order_by: [{ id: ASC }]) { email } } }",
        "/awaited/1/peers/{}/email",
    ),
    (
        "{ beings(order_by: [{ id: ASC }], limit: 2) { email } }",
        "/beings/{}/email",
    ),
    (
        "{ beings(order_by: [{ id: ASC }], limit: 2) { ... on Person { email name } } }",
        "/beings/{}/email",
    ),
    (
        "{ a: people(order_by: [{ id: ASC }]) { email peers { id } } }",
        "/a/{}/email",
    ),
];

#[tokio::test]
async fn each_object_has_its_own_decision() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for (query, path) in EVERYWHERE {
        for (user, own) in [
            ("", None),
            ("ada", Some(0)),
            ("bob", Some(1)),
            ("eve", None),
        ] {
            let answer = ask(&app, user, query).await;
            for (index, email) in ["ada@x", "bob@x"].into_iter().enumerate() {
                let path = path.replace("{}", &index.to_string());
                let expected = if own == Some(index) {
                    json!(email)
                } else {
                    Value::Null
                };
                assert_eq!(
                    answer["data"].pointer(&path),
                    Some(&expected),
                    "{user}: {query}: {answer}"
                );
                assert!(
                    own == Some(index) || !answer.to_string().contains(email),
                    "{answer}"
                );
            }
            assert!(
                codes(&answer).iter().all(|code| *code == "FORBIDDEN")
                    && !codes(&answer).is_empty(),
                "{answer}"
            );
            assert_eq!(
                answer["errors"][0]["extensions"]["field"], "Person.email",
                "{answer}"
            );
        }
    }
    let answer = ask(
        &app,
        "bob",
        "{ people(order_by: [{ id: ASC }]) { id email } }",
    )
    .await;
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["errors"][0]["path"], json!(["people", 0, "email"]));
    let answer = ask(&app, "", "{ beings(where: { id: { eq: 3 } }) { email } }").await;
    assert_eq!(
        answer,
        json!({ "data": { "beings": [{ "email": "robot@x" }] } }),
        "the other member has no check"
    );
}

#[tokio::test]
async fn denied_methods_do_not_run_and_denied_relations_are_not_read() {
    let database = database().await;
    let ran = Ran::default();
    let app = serve(options(&database).data(ran.clone())).await;
    let query = "{ awaited { diary(page: 7) boss { name } } }";
    let answer = ask(&app, "ada", query).await;
    let own = json!({ "diary": "page 7 of ada", "boss": { "name": "bob" } });
    assert_eq!(
        answer["data"]["awaited"],
        json!([own, { "diary": null, "boss": null }]),
        "{answer}"
    );
    assert_eq!(codes(&answer), ["NOT_YOURS", "FORBIDDEN"], "{answer}");
    assert_eq!(answer["errors"][0]["message"], "page 7 is not yours");
    assert_eq!(
        *ran.0.lock().unwrap(),
        ["asked Person.diary 7", "asked Person.diary 7", "diary 1 7"],
        "a method runs where it is allowed"
    );
    let before = database.statements("v_person").await;
    let answer = ask(&app, "eve", query).await;
    assert_eq!(
        answer["data"]["awaited"][1],
        json!({ "diary": null, "boss": null }),
        "{answer}"
    );
    assert_eq!(
        database.statements("v_person").await - before,
        1,
        "relations of the denied are not read"
    );
}

/// It reads the fields of the struct, and no other column.
#[tokio::test]
async fn one_statement_reads_the_columns_that_a_check_needs() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let answer = ask(&app, "ada", "{ people { name email } }").await;
    assert_eq!(codes(&answer), ["FORBIDDEN"], "{answer}");
    assert_eq!(database.statements("v_person").await, 1);
    let texts = database.texts("v_person").await;
    assert!(
        texts
            .iter()
            .all(|text| text.contains("email") && !text.contains("unused")),
        "{texts:?}"
    );
    ask(&app, "ada", "{ people { name } }").await;
    let texts = database.texts("v_person").await;
    assert!(
        texts.iter().any(|text| !text.contains("email")),
        "it is read only where it is asked for: {texts:?}"
    );
}
