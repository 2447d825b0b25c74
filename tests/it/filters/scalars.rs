//! Operators of single scalars: what the schema names them, and what is an error.

use serde_json::json;
use svc::async_graphql::Value;
use svc::prelude::*;
use svc::scalar::{Cidr, DateRange, Duration, Inet, LTree, MacAddress, SearchVector};
use svc_tests::{App, TestDatabase};

/// A grade, of which `A1` is the best.
struct Grade(String);

#[svc_scalar(sql_type = "grade")]
impl ScalarType for Grade {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) => Ok(Self(text)),
            other => Err(InputValueError::expected_type(other)),
        }
    }
    fn to_value(&self) -> Value {
        Value::from(self.0.as_str())
    }
}

/// Meters, which compare as numbers.
struct Meters(f64);

#[svc_scalar(sql_type = "numeric")]
impl ScalarType for Meters {
    fn parse(value: Value) -> InputValueResult<Self> {
        match &value {
            Value::Number(number) => number
                .as_f64()
                .map(Self)
                .ok_or_else(|| InputValueError::expected_type(value)),
            _ => Err(InputValueError::expected_type(value)),
        }
    }
    fn to_value(&self) -> Value {
        svc::async_graphql::Number::from_f64(self.0).map_or(Value::Null, Value::Number)
    }
}

macro_rules! node {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            host: Inet,
            net: Cidr,
            mac: MacAddress,
            path: LTree,
            stay: DateRange,
            wait: Duration,
            grade: Grade,
            depth: Meters,
            search: SearchVector,
        }
    };
}

node!(ColumnNode, "v_node_columns");
node!(DataNode, "v_node_data");

#[svc::query]
async fn columns() -> Vec<ColumnNode>;
#[svc::query]
async fn data() -> Vec<DataNode>;

const TABLE: &str = "
CREATE TYPE grade AS ENUM ('A1', 'A2', 'B1');
CREATE TABLE tb_node (id int, host text, net text, mac macaddr, path text, stay text, wait text, grade text, depth int,
                      search tsvector);
INSERT INTO tb_node VALUES
  (1, '10.0.0.1/32', '10.0.0.0/8', '08:00:2b:01:02:03', 'Top', '[2024-01-01,2024-01-31]', '1 mon', 'A1', 9, 'cat'),
  (2, '::1', 'fd00::/8', '08:00:2b:01:02:04', 'Top.Science', '(,2024-01-01)', 'PT36H', 'B1', 10, 'dog'),
  (3, '127.8.8.8', '127.0.0.0/8', '08:00:2b:01:02:05', '', 'empty', '24:00:00', 'A2', 100, '');
CREATE VIEW v_node_columns AS SELECT * FROM tb_node;
CREATE VIEW v_node_data AS SELECT to_jsonb(n) AS data FROM tb_node AS n;";

async fn app(before: &str) -> App {
    let database = TestDatabase::new(&format!("{before}; {TABLE}")).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    App::serve(options.queries(queries![columns, data])).await
}

