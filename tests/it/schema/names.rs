//! Names that are hard to convert.

#![expect(non_snake_case, reason = "such names are what is tested")]

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase, three_views};

macro_rules! named {
    ($name:ident, $source:literal, $list:ident, $one:ident) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            dns_1_id: Option<i32>,
            address_line_1: Option<String>,
            userID: Option<String>,
            _private: Option<String>,
            a__b: Option<String>,
            home_part: Option<Part>,
        }

        #[svc::query]
        async fn $list() -> Vec<$name>;
        #[svc::query]
        async fn $one(dns_1_id: i32, userID: String) -> Option<$name>;
    };
}

#[svc_type]
struct Part {
    address_line_1: Option<String>,
    a__b: Option<String>,
}

named!(ColumnName, "c_name", columns, columns_one);
named!(DataName, "d_name", data, data_one);
named!(TableName, "tv_name", table, table_one);

#[svc_input]
struct PartInput {
    address_line_1: Option<String>,
    a__b: Option<String>,
}

#[svc_input]
struct NameInput {
    id: i32,
    dns_1_id: Option<i32>,
    address_line_1: Option<String>,
    userID: Option<String>,
    _private: Option<String>,
    a__b: Option<String>,
    home_part: Option<PartInput>,
}

#[svc::mutation(function = "keys")]
async fn keys(given: NameInput) -> serde_json::Value;
#[svc::mutation(function = "keys")]
async fn back(given: NameInput) -> Option<DataName>;
#[svc::query]
fn joined(given: NameInput, dns_1_id: i32, a__b: String) -> String {
    let part = given
        .home_part
        .and_then(|part| part.address_line_1.or(part.a__b));
    format!(
        "{:?} {:?} {:?} {:?} {:?} {part:?} {dns_1_id} {a__b}",
        given.dns_1_id, given.address_line_1, given.userID, given._private, given.a__b
    )
}

const SQL: &str = r#"
CREATE TABLE tb_name (id int, dns_1_id int, address_line_1 text, "userID" text, _private text, a__b text, home_part jsonb);
INSERT INTO tb_name VALUES (1, 11, 'line', 'u', 'p', 'ab', '{"address_line_1": "x", "a__b": "y"}'), (2, 9, 'a', 'b', 'c', 'aa', NULL);
CREATE FUNCTION keys(given jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT given';
"#;

/// The fields as they are stored, their names with camelCase on, and the values of the first row.
fn ids(rows: &Value) -> String {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].to_string())
        .collect()
}

fn fields() -> [(&'static str, &'static str, Value); 5] {
    [
        ("dns_1_id", "dns1Id", json!(11)),
        ("address_line_1", "addressLine1", json!("line")),
        ("userID", "userID", json!("u")),
        ("_private", "_private", json!("p")),
        ("a__b", "a__b", json!("ab")),
    ]
}

async fn app(camel: bool) -> App {
    let database = TestDatabase::copy_of(
        "names",
        &(SQL.to_owned() + &three_views("name", "id, dns_1_id")),
    )
    .await;
    let queries = queries![
        columns,
        columns_one,
        data,
        data_one,
        table,
        table_one,
        joined
    ];
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(camel)
        .mutations(mutations![keys, back]);
    App::serve(options.queries(queries)).await
}

/// The name in the API, of a field that is stored as `stored`.
fn name(camel: bool, stored: &str) -> String {
    let known = fields()
        .into_iter()
        .map(|(stored, camel, _)| (stored, camel));
    let all = known.chain([
        ("home_part", "homePart"),
        ("order_by", "orderBy"),
        ("columns_one", "columnsOne"),
        ("data_one", "dataOne"),
        ("table_one", "tableOne"),
    ]);
    all.filter(|(known, _)| camel && *known == stored)
        .map(|(_, camel)| camel)
        .next()
        .unwrap_or(stored)
        .to_owned()
}

