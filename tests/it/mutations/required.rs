//! Columns that take no null and get no value: the error names the field.

use serde_json::{Value, json};
use svc::Constraint;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_upd")]
struct Upd {
    id: i32,
}

#[svc_input]
struct LineInput {
    text: Option<String>,
}

#[svc_input]
struct UpdInput {
    id: Option<i32>,
    body: Option<String>,
    sent_by: Option<i32>,
    told: Option<String>,
    #[svc(rows = "tb_line", column = "upd_id", of = Upd)]
    lines: Option<Vec<LineInput>>,
}

#[svc_input]
struct PutUpd {
    id: i32,
    body: Option<String>,
    sent_by: Option<i32>,
}

#[svc::query]
async fn upds() -> Vec<Upd>;
#[svc::mutation(upsert = "tb_upd", conflict = "id")]
async fn put(input: PutUpd) -> Upd;
#[svc::mutation(upsert = "tb_upd", conflict = "id")]
async fn put_all(input: Vec<PutUpd>) -> Vec<Upd>;
#[svc::mutation(insert = "tb_upd")]
async fn add(input: UpdInput) -> Upd;
#[svc::mutation(update = "tb_upd")]
async fn change(id: i32, input: UpdInput) -> Upd;

const SQL: &str = "
    CREATE TABLE tb_upd (id int PRIMARY KEY, body text NOT NULL, sent_by int NOT NULL, told text NOT NULL DEFAULT '',
      unnamed text NOT NULL DEFAULT '');
    CREATE TABLE tb_line (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, upd_id int, text text NOT NULL);
    CREATE VIEW v_upd AS SELECT * FROM tb_upd;
    INSERT INTO tb_upd VALUES (1, 'hi', 7);";

#[tokio::test]
async fn a_column_without_a_value_is_named_as_its_field() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![upds])
        .mutations(mutations![put, put_all, add, change])
        .constraint(Constraint::new("tb_upd.told", "say it"));
    let app = App::serve(options).await;
    let error = async |mutation: &str| -> Value {
        app.query(&format!("mutation {{ answer: {mutation} {{ id }} }}"))
            .await
            .json()["errors"][0]
            .clone()
    };
    for (mutation, path) in [
        ("put(input: {id: 1, body: \"hi2\"})", "input.sentBy"),
        ("put(input: {id: 1, body: null, sentBy: 1})", "input.body"),
        (
            "putAll(input: [{id: 1, body: \"a\", sentBy: 1}, {id: 2, body: \"b\", sentBy: null}])",
            "input[1].sentBy",
        ),
        ("add(input: {id: 2, body: \"a\"})", "input.sentBy"),
        ("change(id: 1, input: {sentBy: null})", "input.sentBy"),
        (
            "add(input: {id: 2, body: \"a\", sentBy: 1, lines: [{text: \"a\"}, {}]})",
            "input.lines[1].text",
        ),
    ] {
        let error = error(mutation).await;
        assert_eq!(
            error["message"],
            format!("`{path}`: a value is required"),
            "{mutation}: {error}"
        );
        assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{mutation}");
        assert_eq!(
            error["extensions"]["status"], "validation:required",
            "{mutation}"
        );
        assert_eq!(
            error["extensions"]["errors"][0]["details"],
            json!({"path": path}),
            "{mutation}"
        );
    }
    assert_eq!(
        error("change(id: 1, input: {told: null})").await["message"],
        "say it"
    );
    database
        .execute("ALTER TABLE tb_upd ALTER unnamed DROP DEFAULT")
        .await;
    let masked = error("add(input: {id: 2, body: \"a\", sentBy: 1})").await;
    assert_eq!(masked["extensions"]["code"], "BAD_USER_INPUT", "{masked}");
    assert!(
        !masked.to_string().contains("unnamed"),
        "a column without a field is not named: {masked}"
    );
}
