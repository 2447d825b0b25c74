//! Conditions whose meaning is easily got wrong, with the rows that each finds, over the three
//! kinds of views.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::scalar::Inet;
use svc_tests::{App, TestDatabase};

#[svc_type]
struct HomeTown {
    zip_code: Option<String>,
}

#[svc_type]
struct Owner {
    id: Uuid,
    full_name: Option<String>,
    home_town: Option<HomeTown>,
}

macro_rules! note {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            title: Option<String>,
            domain: Option<String>,
            count: Option<i32>,
            price: Option<Decimal>,
            created_at: Option<DateTime<Utc>>,
            day: Option<NaiveDate>,
            done: Option<bool>,
            token: Option<Uuid>,
            host: Option<Inet>,
            meta: Option<serde_json::Value>,
            owner: Option<Owner>,
        }
    };
}

note!(ColumnNote, "v_note_columns");
note!(DataNote, "v_note_data");
note!(TableNote, "tv_note");

#[svc::query]
async fn columns() -> Vec<ColumnNote>;
#[svc::query]
async fn data() -> Vec<DataNote>;
#[svc::query]
async fn table() -> Vec<TableNote>;

const ROOTS: [(&str, &str); 3] = [
    ("columns", "ColumnNote"),
    ("data", "DataNote"),
    ("table", "TableNote"),
];

/// The fourth row has JSON null where the fifth has no keys.
const SQL: &str = r#"
CREATE EXTENSION ltree;
CREATE TABLE tb_raw (data jsonb);
INSERT INTO tb_raw VALUES
  ('{"id": 1, "title": "100% a_b", "domain": "printer.local", "count": 9, "price": 19.9, "created_at": "2024-01-01T00:00:00Z",
     "day": "2024-01-01", "done": true, "token": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "host": "10.0.0.1", "meta": {"k": 1},
     "owner": {"id": "00000000-0000-0000-0000-0000000000AA", "full_name": "Ada", "home_town": {"zip_code": "8000"}}}'),
  ('{"id": 2, "title": "100 aXb", "domain": "printer", "count": 10, "price": "19.90", "created_at": "2024-01-01T02:00:00+02:00",
     "day": "2023-12-31", "done": false, "token": "00000000-0000-0000-0000-000000000002", "host": "2001:DB8:0:0::1",
     "meta": [], "owner": {"id": "00000000-0000-0000-0000-0000000000bb", "full_name": "Bo", "home_town": {"zip_code": "3000"}}}'),
  ('{"id": 3, "title": "it''s \\ {0} %s %r $1", "domain": "PRINTER.local", "count": 100, "price": 3,
     "created_at": "2023-12-31T23:59:59Z", "day": "2024-01-02", "done": true, "token": "00000000-0000-0000-0000-000000000003",
     "host": "172.32.0.1/32", "meta": "k", "owner": {"id": "00000000-0000-0000-0000-0000000000aa", "full_name": "Ada"}}'),
  ('{"id": 4, "title": null, "domain": null, "count": null, "price": null, "created_at": null, "day": null, "done": null,
     "token": null, "host": null, "meta": null, "owner": null}'),
  ('{"id": 5}');
CREATE VIEW v_note_data AS SELECT data FROM tb_raw;
CREATE VIEW v_note_columns AS
SELECT x.*, data -> 'meta' AS meta, (x.owner ->> 'id')::uuid AS owner_id
FROM tb_raw, jsonb_to_record(data) AS x (
  id int, title text, domain text, count int, price numeric, created_at timestamptz, day date, done boolean, token uuid,
  host inet, owner jsonb);
CREATE TABLE tv_note AS SELECT id, title, data FROM v_note_columns JOIN tb_raw ON (data ->> 'id')::int = id;
"#;

