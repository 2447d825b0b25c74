//! `@semanticNonNull`: each null in a field with the directive has its error in the response, or
//! else there is no `data`.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc::Limits;
use svc::prelude::*;
use svc_tests::App;

#[svc_type]
struct Load {
    id: i32,
}

#[svc_type]
impl Load {
    fn weight(&self) -> Result<i32> {
        Err(too_heavy())
    }

    fn note(&self) -> Result<Option<i32>> {
        Err(too_heavy())
    }

    #[svc(batch, cost = 1)]
    async fn weights(loads: &[&Self]) -> Vec<Result<i32>> {
        loads.iter().map(|_| Err(too_heavy())).collect()
    }

    /// Has too few values.
    #[svc(batch, cost = 1)]
    fn few(loads: &[&Self]) -> Vec<i32> {
        loads.iter().skip(1).map(|load| load.id).collect()
    }

    /// Has too many values.
    #[svc(batch, cost = 1)]
    fn many(loads: &[&Self]) -> Vec<i32> {
        loads.iter().map(|load| load.id).chain([0]).collect()
    }

    #[svc(batch, cost = 1)]
    fn breaks(loads: &[&Self]) -> Vec<i32> {
        panic!("the scales broke under {} loads", loads.len())
    }
}

fn too_heavy() -> Error {
    Error::new(ErrorCode::BadUserInput, "too heavy")
}

#[svc::query]
fn loads(count: i32) -> Vec<Load> {
    (1..=count).map(|id| Load { id }).collect()
}

#[svc::query]
fn lost() -> Result<i32> {
    Err(too_heavy())
}

async fn app() -> App {
    App::serve(
        AppOptions::new()
            .database_url("postgres://nobody@127.0.0.1:1/nothing")
            .queries(queries![loads, lost])
            .semantic_non_null(true),
    )
    .await
}

/// Sends a query with the default behavior, and with `NULL`.
async fn answers(app: &App, query: &str) -> [Value; 2] {
    let null = json!({ "query": query, "onError": "NULL" });
    [app.query(query).await.json(), app.post(&null).await.json()]
}

/// The paths of the nulls in a value, as text.
fn nulls(value: &Value, path: &mut Vec<Value>, found: &mut BTreeSet<String>) {
    let mut below = |step: Value, value: &Value| {
        path.push(step);
        nulls(value, path, found);
        path.pop();
    };
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| below(json!(key), value)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| below(json!(index), value)),
        Value::Null => {
            found.insert(json!(path).to_string());
        }
        _ => {}
    }
}

/// The paths of the errors, as text.
fn paths(answer: &Value) -> BTreeSet<String> {
    let errors = answer["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|error| error["path"].to_string())
        .collect()
}

#[tokio::test]
async fn each_null_has_its_error_up_to_the_limit() {
    let (app, most) = (app().await, Limits::default().errors);
    for field in ["weight", "weights", "few", "many", "breaks"] {
        let query = format!("{{ loads(count: {most}) {{ id {field} }} }}");
        for answer in answers(&app, &query).await {
            let loads = answer["data"]["loads"].as_array().unwrap();
            assert_eq!(loads.len(), most, "{query}: {answer}");
            let mut found = BTreeSet::new();
            nulls(&answer["data"], &mut Vec::new(), &mut found);
            assert_eq!(found.len(), most, "{query}: {answer}");
            assert_eq!(paths(&answer), found, "{query}");
        }
    }
}

#[tokio::test]
async fn there_is_no_data_if_an_error_of_such_a_field_is_left_out() {
    let (app, most) = (app().await, Limits::default().errors);
    let more = most + 1;
    for query in [
        format!("{{ loads(count: {more}) {{ id weight }} }}"),
        format!("{{ loads(count: {more}) {{ id weights }} }}"),
        format!("{{ loads(count: {more}) {{ id few }} }}"),
        format!("{{ loads(count: {more}) {{ id many }} }}"),
        format!("{{ loads(count: {more}) {{ id breaks }} }}"),
        // The last error is that of the field, after as many others as a response shows.
        format!("{{ loads(count: {most}) {{ id note }} lost }}"),
        // Neither of the two has too many alone.
        format!("{{ a: loads(count: {most}) {{ weight }} b: loads(count: {most}) {{ weights }} }}"),
    ] {
        for answer in answers(&app, &query).await {
            assert_eq!(answer["data"], Value::Null, "{query}: {answer}");
            assert_eq!(answer["errors"].as_array().unwrap().len(), most, "{query}");
        }
    }
}

#[tokio::test]
async fn left_out_errors_of_nullable_fields_keep_the_data() {
    let (app, most) = (app().await, Limits::default().errors);
    let query = format!("{{ loads(count: {}) {{ id note }} }}", most + 1);
    for answer in answers(&app, &query).await {
        let loads = answer["data"]["loads"].as_array().unwrap();
        assert_eq!(loads.len(), most + 1, "{answer}");
        assert_eq!(paths(&answer).len(), most, "{answer}");
    }
}
