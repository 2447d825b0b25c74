//! Errors of clients' patterns are told from the program's own by where they arise, on every
//! version of PostgreSQL.

use serde_json::json;
use svc::prelude::*;
use svc::scalar::{LTree, SearchVector};
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_paper")]
struct Paper {
    id: i32,
    title: String,
    meta: serde_json::Value,
    path: LTree,
    search: SearchVector,
    #[relation(from = "id", to = "id")]
    same: Many<Paper>,
}

/// Its path and its document for full text search are broken.
#[svc_type(sql_source = "v_broken_paper")]
struct BrokenPaper {
    id: i32,
    title: String,
    path: LTree,
    search: SearchVector,
}

#[svc::query]
async fn papers() -> Vec<Paper>;
#[svc::query]
async fn broken() -> Vec<BrokenPaper>;

/// Reads in a transaction of its own.
#[svc::query]
async fn in_transaction(ctx: &Context<'_>, filter: Where<Paper>) -> Result<Vec<Paper>> {
    let mut tx = ctx.db().transaction().await?;
    tx.rows(ctx.db().find::<Paper>().apply_where(filter)).await
}

#[svc::query]
async fn count(ctx: &Context<'_>, filter: Where<Paper>) -> Result<i64> {
    ctx.db().find::<Paper>().apply_where(filter).count().await
}

#[svc::mutation(function = "match_badly")]
async fn match_badly(title: String) -> Option<String>;

const SQL: &str = r#"
CREATE EXTENSION ltree;
CREATE VIEW v_paper AS
SELECT 1 AS id, 'abc' AS title, '{"k": 1, "d": "2024-01-01"}'::jsonb AS meta, 'a.b'::ltree AS path,
       to_tsvector('abc') AS search;
