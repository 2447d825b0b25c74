//! Full text search: queries in PostgreSQL's four languages, and orders by rank.

use serde_json::json;
use svc::prelude::*;
use svc::scalar::SearchVector;
use svc_tests::{App, TestDatabase};

macro_rules! page {
    ($name:ident, $source:literal) => {
        #[svc_type(sql_source = $source)]
        struct $name {
            id: i32,
            search: Option<SearchVector>,
        }
    };
}

page!(ColumnPage, "v_page_columns");
page!(DataPage, "v_page_data");

#[svc::query]
async fn columns() -> Vec<ColumnPage>;
#[svc::query]
async fn data() -> Vec<DataPage>;
#[svc::query]
async fn column_pages() -> Connection<ColumnPage>;
#[svc::query]
async fn data_pages() -> Connection<DataPage>;

const SQL: &str = "
DO $$ BEGIN EXECUTE format(
    'ALTER DATABASE %I SET default_text_search_config = ''pg_catalog.english''', current_database()
); END $$;
CREATE VIEW v_page_columns AS SELECT id, to_tsvector('english', body) AS search FROM (VALUES
  (1, 'A cat sat on the mat.'), (2, 'Dogs chase cats; the cats run.'), (3, 'Birds sing.'), (4, NULL)) AS page (id, body);
CREATE VIEW v_page_data AS SELECT to_jsonb(page) AS data FROM v_page_columns AS page;";

async fn app() -> App {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    App::serve(options.queries(queries![columns, data, column_pages, data_pages])).await
}

#[tokio::test]
async fn queries_use_the_text_search_configuration_of_the_database() {
    let app = app().await;
    for (arguments, ids) in [
        (r#"where: {search: {plainQuery: "cats"}}"#, "12"),
        (r#"where: {search: {plainQuery: "the chasing cat"}}"#, "2"),
        (r#"where: {search: {phraseQuery: "cat sits"}}"#, ""),
        (r#"where: {search: {phraseQuery: "cat sat"}}"#, "1"),
        (r#"where: {search: {websearchQuery: "cats -dogs"}}"#, "1"),
        (
            r#"where: {search: {websearchQuery: "\"chase cats\" or singing"}}"#,
            "23",
        ),
        (r#"where: {search: {matches: "cat & !dog"}}"#, "1"),
        (
            r#"where: {search: {matches: "sing | (dog <-> chase)"}}"#,
            "23",
        ),
        (r#"where: {search: {isnull: true}}"#, "4"),
        (r#"where: {NOT: {search: {plainQuery: "cat"}}}"#, "34"),
        (
            r#"where: {search: {plainQuery: "cat"}}, orderBy: [{search: {plainQuery: "cat"}}]"#,
            "21",
        ),
        (
            r#"where: {search: {plainQuery: "cat"}}, orderBy: [{search: {websearchQuery: "cat", direction: ASC}}]"#,
            "12",
        ),
        (
            r#"orderBy: [{search: {matches: "bird | dog"}}, {id: DESC}]"#,
            "3214",
        ),
        (
            r#"orderBy: [{search: {phraseQuery: "a cat", direction: ASC_NULLS_FIRST}}, {id: ASC}], limit: 2"#,
            "43",
        ),
        (r#"orderBy: [{search: null}, {id: DESC}], limit: 1"#, "4"),
        (r#"where: {search: {plainQuery: ""}}"#, ""),
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
async fn a_list_ordered_by_rank_can_be_paged_with_cursors() {
    let app = app().await;
    for root in ["columnPages", "dataPages"] {
        for (count, bound, cursor, ids) in [
            ("first", "after", "endCursor", "2134"),
            ("last", "before", "startCursor", "4312"),
        ] {
            let (mut found, mut at) = (String::new(), serde_json::Value::Null);
            for _ in 0..4 {
                let query = format!(
                    "query ($at: String) {{ page: {root}({count}: 1, {bound}: $at, orderBy: [{{search: {{plainQuery: \"cat\"}}}}])
                     {{ nodes {{ id }} pageInfo {{ {cursor} }} }} }}"
                );
                let page = app.query_with(&query, json!({ "at": at })).await.data()["page"].clone();
                found.push_str(&page["nodes"][0]["id"].to_string());
                at = page["pageInfo"][cursor].clone();
            }
            assert_eq!(found, ids, "{root} {count}");
        }
        // A cursor of one search is none of another.
        let first = format!(
            "{{ {root}(first: 1, orderBy: [{{search: {{plainQuery: \"cat\"}}}}]) {{ pageInfo {{ endCursor }} }} }}"
        );
        let cursor = app.query(&first).await.data()[root]["pageInfo"]["endCursor"].clone();
        let other = format!(
            "{{ {root}(after: {cursor}, orderBy: [{{search: {{plainQuery: \"dog\"}}}}]) {{ nodes {{ id }} }} }}"
        );
        assert_eq!(app.query(&other).await.code(), "BAD_USER_INPUT");
    }
}

#[tokio::test]
async fn an_invalid_search_query_is_bad_input() {
    let app = app().await;
    for (arguments, part) in [
        (
            r#"where: {search: {matches: "cat &"}}"#,
            "the pattern or query is not valid: no operand in tsquery",
        ),
        (
            r#"where: {search: {matches: "a b"}}"#,
            "syntax error in tsquery",
        ),
        (
            r#"orderBy: [{search: {matches: "!"}}]"#,
            "no operand in tsquery",
        ),
        (
            "orderBy: [{search: {}}]",
            "an order by rank takes exactly one query",
        ),
        (
            r#"orderBy: [{search: {direction: DESC}}]"#,
            "an order by rank takes exactly one query",
        ),
        (
            r#"orderBy: [{search: {matches: "a", plainQuery: "b"}}]"#,
            "an order by rank takes exactly one query",
        ),
        (
            "orderBy: [{search: {matches: null}}]",
            "an order by rank takes exactly one query",
        ),
    ] {
        for root in ["columns", "data"] {
            let reply = app
                .query(&format!("{{ {root}({arguments}) {{ id }} }}"))
                .await;
            assert_eq!(reply.code(), "BAD_USER_INPUT", "{root}: {arguments}");
            assert!(
                reply.message().contains(part),
                "{root}: {arguments}: {}",
                reply.message()
            );
        }
    }
}

#[tokio::test]
async fn a_search_vector_is_returned_as_postgresql_prints_it() {
    let app = app().await;
    for root in ["columns", "data"] {
        let reply = app.query(&format!("{{ {root} {{ search }} }}")).await;
        assert_eq!(
            reply.data()[root][0],
            json!({ "search": "'cat':2 'mat':6 'sat':3" })
        );
        assert_eq!(reply.data()[root][3], json!({ "search": null }));
    }
}