/// As fields, in `where` and `orderBy`, nested, and as arguments that filter.
#[tokio::test]
async fn hard_names_select_and_filter_their_values() {
    for camel in [true, false] {
        let app = app(camel).await;
        let n = |stored: &str| name(camel, stored);
        let all = fields().map(|(stored, _, _)| n(stored)).join(" ");
        let part = format!("{} {{ {} a__b }}", n("home_part"), n("address_line_1"));
        for root in ["columns", "data", "table"] {
            let mut expected =
                json!({ "id": 1, n("home_part"): { n("address_line_1"): "x", "a__b": "y" } });
            for (stored, _, value) in fields() {
                expected[n(stored)] = value;
            }
            for condition in fields()
                .map(|(stored, _, value)| format!("{}: {{eq: {value}}}", n(stored)))
                .into_iter()
                .chain([format!(
                    r#"{}: {{{}: {{eq: "x"}}, a__b: {{eq: "y"}}}}"#,
                    n("home_part"),
                    n("address_line_1")
                )])
            {
                let reply = app
                    .query(&format!(
                        "{{ {root}(where: {{{condition}}}) {{ id {all} {part} }} }}"
                    ))
                    .await;
                assert_eq!(
                    reply.data()[root],
                    json!([expected]),
                    "camelCase {camel}, {root}: {condition}"
                );
            }
            for (stored, _, _) in fields() {
                let order = n("order_by");
                let query = format!(
                    "{{ up: {root}({order}: [{{{0}: ASC}}]) {{ id }} down: {root}({order}: [{{{0}: DESC}}]) {{ id }} }}",
                    n(stored)
                );
                let data = app.query(&query).await.data();
                assert_eq!(
                    (ids(&data["up"]), ids(&data["down"])),
                    ("21".into(), "12".into()),
                    "{query}"
                );
            }
            let one = n(&format!("{root}_one"));
            let query = format!(
                r#"{{ one: {one}({}: 11, userID: "u") {{ id }} none: {one}({0}: 11, userID: "b") {{ id }} }}"#,
                n("dns_1_id")
            );
            assert_eq!(
                app.query(&query).await.data(),
                json!({ "one": { "id": 1 }, "none": null }),
                "{query}"
            );
        }
    }
}

/// Inputs reach functions with the stored names, and what functions answer comes back.
#[tokio::test]
async fn hard_names_round_trip_through_functions() {
    for camel in [true, false] {
        let app = app(camel).await;
        let n = |stored: &str| name(camel, stored);
        let (mut given, mut stored) = (json!({ "id": 1 }), json!({ "id": 1 }));
        for (name, _, value) in fields() {
            given[n(name)] = value.clone();
            stored[name] = value;
        }
        given[n("home_part")] = json!({ n("address_line_1"): "x", "a__b": "y" });
        stored["home_part"] = json!({ "address_line_1": "x", "a__b": "y" });
        let all = fields().map(|(stored, _, _)| n(stored)).join(" ");
        let query = format!(
            "mutation ($g: NameInput!) {{ keys(given: $g) back(given: $g) {{ id {all} {} {{ {} a__b }} }} }}",
            n("home_part"),
            n("address_line_1")
        );
        let data = app.query_with(&query, json!({ "g": given })).await.data();
        assert_eq!(
            (&data["keys"], &data["back"]),
            (&stored, &given),
            "camelCase {camel}"
        );
        let query = format!(
            r#"query ($g: NameInput!) {{ joined(given: $g, {}: 5, a__b: "z") }}"#,
            n("dns_1_id")
        );
        assert_eq!(
            app.query_with(&query, json!({ "g": given })).await.data()["joined"],
            r#"Some(11) Some("line") Some("u") Some("p") Some("ab") Some("x") 5 z"#
        );
    }
}

#[svc_input]
struct ClashInput {
    user_id: i32,
    userId: i32,
}
#[svc::query]
fn clash_of_inputs(input: ClashInput) -> i32 {
    input.user_id + input.userId
}
#[svc::query]
fn clash_of_arguments(user_id: i32, userId: i32) -> i32 {
    user_id + userId
}
#[svc::query]
fn one_name() -> i32 {
    1
}
#[svc::query]
fn oneName() -> i32 {
    1
}

/// Fields of types are tested among the errors of schemas; here are inputs, arguments and
/// operations.
#[test]
fn two_names_that_become_one_are_refused() {
    for queries in [
        queries![clash_of_inputs],
        queries![clash_of_arguments],
        queries![one_name, oneName],
    ] {
        let options = |camel| {
            AppOptions::new()
                .auto_camel_case(camel)
                .queries(queries.clone())
        };
        let error = options(true).sdl().unwrap_err().to_string();
        let both = ["userId", "oneName"]
            .iter()
            .any(|name| error.contains(name));
        assert!(both && error.contains("rename one"), "{error}");
        assert!(options(false).sdl().is_ok(), "as written, they differ");
    }
}