#[tokio::test]
async fn scalars_stored_as_text_compare_by_their_type() {
    let app = app("CREATE EXTENSION ltree").await;
    for (arguments, ids) in [
        (r#"where: {host: {eq: "10.0.0.1"}}"#, "1"),
        (r#"where: {host: {eq: "0:0:0:0:0:0:0:1"}}"#, "2"),
        ("where: {host: {isLoopback: true}}", "23"),
        ("where: {net: {isLoopback: true}}", "3"),
        ("where: {net: {isPrivate: true}}", "12"),
        (
            r#"where: {net: {inRange: {from: "10.0.0.0", to: "10.255.255.255"}}}"#,
            "1",
        ),
        (
            r#"where: {net: {inRange: {from: "10.0.0.0", to: "10.255.255.254"}}}"#,
            "",
        ),
        (
            r#"where: {net: {inRange: {from: "10.0.0.0/8", to: "127.0.0.0/8"}}}"#,
            "13",
        ),
        (r#"where: {mac: {eq: "0800.2B01.0204"}}"#, "2"),
        (r#"where: {path: {ancestorOf: "Top.Science.Stars"}}"#, "123"),
        (r#"where: {path: {descendantOf: "Top"}}"#, "12"),
        (r#"where: {path: {matchesLquery: "Top.*{1,}"}}"#, "2"),
        ("where: {path: {nlevelGte: 1, nlevelLte: 1}}", "1"),
        ("where: {path: {nlevelEq: 0}}", "3"),
        (r#"where: {stay: {containsDate: "2024-01-31"}}"#, "1"),
        (
            r#"where: {stay: {adjacent: "[2024-01-01,2024-01-31]"}}"#,
            "2",
        ),
        (r#"where: {wait: {eq: "P1D"}}"#, "3"),
        (r#"where: {wait: {gt: "P1D"}}"#, "12"),
        (
            r#"where: {wait: {lt: "P1M"}}, orderBy: [{wait: DESC}]"#,
            "23",
        ),
        (
            r#"where: {grade: {neq: "A1"}}, orderBy: [{grade: ASC}]"#,
            "32",
        ),
        ("where: {depth: {gt: 9}}", "23"),
        ("where: {depth: {gt: 9.5}}", "23"),
        ("orderBy: [{depth: DESC}]", "321"),
    ] {
        for root in ["columns", "data"] {
            let reply = app
                .query(&format!("{{ {root}({arguments}) {{ id }} }}"))
                .await;
            let found: String = reply.data()[root]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].to_string())
                .collect();
            assert_eq!(found, ids, "{root}: {arguments}");
        }
    }
}

#[tokio::test]
async fn a_missing_extension_is_named() {
    let app = app("").await;
    for condition in [
        r#"eq: "Top""#,
        r#"descendantOf: "Top""#,
        r#"matchesLquery: "*""#,
        "nlevelEq: 1",
    ] {
        for root in ["columns", "data"] {
            let reply = app
                .query(&format!(
                    "{{ {root}(where: {{path: {{{condition}}}}}) {{ id }} }}"
                ))
                .await;
            assert_eq!(
                reply.code(),
                "SERVICE_UNAVAILABLE",
                "{root}: {condition}: {}",
                reply.text
            );
            assert!(
                reply.message().contains("no extension `ltree`"),
                "{}",
                reply.message()
            );
        }
    }
    let rest = app
        .query(r#"{ columns(where: {host: {eq: "::1"}}) { id path } }"#)
        .await;
    assert_eq!(
        rest.data()["columns"],
        json!([{ "id": 2, "path": "Top.Science" }])
    );
}

#[tokio::test]
async fn an_incomparable_value_is_bad_input() {
    let app = app("CREATE EXTENSION ltree").await;
    for (condition, part) in [
        (
            r#"host: {inRange: {from: "10.0.0.1", to: "::1"}}"#,
            "must both be IPv4, or both IPv6",
        ),
        (
            r#"mac: {eq: "08:00:2b:ff:fe:01:02:03"}"#,
            "`mac` cannot be compared with \"08:00:2b:ff:fe:01:02:03\"",
        ),
        (
            r##"path: {matchesLquery: "#"}"##,
            "the pattern or query is not valid: lquery syntax error",
        ),
        (r#"path: {matchesLquery: "a.*{9999999}"}"#, "lquery"),
    ] {
        let reply = app
            .query(&format!("{{ columns(where: {{{condition}}}) {{ id }} }}"))
            .await;
        assert_eq!(
            reply.code(),
            "BAD_USER_INPUT",
            "{condition}: {}",
            reply.text
        );
        assert!(
            reply.message().contains(part),
            "{condition}: {}",
            reply.message()
        );
    }
}

#[tokio::test]
async fn the_schema_has_the_operators_of_each_type() {
    let sdl = AppOptions::new()
        .auto_camel_case(true)
        .queries(queries![columns])
        .sdl()
        .unwrap();
    for (name, operators) in [
        (
            "InetFilter",
            "eq neq in nin isnull inSubnet inRange isPrivate isIPv4 isIPv6 isLoopback",
        ),
        ("InetRange", "from to"),
        (
            "CidrFilter",
            "eq neq in nin isnull inSubnet inRange isPrivate isIPv4 isIPv6 isLoopback",
        ),
        ("MacAddressFilter", "eq neq in nin isnull"),
        (
            "LTreeFilter",
            "eq neq in nin isnull ancestorOf descendantOf matchesLquery nlevelEq nlevelGte nlevelLte",
        ),
        (
            "DateRangeFilter",
            "eq neq isnull containsDate overlaps adjacent strictlyLeft strictlyRight",
        ),
        (
            "SearchVectorFilter",
            "isnull matches plainQuery phraseQuery websearchQuery",
        ),
        (
            "SearchVectorOrderBy",
            "matches plainQuery phraseQuery websearchQuery direction",
        ),
        ("DurationFilter", "eq neq gt gte lt lte in nin isnull"),
        ("MetersFilter", "eq neq gt gte lt lte in nin isnull"),
        ("GradeFilter", "eq neq in nin isnull"),
    ] {
        let body = sdl
            .split_once(&format!("input {name} {{\n"))
            .unwrap()
            .1
            .split_once("\n}")
            .unwrap()
            .0;
        let fields = body.lines().filter_map(|line| {
            line.strip_prefix("  ")
                .filter(|line| !line.starts_with('"'))
        });
        let fields: Vec<&str> = fields
            .filter_map(|line| Some(line.split_once(':')?.0))
            .collect();
        assert_eq!(fields.join(" "), operators, "{name}");
    }
    assert!(sdl.contains("containsDate: Date\n"), "{sdl}");
    assert!(
        sdl.contains("direction: OrderDirection = DESC_NULLS_LAST\n"),
        "{sdl}"
    );
}
