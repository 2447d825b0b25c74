//! `char(n)`, whose values have blanks at the end.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_label")]
struct Label {
    id: i32,
    code: Option<String>,
    key: Option<ID>,
    codes: Option<Vec<String>>,
    flags: Option<String>,
}

#[svc::query]
async fn labels() -> Vec<Label>;
#[svc::query]
async fn by_code(code: String) -> Vec<Label>;
#[svc::query]
async fn pages() -> Connection<Label>;
#[svc::query]
async fn totals() -> Aggregate<Label>;
/// A column that is not a field.
#[svc::query]
async fn flagged(ctx: &Context<'_>, flags: String) -> Result<Find<Label>> {
    Ok(ctx.db().find::<Label>().filter(col("raw_flags").eq(flags)))
}

async fn app() -> App {
    let url = TestDatabase::shared(
        "padded_texts",
        "CREATE TABLE tb_label (id int, code char(4), key character(3), codes char(3)[], flags bit(4), raw_flags bit(4));
         INSERT INTO tb_label VALUES (1, 'ab', 'k', '{abc,d}', '0101', '0101'), (2, 'abcd', 'kk', '{abd}', '0100', '0100'),
           (3, null, null, null, null, null);
         CREATE VIEW v_label AS SELECT * FROM tb_label",
    );
    let options = AppOptions::new()
        .database_url(url.await)
        .auto_camel_case(true);
    App::serve(options.queries(queries![labels, by_code, pages, totals, flagged])).await
}

async fn ids(app: &App, condition: &str) -> Value {
    let reply = app
        .query(&format!(
            "{{ labels(where: {{{condition}}}, orderBy: [{{id: ASC}}]) {{ id }} }}"
        ))
        .await;
    reply.data()["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].clone())
        .collect()
}

#[tokio::test]
async fn a_returned_padded_value_finds_its_row() {
    let app = app().await;
    let row = app
        .query("{ labels(where: {id: {eq: 1}}) { code key codes flags } }")
        .await
        .data()["labels"][0]
        .clone();
    assert_eq!(
        row,
        json!({ "code": "ab  ", "key": "k  ", "codes": ["abc", "d  "], "flags": "0101" })
    );
    for (condition, expected) in [
        (r#"code: {eq: "ab  "}"#, json!([1])),
        (r#"code: {eq: "abc"}"#, json!([])),
        (r#"code: {neq: "ab  "}"#, json!([2, 3])),
        (r#"code: {in: ["ab  ", "abcd"]}"#, json!([1, 2])),
        (r#"code: {nin: ["ab  "]}"#, json!([2, 3])),
        (r#"code: {startswith: "ab"}"#, json!([1, 2])),
        (r#"code: {endswith: "b  "}"#, json!([1])),
        (r#"key: {eq: "k  "}"#, json!([1])),
        (r#"codes: {contains: ["abc"]}"#, json!([1])),
        (r#"codes: {contains: ["abd"]}"#, json!([2])),
        (r#"codes: {overlaps: ["abx", "d  "]}"#, json!([1])),
        (r#"flags: {eq: "0101"}"#, json!([1])),
    ] {
        assert_eq!(ids(&app, condition).await, expected, "{condition}");
    }
    let declared = app
        .query(r#"{ byCode(code: "ab  ") { id } flagged(flags: "0100") { id } }"#)
        .await;
    assert_eq!(
        declared.data(),
        json!({ "byCode": [{ "id": 1 }], "flagged": [{ "id": 2 }] })
    );
}

#[tokio::test]
async fn groups_and_aggregates_keep_the_padding() {
    let app = app().await;
    let document = "{ totals { min { code } max { code } groups(by: [CODE], orderBy: [{key: {code: ASC}}]) { key { code } max { code } } } }";
    let group = |code: Option<&str>| json!({ "key": { "code": code }, "max": { "code": code } });
    let groups = json!([group(Some("ab  ")), group(Some("abcd")), group(None)]);
    let expected =
        json!({ "min": { "code": "ab  " }, "max": { "code": "abcd" }, "groups": groups });
    assert_eq!(app.query(document).await.data()["totals"], expected);
}

#[tokio::test]
async fn pages_ordered_by_a_padded_column_have_all_rows() {
    let app = app().await;
    let mut after = String::new();
    for id in [1, 2, 3] {
        let query = format!(
            "{{ pages(first: 1, orderBy: [{{code: ASC}}]{after}) {{ nodes {{ id }} pageInfo {{ endCursor }} }} }}"
        );
        let page = app.query(&query).await.data()["pages"].clone();
        assert_eq!(page["nodes"], json!([{ "id": id }]));
        after = format!(", after: {}", page["pageInfo"]["endCursor"]);
    }
}
