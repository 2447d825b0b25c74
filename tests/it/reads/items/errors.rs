//! Fields that fail beside fields that do not.

use serde_json::json;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::{ColumnItem, SQL, c_one, c_rows, same};

#[svc::query]
fn number() -> i32 {
    7
}
#[svc::query]
fn refuses() -> Result<Option<i32>> {
    Err(Error::new(ErrorCode::Forbidden, "not for you"))
}
#[svc::query]
fn breaks() -> Result<Option<i32>> {
    Ok(Some("a secret".parse()?))
}
#[svc_type(sql_source = "v_absent")]
struct Absent {
    id: i32,
}
#[svc::query]
async fn absent() -> Option<Absent>;
#[svc::query]
async fn found(ctx: &Context<'_>) -> Result<Find<ColumnItem>> {
    Ok(ctx
        .db()
        .find::<ColumnItem>()
        .filter(col("id").lte(2))
        .order_by(asc("id")))
}

/// A list, one row and scalars answer, whatever kind of field fails between them.
#[tokio::test]
async fn one_failing_root_field_leaves_the_others() {
    let database = TestDatabase::copy_of("items", SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    let app = App::serve(options.queries(queries![
        number, refuses, breaks, absent, found, c_one, c_rows
    ]))
    .await;
    for (failing, code) in [
        ("refuses", "FORBIDDEN"),
        ("breaks", "INTERNAL_SERVER_ERROR"),
        ("absent { id }", "SERVICE_UNAVAILABLE"),
    ] {
        let query = format!(
            "{{ list: cRows(where: {{id: {{lte: 2}}}}, orderBy: [{{id: ASC}}]) {{ id }} a: {failing} one: cOne(id: 3) {{ id }} number b: {failing} found {{ id }} }}"
        );
        let reply = app.query(&query).await.json();
        let rows = json!([{ "id": 1 }, { "id": 2 }]);
        let expected = json!({ "list": rows, "a": null, "one": { "id": 3 }, "number": 7, "b": null, "found": rows });
        assert_eq!(reply["data"], expected, "{reply:#}");
        let mut paths: Vec<_> = reply["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["path"].clone())
            .collect();
        paths.sort_by_key(ToString::to_string);
        assert_eq!(paths, [json!(["a"]), json!(["b"])]);
        assert!(
            reply["errors"]
                .as_array()
                .unwrap()
                .iter()
                .all(|error| error["extensions"]["code"] == code),
            "{reply:#}"
        );
    }
}

/// A stored value that breaks its rule costs its own field, which the path names.
#[tokio::test]
async fn a_nullable_nested_field_fails_alone() {
    let (app, database) = super::app().await;
    let broken = r#"UPDATE tb_item SET part = '{"rank": 100, "host": "a_b"}' WHERE id = 2;
        UPDATE tv_item SET data = jsonb_set(data, '{part,host}', '"a_b"') WHERE id = 2"#;
    database.execute(broken).await;
    let query = "{ {root}Rows(where: {id: {lte: 3}}, orderBy: [{id: ASC}]) { id part { h: host rank } }
       one: {root}One(id: 5) { children(where: {id: {lte: 2}}, orderBy: [{id: ASC}]) { part { host } } } }";
    let answer = same(&app, query).await;
    assert_eq!(
        answer["data"],
        json!({
            "rows": [
                { "id": 1, "part": { "h": "a.example", "rank": 1000 } },
                { "id": 2, "part": { "h": null, "rank": 100 } },
                { "id": 3, "part": { "h": null, "rank": 10 } },
            ],
            "one": { "children": [{ "part": { "host": "a.example" } }, { "part": { "host": null } }] },
        })
    );
    let mut paths: Vec<_> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].clone())
        .collect();
    paths.sort_by_key(ToString::to_string);
    assert_eq!(
        paths,
        [
            json!(["one", "children", 1, "part", "host"]),
            json!(["rows", 1, "part", "h"])
        ]
    );
}