async fn app() -> (App, TestDatabase) {
    let database = TestDatabase::copy_of("conditions", SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    (
        App::serve(options.queries(queries![columns, data, table])).await,
        database,
    )
}

/// The ids that a condition finds, on whichever view.
async fn ids(app: &App, condition: &str) -> String {
    let rows = app
        .same(&format!("(where: {{{condition}}})"), "{ id }")
        .await;
    rows.as_array()
        .unwrap_or_else(|| panic!("{condition}: {rows}"))
        .iter()
        .map(|row| row["id"].to_string())
        .collect()
}

/// A condition, and the rows that it finds.
const FOUND: &[(&str, &str)] = &[
    (r#"owner: {fullName: {eq: "Ada"}}"#, "13"),
    (r#"owner: {homeTown: {zipCode: {eq: "3000"}}}"#, "2"),
    (r#"owner: {fullName: {eq: "Ada"}}, count: {gt: 9}"#, "3"),
    (
        r#"owner: {homeTown: {zipCode: {startswith: "8"}}, fullName: {eq: "Bo"}}"#,
        "",
    ),
    (
        r#"owner: {fullName: {eq: "Ada"}}, done: {eq: true}, count: {lt: 10}"#,
        "1",
    ),
    (
        "OR: [{count: {eq: 9}}, {count: {eq: 10}}], done: {eq: true}",
        "1",
    ),
    (
        "done: {eq: true}, OR: [{count: {eq: 9}}, {count: {eq: 10}}]",
        "1",
    ),
    (
        "OR: [{AND: [{count: {gt: 9}}, {done: {eq: true}}]}, {NOT: {done: {isnull: false}}}]",
        "345",
    ),
    ("NOT: {OR: [{count: {eq: 9}}, {done: {eq: false}}]}", "345"),
    ("NOT: {AND: [{done: {eq: true}}, {count: {eq: 9}}]}", "2345"),
    ("title: {eq: null}", "45"),
    ("title: {neq: null}", "123"),
    ("count: {eq: null}", "45"),
    ("meta: {eq: null}", "45"),
    ("title: {in: []}", ""),
    ("title: {nin: []}", "12345"),
    ("count: {in: []}", ""),
    ("token: {nin: []}", "12345"),
    ("host: {in: []}", ""),
    (r#"domain: {neq: "printer"}"#, "1345"),
    (r#"domain: {nin: ["printer", "printer.local"]}"#, "345"),
    ("count: {neq: 9}", "2345"),
    ("done: {neq: true}", "245"),
    (r#"owner: {fullName: {neq: "Ada"}}"#, "245"),
    ("meta: {neq: []}", "1345"),
    (r#"title: {contains: "100%"}"#, "1"),
    (r#"title: {contains: "a_b"}"#, "1"),
    (r#"title: {contains: "\\"}"#, "3"),
    (r#"title: {startswith: "1__"}"#, ""),
    (r#"title: {icontains: "A_B"}"#, "1"),
    (r#"title: {endswith: "%"}"#, ""),
    ("title: {isnull: true}", "45"),
    ("meta: {isnull: true}", "45"),
    ("meta: {isnull: false}", "123"),
    ("owner: {fullName: {isnull: true}}", "45"),
    ("owner: {homeTown: {zipCode: {isnull: true}}}", "345"),
    (r#"meta: {pathExists: "$"}"#, "123"),
    ("count: {gt: 9}", "23"),
    ("count: {gte: 9, lt: 100}", "12"),
    (r#"price: {in: ["19.9"]}"#, "12"),
    (r#"price: {eq: "19.9"}"#, "12"),
    ("price: {eq: 19.9}", "12"),
    (r#"price: {gt: "3"}"#, "12"),
    (r#"createdAt: {eq: "2024-01-01T00:00:00Z"}"#, "12"),
    (r#"createdAt: {eq: "2024-01-01T00:00:00+00:00"}"#, "12"),
    (r#"createdAt: {in: ["2024-01-01T02:00:00+02:00"]}"#, "12"),
    (r#"createdAt: {lt: "2024-01-01T01:00:00+01:00"}"#, "3"),
    (r#"day: {eq: "2024-01-01"}"#, "1"),
    (r#"day: {gt: "2023-12-31"}"#, "13"),
    ("done: {eq: true}", "13"),
    ("done: {eq: false}", "2"),
    (
        r#"token: {eq: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}"#,
        "1",
    ),
    (
        r#"token: {eq: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}"#,
        "1",
    ),
    (
        r#"token: {in: ["6Ba7B810-9DAD-11D1-80B4-00C04FD430C8"]}"#,
        "1",
    ),
    (r#"host: {eq: "10.0.0.1"}"#, "1"),
    (r#"host: {eq: "10.0.0.1/32"}"#, "1"),
    (r#"host: {eq: "172.32.0.1"}"#, "3"),
    (r#"host: {eq: "10.0.0.1/8"}"#, ""),
    (r#"host: {eq: "2001:db8::1"}"#, "2"),
    (
        r#"host: {in: ["2001:0db8:0000:0000:0000:0000:0000:0001"]}"#,
        "2",
    ),
    ("host: {isPrivate: true}", "1"),
    ("host: {isPrivate: false}", "23"),
    ("host: {isIPv6: true}", "2"),
    ("host: {isIPv4: true, isLoopback: false}", "13"),
    (r#"host: {inSubnet: "172.16.0.0/10"}"#, "3"),
    (
        r#"host: {inRange: {from: "10.0.0.1", to: "172.32.0.0"}}"#,
        "1",
    ),
    (r#"domain: {eq: "printer.local"}"#, "1"),
    (r#"domain: {in: ["printer.local"]}"#, "1"),
    (r#"domain: {neq: "printer.local"}"#, "2345"),
    (r#"domain: {startswith: "printer."}"#, "1"),
    (r#"domain: {iendswith: ".LOCAL"}"#, "13"),
    (
        r#"owner: {id: {eq: "00000000-0000-0000-0000-0000000000aa"}}"#,
        "13",
    ),
    (
        r#"owner: {id: {neq: "00000000-0000-0000-0000-0000000000AA"}}"#,
        "245",
    ),
    ("owner: {id: {isnull: true}}", "45"),
    (
        r#"owner: {id: {in: ["00000000-0000-0000-0000-0000000000bb"]}, fullName: {eq: "Bo"}}"#,
        "2",
    ),
    (r#"title: {contains: "%r"}"#, "3"),
    (r#"title: {contains: "%s"}"#, "3"),
    (r#"title: {contains: "{0}"}"#, "3"),
    (r#"title: {contains: "'"}"#, "3"),
    (r#"title: {contains: "$1"}"#, "3"),
    (r#"title: {eq: "' OR true --"}"#, ""),
];

#[tokio::test]
async fn filters_match_the_expected_rows() {
    let (app, _) = app().await;
    for (condition, expected) in FOUND {
        assert_eq!(ids(&app, condition).await, *expected, "{condition}");
    }
}

/// The argument `where` as a variable, and the code of its refusal.
fn refused() -> Vec<(Value, &'static str)> {
    const VARIABLE: &str = "BAD_USER_INPUT";
    vec![
        (json!({ "title": null }), VARIABLE),
        (json!({ "OR": null }), VARIABLE),
        (json!({ "token": { "eq": "not-a-uuid" } }), VARIABLE),
        (json!({ "token": { "in": ["6ba7b810"] } }), VARIABLE),
        (json!({ "host": { "eq": "10.0.0.256" } }), VARIABLE),
        (
            json!({ "host": { "inRange": { "from": "10.0.0.1" } } }),
            VARIABLE,
        ),
        (
            json!({ "host": { "inRange": { "from": "10.0.0.1", "to": "::1" } } }),
            VARIABLE,
        ),
        (json!({ "nope": { "eq": 1 } }), VARIABLE),
        (json!({ "title": { "nope": "x" } }), VARIABLE),
        (json!({ "title": { "gt": "x" } }), VARIABLE),
        (json!({ "count": { "eq": "9" } }), VARIABLE),
        (json!({ "count": { "contains": "9" } }), VARIABLE),
        (json!({ "done": { "eq": "true" } }), VARIABLE),
        (json!({ "owner": { "nope": { "eq": 1 } } }), VARIABLE),
        (json!({ "owner": { "eq": "x" } }), VARIABLE),
        (json!({ "full_name": { "eq": "x" } }), VARIABLE),
        (json!({ "title": "x" }), VARIABLE),
        (json!({ "title": { "contains": "\u{0}" } }), VARIABLE),
        (json!({ "title": { "matches": "(" } }), VARIABLE),
        (json!({ "title": { "like": "\\" } }), VARIABLE),
        (json!({ "meta": { "pathExists": "$$" } }), VARIABLE),
        (
            json!({ "meta": { "contains": { "a": "\u{0}" } } }),
            VARIABLE,
        ),
        (json!({ "title\" = '' OR true --": { "eq": 1 } }), VARIABLE),
        (json!({ "title": { "eq\" --": 1 } }), VARIABLE),
    ]
}

#[tokio::test]
async fn invalid_filters_are_refused_with_their_code() {
    let (app, _) = app().await;
    for (filter, code) in refused() {
        for (root, row) in ROOTS {
            let query = format!("query ($w: {row}Where) {{ {root}(where: $w) {{ id }} }}");
            let reply = app.query_with(&query, json!({ "w": filter })).await;
            assert_eq!(reply.code(), code, "{root}: {filter}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_malformed_uuid_never_reaches_the_database() {
    let (app, database) = app().await;
    let reply = app
        .query(r#"{ columns(where: {token: {eq: "zzz"}}) { id } }"#)
        .await;
    assert_eq!(reply.code(), "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(reply.message(), "`UUID`: expected a UUID, found \"zzz\"");
    assert_eq!(database.statements("FROM \"v_note_columns\"").await, 0);
}

#[tokio::test]
async fn the_id_of_an_embedded_object_uses_its_column_if_present() {
    let (app, database) = app().await;
    let filter = r#"where: {owner: {id: {eq: "00000000-0000-0000-0000-0000000000aa"}}}"#;
    for (root, _) in ROOTS {
        let reply = app
            .query(&format!(
                "{{ {root}({filter}, orderBy: [{{owner: {{id: ASC}}}}]) {{ id }} }}"
            ))
            .await;
        assert_eq!(
            reply.data()[root],
            json!([{ "id": 1 }, { "id": 3 }]),
            "{root}"
        );
    }
    for (source, condition) in [
        (
            "v_note_columns",
            r#"t."owner_id" = $1::uuid)))) ORDER BY t."owner_id", t."id""#,
        ),
        (
            "v_note_data",
            r#"(((t.data->$4)->$5) #>> $6)::uuid = $1::uuid"#,
        ),
        ("tv_note", r#"(((t.data->$3)->$4) #>> $5)::uuid = $1::uuid"#),
    ] {
        let text = database.texts(source).await.join("\n");
        assert!(text.contains(condition), "no `{condition}` in {text}");
    }
}

#[tokio::test]
async fn names_sent_by_clients_never_reach_sql() {
    let (app, database) = app().await;
    for query in [
        "{ columns(where: {zzz_name: {eq: 1}}) { id } }",
        "{ columns(where: {title: {zzz_name: 1}}) { id } }",
        "{ columns(where: {owner: {zzz_name: {eq: 1}}}) { id } }",
        "{ columns(orderBy: [{zzz_name: ASC}]) { id } }",
        "{ columns(orderBy: [{title: zzz_name}]) { id } }",
        "{ columns { zzz_name } }",
    ] {
        assert_eq!(
            app.query(query).await.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{query}"
        );
    }
    app.query(
        "query zzz_name($zzz_name: Int) { zzz_name: columns(limit: $zzz_name) { zzz_name: id } }",
    )
    .await
    .data();
    assert_eq!(database.statements("zzz_name").await, 0);
    assert_eq!(database.statements("FROM \"v_note_columns\"").await, 1);
}
