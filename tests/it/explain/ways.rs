//! The entries of the explanation, for each way to an answer.

use serde_json::{Value, json};
use svc::Environment;
use svc_tests::Socket;

use super::service::{ask, development, explained, library, serve};

#[tokio::test]
async fn a_planned_field_shows_its_statement_types_rows_and_plan() {
    let (_database, app) = development().await;
    let query =
        r#"{ a: books(where: {title: {eq: "book 7"}, year: {in: [1907, 1908]}}) { title } }"#;
    let entry = explained(&app, query).await;
    assert_eq!(
        (&entry["path"], &entry["field"], &entry["way"]),
        (&json!(["a"]), &json!("Query.books"), &json!("planned"))
    );
    let [statement] = entry["statements"].as_array().unwrap().as_slice() else {
        panic!("{entry}")
    };
    assert!(
        statement["text"].as_str().unwrap().contains("\"v_book\""),
        "{entry}"
    );
    assert!(
        statement["text"].as_str().unwrap().contains("$1"),
        "{entry}"
    );
    assert_eq!(statement["rows"], 1);
    let types: Vec<_> = statement["types"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    assert!(
        types.contains(&"text") && types.iter().any(|name| name.ends_with("[]")),
        "{types:?}"
    );
    assert!(!format!("{}{}", statement["text"], statement["types"]).contains("book 7"));
    let plan = statement["plan"][0]["Plan"].to_string();
    assert!(
        plan.contains("tb_book") && plan.contains("'book 7'"),
        "{plan}"
    );
    let times = &entry["milliseconds"];
    let sum: f64 = ["gate", "sql", "completion"]
        .iter()
        .map(|part| times[part].as_f64().unwrap())
        .sum();
    assert!(
        times["sql"].as_f64().unwrap() > 0.0 && sum <= times["total"].as_f64().unwrap() + 0.01,
        "{times}"
    );
    assert!(times["gate"].as_f64().unwrap() > 0.0, "{times}");
}

#[tokio::test]
async fn each_execution_path_has_its_name() {
    let (database, app) = development().await;
    let way = async |query: &str| explained(&app, query).await["way"].clone();
    assert_eq!(way("{ book(id: 1) { title } }").await, "planned");
    assert_eq!(
        way("{ bookPages: book_pages(first: 2) { nodes { title } total_count } }").await,
        "planned"
    );
    assert_eq!(way("{ book_totals { count } }").await, "planned");
    assert_eq!(way("{ kept(id: 2) { title } }").await, "planned");
    let again = explained(&app, "{ kept(id: 2) { title } }").await;
    assert_eq!(
        (&again["way"], &again["statements"]),
        (&json!("cached"), &json!([]))
    );
    assert_eq!(way("{ failing }").await, "resolved");
    assert_eq!(way("{ denied }").await, Value::Null);
    let added =
        explained(&app, r#"mutation { add(input: {id: 900, title: "new"}) { ... on AddSuccess { book { title } } } }"#)
            .await;
    assert_eq!(added["way"], "called");
    let called: i64 = sqlx::query_scalar("SELECT last_value FROM calls")
        .fetch_one(&database.pool().await)
        .await
        .unwrap();
    assert_eq!(called, 1, "a call is sent once");
    let statements = added["statements"].as_array().unwrap();
    assert_eq!(
        statements[0]["noPlan"],
        "a statement that may write is not planned a second time"
    );
    assert!(
        statements[1]["plan"].is_array(),
        "the entity is read: {added}"
    );
}

#[tokio::test]
async fn a_registered_statement_is_listed_at_the_first_field() {
    let (_database, app) = development().await;
    let body = json!({ "documentId": "first", "variables": { "year": 1900 }, "extensions": { "explain": true } });
    let answer = app.post(&body).await.json();
    let [books, writers] = answer["extensions"]["explain"]
        .as_array()
        .unwrap()
        .as_slice()
    else {
        panic!("{answer}")
    };
    assert_eq!(
        (&books["way"], &writers["way"]),
        (&json!("by statement"), &json!("by statement"))
    );
    assert_eq!(
        (
            books["statements"].as_array().unwrap().len(),
            &writers["statements"]
        ),
        (1, &json!([]))
    );
    assert!(books["statements"][0]["plan"].is_array(), "{books}");
    assert_eq!(books["statements"][0]["types"], json!(["unknown"]));
}

#[tokio::test]
async fn each_request_of_a_batch_or_socket_has_its_own_explanation() {
    let (_database, app) = development().await;
    let asked = |query: &str, explain: bool| json!({ "query": query, "extensions": { "explain": explain } });
    let batch = json!([
        asked("{ books { id } writers { id } }", true),
        asked("{ books { id } }", false)
    ]);
    let answers = app.post(&batch).await.json();
    assert_eq!(
        answers[0]["extensions"]["explain"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert!(answers[1].get("extensions").is_none(), "{answers}");
    let mut socket = Socket::ready(&app).await;
    socket.send(&json!({ "id": "1", "type": "subscribe", "payload": asked("{ writers { id } }", true) })).await;
    let next = socket.next().await;
    assert_eq!(
        next["payload"]["extensions"]["explain"][0]["field"],
        "Query.writers"
    );
}

#[tokio::test]
async fn explanations_require_development_and_the_extension() {
    let database = library().await;
    let app = serve(&database, Environment::Production).await;
    let answer = ask(&app, "{ books(limit: 1) { id } }").await;
    assert_eq!(answer, json!({ "data": { "books": [{ "id": 1 }] } }));
    let app = serve(&database, Environment::Development).await;
    for extensions in [
        json!({}),
        json!({ "explain": false }),
        json!({ "explain": "true" }),
        json!({ "explain": 1 }),
    ] {
        let body = json!({ "query": "{ books(limit: 1) { id } }", "extensions": extensions });
        assert_eq!(
            app.post(&body).await.json(),
            json!({ "data": { "books": [{ "id": 1 }] } })
        );
    }
    assert_eq!(database.statements("EXPLAIN").await, 0);
}
