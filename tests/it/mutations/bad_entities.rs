//! An entity whose row has values that break their types.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_shift")]
struct Shift {
    id: i32,
    name: String,
    at: Option<NaiveDate>,
    ends: NaiveTime,
    boss_id: Option<i32>,
    #[relation(from = "boss_id")]
    boss: Option<One<Shift>>,
}

#[svc_type]
impl Shift {
    fn loud(&self) -> Option<String> {
        Some(self.name.to_uppercase())
    }
}

#[svc_result]
enum MakeResult {
    Success { shift: Shift },
    Error { shift: Option<Shift> },
}

#[svc::query]
async fn shifts() -> Vec<Shift>;
#[svc::mutation(function = "fn_make")]
async fn make(status: String) -> MakeResult;
#[svc::mutation(function = "fn_make", name = "plain")]
async fn make_plain(status: String) -> Shift;

const SQL: &str = r#"
CREATE TABLE tb_shift (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, at date, ends time, boss_id int);
CREATE VIEW v_shift AS SELECT * FROM tb_shift;
CREATE FUNCTION fn_make(status text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE made int;
BEGIN
    INSERT INTO tb_shift (name, at, ends) VALUES ('night', 'infinity', '06:00') RETURNING id INTO made;
    RETURN jsonb_build_object('status', status, 'entity_id', made);
END $$;"#;

async fn app() -> App {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url());
    App::serve(
        options
            .queries(queries![shifts])
            .mutations(mutations![make, make_plain]),
    )
    .await
}

/// The answer's `it`, and the code and path of each error.
async fn run(app: &App, field: &str, selection: &str) -> (Value, Vec<(String, Value)>) {
    let reply = app
        .query(&format!("mutation {{ it: {field} {selection} }}"))
        .await
        .json();
    let errors = reply["errors"].as_array().cloned().unwrap_or_default();
    let told = |error: &Value| {
        assert_eq!(error["extensions"]["mutation"], "DONE", "{reply}");
        (
            error["extensions"]["code"].as_str().unwrap().to_owned(),
            error["path"].clone(),
        )
    };
    (
        reply["data"]["it"].clone(),
        errors.iter().map(told).collect(),
    )
}

#[tokio::test]
async fn a_bad_value_that_is_not_selected_fails_nothing() {
    let app = app().await;
    let made = r#"make(status: "created")"#;
    let (it, errors) = run(
        &app,
        made,
        "{ ... on MakeSuccess { shift { __typename id name ends } } }",
    )
    .await;
    let night = json!({ "__typename": "Shift", "id": 1, "name": "night", "ends": "06:00:00" });
    assert_eq!((it, errors), (json!({ "shift": night }), vec![]));
    let (it, errors) = run(
        &app,
        r#"make(status: "noop:there")"#,
        "{ ... on MakeError { shift { name } } }",
    )
    .await;
    assert_eq!(
        (it, errors),
        (json!({ "shift": null }), vec![]),
        "what failed is undone"
    );
    let (it, errors) = run(&app, r#"plain(status: "created")"#, "{ name }").await;
    assert_eq!((it, errors), (json!({ "name": "night" }), vec![]));
}

#[tokio::test]
async fn a_bad_value_fails_at_its_own_path() {
    let app = app().await;
    let not_read = |path: Value| vec![("NOT_READ".to_owned(), path)];
    let made = r#"make(status: "created")"#;
    let (it, errors) = run(
        &app,
        made,
        "{ ... on MakeSuccess { status shift { name at } } }",
    )
    .await;
    assert_eq!(
        it,
        json!({ "status": "created", "shift": { "name": "night", "at": null } })
    );
    assert_eq!(errors, not_read(json!(["it", "shift", "at"])));
    let (it, errors) = run(&app, r#"plain(status: "created")"#, "{ at name }").await;
    assert_eq!(
        (it, errors),
        (
            json!({ "at": null, "name": "night" }),
            not_read(json!(["it", "at"]))
        )
    );
}

/// A method needs the whole row as a struct, which cannot hold the value; it fails alone.
#[tokio::test]
async fn a_method_of_a_row_with_a_bad_value_fails_alone() {
    let app = app().await;
    let (it, errors) = run(
        &app,
        r#"make(status: "created")"#,
        "{ ... on MakeSuccess { id shift { name loud } } }",
    )
    .await;
    assert_eq!(
        it,
        json!({ "id": "1", "shift": { "name": "night", "loud": null } })
    );
    assert_eq!(
        errors,
        [("NOT_READ".to_owned(), json!(["it", "shift", "loud"]))]
    );
}
