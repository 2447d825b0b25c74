//! SQL answers an operation as its fields would.

use serde_json::{Value, json};
use svc::{Operation, SvcConfig};
use svc_tests::Log;

use super::schema::{box_id, store, store_with};

const CARD: &str = "query Card($id: UUID!, $most: Int! = 2) {
    box: crate(id: $id) {
        __typename title: label color size { depth w: width } tags
        few: things(limit: $most, orderBy: [{id: DESC}]) { id name holder { ident: label } }
        things { __typename id }
    }
    name: __typename
    boxes: crates(where: {color: {eq: RED}}) { id color }
}";

const CARD_SQL: &str = r#"
SELECT (SELECT b.data || jsonb_build_object(
           'few', (SELECT coalesce(jsonb_agg(t.*), '[]') FROM
               (SELECT t.id, t.name, jsonb_build_object('identifier', b.identifier) AS holder
                FROM v_thing t WHERE t.box_id = b.id ORDER BY t.id DESC LIMIT $2) AS t),
           'things', (SELECT json_agg(t ORDER BY t.id) FROM v_thing t WHERE t.box_id = b.id))
        FROM v_box b WHERE b.id = $1) AS box,
       (SELECT json_agg(data ORDER BY id) FROM v_box WHERE data->>'color' = 'r') AS "boxes"
"#;

/// The same bytes as without SQL, and one statement in place of one for each root field.
#[tokio::test]
async fn sql_gives_the_same_bytes_as_ordinary_execution() {
    let store = store([Operation::new(CARD).sql(CARD_SQL)]).await;
    // A comment makes it another document.
    let ordinary = format!("{CARD} # the ordinary way");
    for (n, most) in [(1, 0), (1, 2), (2, 1), (2, 50)] {
        let variables = json!({ "id": box_id(n), "most": most });
        let expected = store.app.query_with(&ordinary, variables.clone()).await;
        assert!(
            expected.data()["box"]["title"].is_string(),
            "{}",
            expected.text
        );
        let answer = store.by_id("Card", variables).await;
        assert_eq!(answer.text, expected.text);
    }
    let missing = json!({ "id": "00000000-0000-0000-0000-000000000000" });
    let expected = store.app.query_with(&ordinary, missing.clone()).await;
    assert_eq!(expected.data()["box"], Value::Null);
    assert_eq!(store.by_id("Card", missing).await.text, expected.text);
    assert_eq!(store.database.statements("AS box,").await, 5);
}

#[tokio::test]
async fn aggregates_and_scalars_are_answered() {
    let store = store([
        Operation::new("query Totals { totals { count n: count groups(by: [NAME]) { count key { boxId: name } } } }").sql(
            r#"SELECT jsonb_build_object('count', 3, 'n', 4, 'groups',
                jsonb_build_array(jsonb_build_object('count', 5, 'key', '{"name": "x"}'::jsonb))) AS totals"#,
        ),
        Operation::new("query Plain { resolved required optional again: optional }")
            .sql(r#"SELECT '"x"'::json AS again, to_jsonb(7) AS resolved, to_jsonb('a"b'::text) AS required, NULL::json AS optional"#),
    ])
    .await;
    let totals = store.by_id("Totals", json!({})).await;
    assert_eq!(
        totals.text,
        r#"{"data":{"totals":{"count":3,"n":4,"groups":[{"count":5,"key":{"boxId":"x"}}]}}}"#
    );
    let plain = store.by_id("Plain", json!({})).await;
    assert_eq!(
        plain.text,
        r#"{"data":{"resolved":7,"required":"a\"b","optional":null,"again":"x"}}"#
    );
    assert_eq!(store.runs.get(), 0);
}