CREATE VIEW v_broken_paper AS
SELECT 1 AS id, jsonb_build_object('id', 1, 'title', 'abc', 'path', 'a b', 'search', 'it''s: :') AS data;
CREATE FUNCTION match_badly(title text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RETURN title ~ '('; END $$;"#;

const OTHER: &str = "the pattern or query is not valid: ";
const VALUE: &str = "a value cannot be compared: ";

/// Filters with a pattern that is not valid, and how the message begins.
const BAD: &[(&str, &str)] = &[
    (
        r#"{title: {like: "ab\\"}}"#,
        "a pattern cannot end with `\\`",
    ),
    (
        r#"{title: {ilike: "%\\"}}"#,
        "a pattern cannot end with `\\`",
    ),
    (
        r#"{title: {matches: "("}}"#,
        "the regular expression is not valid: ",
    ),
    (
        r#"{title: {imatches: "a{2,1}"}}"#,
        "the regular expression is not valid: ",
    ),
    (
        r#"{title: {matches: "[[:none:]]"}}"#,
        "the regular expression is not valid: ",
    ),
    (r#"{meta: {pathExists: "$["}}"#, OTHER),
    (
        r#"{meta: {pathExists: "$1"}}"#,
        "the path cannot have a variable",
    ),
    (
        r#"{meta: {pathExists: "$k"}}"#,
        "the path cannot have a variable",
    ),
    (
        r#"{meta: {pathExists: "$.k ? (@ == $x)"}}"#,
        "the path cannot have a variable",
    ),
    (
        r#"{meta: {pathExists: "$.k ? (@ like_regex \"(\")"}}"#,
        OTHER,
    ),
    (r#"{meta: {pathExists: "$ ? (@ == 1e1000000)"}}"#, OTHER),
    (r#"{meta: {pathExists: "$.nothing.such.method()"}}"#, OTHER),
    (r#"{meta: {pathExists: ""}}"#, OTHER),
    (r#"{path: {eq: "é.-"}}"#, VALUE),
    (r#"{path: {in: ["a.b", "ß.é"]}}"#, VALUE),
    (r#"{path: {matchesLquery: "a b"}}"#, OTHER),
    (r#"{path: {matchesLquery: "a.*{3,1}"}}"#, OTHER),
    (r#"{path: {matchesLquery: "{"}}"#, OTHER),
    (r#"{search: {matches: "a & & b"}}"#, OTHER),
    (r#"{search: {matches: "("}}"#, OTHER),
    (
        r#"{search: {matches: "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!a"}}"#,
        OTHER,
    ),
];

async fn app() -> App {
    let url = TestDatabase::shared("pattern_errors", SQL).await;
    let options = AppOptions::new()
        .database_url(url)
        .auto_camel_case(true)
        .queries(queries![papers, broken, in_transaction, count])
        .mutations(mutations![match_badly]);
    App::serve(options).await
}

#[tokio::test]
async fn an_invalid_pattern_is_bad_input() {
    let app = app().await;
    for (filter, begin) in BAD {
        for field in [
            "papers(where: {filter})",
            "inTransaction(filter: {filter})",
            "count(filter: {filter})",
        ] {
            let selection = if field.starts_with("count") {
                ""
            } else {
                " { id }"
            };
            let reply = app
                .query(&format!(
                    "{{ {}{selection} }}",
                    field.replace("{filter}", filter)
                ))
                .await;
            assert_eq!(
                reply.code(),
                "BAD_USER_INPUT",
                "{field} {filter}: {}",
                reply.text
            );
            let message = reply.json()["errors"][0]["message"]
                .as_str()
                .unwrap()
                .to_owned();
            assert!(message.starts_with(begin), "{filter}: {message}");
        }
    }
}

/// Whether PostgreSQL evaluates a pattern depends on its plan, and so on rows hidden from the
/// client.
#[tokio::test]
async fn an_invalid_pattern_is_refused_without_matching_rows() {
    let app = app().await;
    for (filter, begin) in BAD {
        for field in [
            "papers(where: {AND: [{id: {eq: 7}}, {filter}]}) { id }",
            "papers(where: {OR: [{id: {eq: 1}}, {filter}]}, limit: 1) { id }",
            "papers(where: {id: {eq: 7}, same: {none: {filter}}}) { id }",
            "papers(where: {id: {eq: 7}}) { same(where: {filter}) { id } }",
            "papers(where: {id: {eq: 7}}) { same { same(where: {filter}, limit: 1) { id } } }",
        ] {
            let reply = app
                .query(&format!("{{ {} }}", field.replace("{filter}", filter)))
                .await;
            assert!(
                reply.text.contains("BAD_USER_INPUT"),
                "{field} {filter}: {}",
                reply.text
            );
            assert!(
                reply.message().starts_with(begin),
                "{field} {filter}: {}",
                reply.text
            );
        }
        let document =
            "{ count(filter: {AND: [{id: {eq: 7}}, {filter}]}) }".replace("{filter}", filter);
        assert_eq!(
            app.query(&document).await.code(),
            "BAD_USER_INPUT",
            "{document}"
        );
    }
}

#[tokio::test]
async fn invalid_stored_values_are_internal_errors() {
    let app = app().await;
    for filter in [
        r#"{path: {matchesLquery: "a.*"}}"#,
        r#"{path: {eq: "a.b"}}"#,
    ] {
        let reply = app
            .query(&format!("{{ broken(where: {filter}) {{ id }} }}"))
            .await;
        assert_eq!(
            reply.code(),
            "INTERNAL_SERVER_ERROR",
            "{filter}: {}",
            reply.text
        );
        assert!(
            !reply.text.contains("a b") && !reply.text.contains("it's"),
            "{filter}: {}",
            reply.text
        );
    }
}

/// Filters of other rows still work.
#[tokio::test]
async fn an_invalid_stored_document_matches_no_filter() {
    let app = app().await;
    for filter in [
        r#"{search: {matches: "a & b"}}"#,
        r#"{search: {plainQuery: "a"}, title: {matches: "b"}}"#,
    ] {
        let reply = app
            .query(&format!("{{ broken(where: {filter}) {{ id }} }}"))
            .await;
        assert_eq!(
            reply.json(),
            json!({ "data": { "broken": [] } }),
            "{filter}"
        );
    }
}

#[tokio::test]
async fn an_invalid_pattern_in_a_function_is_an_internal_error() {
    let app = app().await;
    let reply = app
        .query_with(
            "mutation ($t: String!) { matchBadly(title: $t) }",
            json!({ "t": "a" }),
        )
        .await;
    assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR", "{}", reply.text);
    assert!(!reply.text.contains("parentheses"), "{}", reply.text);
}

/// A filter that takes PostgreSQL seconds or gigabytes although the request is small.
#[tokio::test]
async fn expensive_patterns_are_refused() {
    let app = app().await;
    let document = "query ($where: PaperWhere) { papers(where: $where) { id } }";
    let words = "x ".repeat(501);
    for (condition, why) in [
        (
            json!({ "search": { "websearchQuery": words } }),
            "a query of words can have at most 1000 bytes",
        ),
        (
            json!({ "search": { "plainQuery": words } }),
            "a query of words can have at most 1000 bytes",
        ),
        (
            json!({ "search": { "phraseQuery": words } }),
            "a query of words can have at most 1000 bytes",
        ),
        (
            json!({ "search": { "matches": words } }),
            "a query of words can have at most 1000 bytes",
        ),
        (
            json!({ "meta": { "pathExists": format!("$ ? (@ == {})", "7".repeat(1_000)) } }),
            "a path can have at most",
        ),
        (
            json!({ "meta": { "pathExists": "$[*] ? (exists($[*] ? (@ < 0)))" } }),
            "the path can name the root `$` once",
        ),
        (
            json!({ "meta": { "pathExists": "$.**.**.** ? (@ == 99)" } }),
            "the path can have one `**`",
        ),
        (
            json!({ "meta": { "pathExists": format!("$.keyvalue(){} ? (@ == 99)", ".keyvalue()".repeat(15)) } }),
            "`keyvalue()`",
        ),
        (
            json!({ "meta": { "pathExists": "$ /* \" */ ? (exists($ ? (@ < 0)))" } }),
            "cannot have a comment",
        ),
    ] {
        let reply = app
            .query_with(document, json!({ "where": condition }))
            .await;
        assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
        assert!(reply.message().contains(why), "{}", reply.text);
    }
    for path in [
        "$.k ? (@ == 1)",
        "$.** ? (@ == \"2024-01-01\")",
        "strict $ ? (exists(@.d ? (@ starts with \"20\")))",
    ] {
        let reply = app
            .query_with(
                document,
                json!({ "where": { "meta": { "pathExists": path } } }),
            )
            .await;
        assert_eq!(reply.data(), json!({ "papers": [{ "id": 1 }] }), "{path}");
    }
}