/// A column is ignored whose field is left out, and a statement does not run for nothing.
#[tokio::test]
async fn skip_and_include_select_the_columns() {
    let document = "query Some($a: Boolean!, $b: Boolean!) { resolved @include(if: $a) optional @skip(if: $b) name: __typename }";
    let store = store([Operation::new(document)
        .sql(r#"SELECT to_jsonb(nextval('runs')) AS resolved, '"x"'::jsonb AS optional"#)])
    .await;
    for (a, b, expected) in [
        (
            true,
            false,
            r#"{"data":{"resolved":1,"optional":"x","name":"Query"}}"#,
        ),
        (false, false, r#"{"data":{"optional":"x","name":"Query"}}"#),
        (false, true, r#"{"data":{"name":"Query"}}"#),
        (true, true, r#"{"data":{"resolved":3,"name":"Query"}}"#),
    ] {
        assert_eq!(
            store.by_id("Some", json!({ "a": a, "b": b })).await.text,
            expected
        );
    }
}

#[tokio::test]
async fn values_that_break_their_type_are_errors_with_paths() {
    let store = store([
        Operation::new("query Broken { crates { label color size { width depth } } }").sql(
            r#"SELECT '[{"identifier": "a", "color": "r", "size": {"width": 1}}, {"identifier": "b", "color": "RED"}]'::jsonb AS crates"#,
        ),
        Operation::new(format!("query Null {{ crate(id: \"{}\") {{ label size {{ width }} }} }}", box_id(1)))
            .sql(r#"SELECT '{"identifier": null, "size": {"width": 3000000000}}'::jsonb AS crate"#),
        Operation::new("query Shape { crates { label } resolved }").sql(r#"SELECT '{}'::jsonb AS crates, '1'::json AS resolved"#),
    ])
    .await;
    let broken = store.by_id("Broken", json!({})).await.json();
    assert_eq!(broken["data"], Value::Null);
    assert_eq!(broken["errors"][0]["path"], json!(["crates", 1, "color"]));
    assert_eq!(
        broken["errors"][0]["message"],
        "the value is not one of its enum"
    );
    let null = store.by_id("Null", json!({})).await.json();
    assert_eq!(null["data"], json!({ "crate": null }));
    assert_eq!(null["errors"][0]["path"], json!(["crate", "label"]));
    assert_eq!(
        null["errors"][0]["message"],
        "Cannot return null for non-nullable field Crate.label."
    );
    let shape = store.by_id("Shape", json!({})).await.json();
    assert_eq!(
        (&shape["data"], &shape["errors"][0]["message"]),
        (&Value::Null, &json!("expected a list"))
    );
}

/// Mistakes in SQL are found when the database is reached, and masked where a client meets them.
#[tokio::test]
async fn mistakes_in_sql_go_to_the_log() {
    let log = Log::start();
    let operation = |name: &str, sql: &'static str| {
        Operation::new(format!("query {name} {{ optional }}")).sql(sql)
    };
    let store = store([
        operation("Syntax", "SELEC 1"),
        operation("Table", "SELECT to_jsonb(x) AS optional FROM tb_nowhere"),
        operation("Column", "SELECT to_jsonb(nothing) AS optional FROM tb_box"),
        operation("Missing", "SELECT to_jsonb(1) AS other"),
        operation("Type", "SELECT 'text'::text AS optional"),
        operation("Rows", "SELECT to_jsonb('x'::text) AS optional FROM tb_box"),
        operation(
            "Several",
            "SELECT to_jsonb('x'::text) AS optional; SELECT 1",
        ),
        operation(
            "Nothing",
            "SELECT to_jsonb('x'::text) AS optional WHERE false",
        ),
        operation("Unnamed", "SELECT to_jsonb('x'::text)"),
    ])
    .await;
    for (name, at_start, when_asked) in [
        (
            "Syntax",
            "syntax error at or near \\\"SELEC\\\"",
            "syntax error",
        ),
        (
            "Table",
            "relation \\\"tb_nowhere\\\" does not exist",
            "relation \\\"tb_nowhere\\\" does not exist",
        ),
        (
            "Column",
            "column \\\"nothing\\\" does not exist",
            "column \\\"nothing\\\" does not exist",
        ),
        (
            "Missing",
            "its column \\\"other\\\" is not a root field of the operation",
            "gives no column \\\"optional\\\"; name it with `AS \\\"optional\\\"`",
        ),
        ("Missing", "it gives no column \\\"optional\\\"", ""),
        (
            "Type",
            "its column \\\"optional\\\" is a text, and has to be jsonb or json",
            "is a text, and has to be jsonb or json; use `to_jsonb(…)`",
        ),
        ("Rows", "", "gave 3 rows, and an answer is one row"),
        (
            "Several",
            "cannot insert multiple commands into a prepared statement",
            "cannot insert multiple commands",
        ),
        (
            "Unnamed",
            "its column \\\"to_jsonb\\\" is not a root field",
            "gives no column \\\"optional\\\"",
        ),
    ] {
        if !at_start.is_empty() {
            log.has(&format!(
                "operation=\"`query {name} {{ optional }}`\" complaint=\"{at_start}"
            ))
            .await;
        }
        let reply = store.by_id(name, json!({})).await;
        // A table that is not there may come back, so clients may try again.
        let is_away = name == "Table";
        let code = if is_away {
            "SERVICE_UNAVAILABLE"
        } else {
            "INTERNAL_SERVER_ERROR"
        };
        assert_eq!(reply.code(), code, "{name}");
        assert!(
            !reply.text.contains("tb_nowhere") && !reply.text.contains("optional\\\""),
            "{name}: {}",
            reply.text
        );
        assert_eq!(reply.json()["data"], json!({ "optional": null }), "{name}");
        if !is_away {
            assert_eq!(reply.message(), "internal server error", "{name}");
            let id = reply.json()["errors"][0]["extensions"]["errorId"].clone();
            log.has(&format!("error_id={}", id.as_str().unwrap())).await;
        }
        log.has(when_asked).await;
        log.has(&format!("the SQL of `query {name} {{ optional }}`"))
            .await;
    }
    assert_eq!(
        store.by_id("Nothing", json!({})).await.data(),
        json!({ "optional": null })
    );
    // What was missing may be made.
    store
        .database
        .execute("CREATE TABLE tb_nowhere AS SELECT 1 AS x")
        .await;
    assert_eq!(
        store.by_id("Table", json!({})).await.json()["errors"][0]["message"],
        "the value is not a valid String"
    );
}

/// Session variables are set, each request's own.
#[tokio::test]
async fn session_variables_are_set_for_each_request() {
    let sql = "SELECT to_jsonb(current_setting('app.tenant_id', true)) AS optional";
    let store = store([Operation::new("query Who { optional }").sql(sql)]).await;
    let ask = async |tenant: Option<&str>| {
        let request = store
            .app
            .request("POST", "/graphql")
            .header("content-type", "application/json");
        let request = tenant.map_or_else(
            || request.try_clone().unwrap(),
            |tenant| request.try_clone().unwrap().header("x-tenant", tenant),
        );
        store
            .app
            .send(request.body(json!({ "documentId": "Who" }).to_string()))
            .await
            .data()["optional"]
            .clone()
    };
    for tenant in [Some("a"), Some("b"), None, Some("it's"), None] {
        assert_eq!(ask(tenant).await, tenant.unwrap_or_default());
    }
}

/// Limits hold for registered operations too.
#[tokio::test]
async fn complexity_is_checked() {
    let document = "query Many($n: Int!) { crates(limit: $n) { id } }";
    let sql = "SELECT '[]'::jsonb AS crates FROM generate_series(1, least($1, 1))";
    let store = store([Operation::new(document).sql(sql)]).await;
    assert_eq!(
        store.by_id("Many", json!({ "n": 100 })).await.data(),
        json!({ "crates": [] })
    );
    assert_eq!(
        store.by_id("Many", json!({ "n": 10_000 })).await.code(),
        "QUERY_TOO_COMPLEX"
    );
}

/// As on the ordinary way: empty in development, an error in production.
#[tokio::test]
async fn an_unreachable_database_is_an_error_in_production_only() {
    let document = "query Away { crates { id } optional }";
    for environment in [svc::Environment::Development, svc::Environment::Production] {
        let config = SvcConfig {
            environment,
            ..SvcConfig::default()
        };
        let operation =
            Operation::new(document).sql("SELECT '[]'::jsonb AS crates, NULL::jsonb AS optional");
        let store = store_with(config, |options| {
            options
                .database_url("postgres://nobody@127.0.0.1:1/none")
                .operations([operation])
        })
        .await;
        let reply = store.by_id("Away", json!({})).await;
        if environment == svc::Environment::Development {
            assert_eq!(reply.data(), json!({ "crates": [], "optional": null }));
        } else {
            assert_eq!(reply.code(), "SERVICE_UNAVAILABLE");
        }
    }
}
