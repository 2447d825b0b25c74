//! Statements use the indexes of columns: plans of the planned statements on 50,000 rows.

use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_event")]
struct Event {
    id: Uuid,
    name: String,
    kind: i32,
    at: DateTime<Utc>,
    #[relation(to = "event_id")]
    notes: Many<Note>,
}

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    body: String,
    #[relation]
    event: One<Event>,
}

#[svc_type(sql_source = "v_event_rated")]
struct RatedEvent {
    id: Uuid,
    name: String,
    ratio: i32,
}

#[svc::query]
async fn rated() -> Vec<RatedEvent>;
#[svc::query]
async fn events() -> Vec<Event>;
#[svc::query]
async fn pages() -> Connection<Event>;

const SQL: &str = "
CREATE EXTENSION pg_stat_statements;
CREATE TABLE tb_event (id uuid PRIMARY KEY, name text NOT NULL, kind int NOT NULL, at timestamptz NOT NULL);
INSERT INTO tb_event SELECT md5(n::text)::uuid, 'event ' || n, n % 1000,
  '2024-01-01T00:00:00Z'::timestamptz + n * interval '1 minute' FROM generate_series(1, 50000) n;
CREATE TABLE tb_note (id int PRIMARY KEY, body text NOT NULL, event_id uuid NOT NULL REFERENCES tb_event);
INSERT INTO tb_note SELECT n, 'note', md5(n::text)::uuid FROM generate_series(1, 50000) n;
CREATE INDEX event_name ON tb_event (name);
CREATE INDEX event_kind ON tb_event (kind);
CREATE INDEX event_at ON tb_event (at, id);
CREATE INDEX note_event ON tb_note (event_id);
CREATE VIEW v_event AS SELECT e.*, jsonb_build_object('id', id, 'name', name, 'kind', kind, 'at', at) AS data FROM tb_event e;
CREATE VIEW v_event_rated AS SELECT *, 100 / kind AS ratio FROM tb_event;
CREATE VIEW v_note AS SELECT n.*, jsonb_build_object('id', id, 'body', body) AS data FROM tb_note n;
ANALYZE;
";

/// The statement that a document runs, with the plan that PostgreSQL makes for these values. The
/// statistics have placeholders for the bounds of pages and for guards (`CASE WHEN false …`) as
/// well; their values come last.
async fn plan(database: &TestDatabase, app: &App, query: &str, values: &[&str]) -> String {
    let pool = database.pool().await;
    let reset = "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()";
    sqlx::query(reset).execute(&pool).await.unwrap();
    app.query(query).await.data();
    let text: String = sqlx::query_scalar(
        "SELECT query FROM pg_stat_statements WHERE query LIKE 'SELECT %v_event%' AND query NOT LIKE '%pg_stat%'
         AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY calls DESC LIMIT 1",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    let types = vec!["unknown"; values.len()].join(", ");
    let mut connection = pool.acquire().await.unwrap();
    let prepare = format!("PREPARE asked ({types}) AS {text}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(prepare))
        .execute(&mut *connection)
        .await
        .unwrap();
    let explain = format!("EXPLAIN (COSTS off) EXECUTE asked ({})", values.join(", "));
    let rows: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(explain))
        .persistent(false)
        .fetch_all(&mut *connection)
        .await
        .unwrap();
    rows.join("\n")
}

#[tokio::test]
async fn equality_range_order_and_cursor_use_the_index() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![events, pages]);
    let app = App::serve(options).await;
    let cursor = {
        let page = app
            .query("{ pages(first: 1, order_by: [{at: DESC}]) { page_info { end_cursor } } }")
            .await;
        page.data()["pages"]["page_info"]["end_cursor"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let text = |at: &str| format!("'{at}'");
    for (query, values, expected) in [
        (
            r#"{ events(where: {name: {eq: "event 7"}}) { name } }"#.to_owned(),
            vec![text("event 7"), "20".to_owned(), "32".to_owned()],
            vec!["event_name", "Index Cond: (name = 'event 7'::text)"],
        ),
        (
            r#"{ events(where: {kind: {in: [7, 8]}}) { name } }"#.to_owned(),
            vec![text("{7,8}"), "20".to_owned(), "32".to_owned()],
            vec!["event_kind", "Index Cond: (kind = ANY ('{7,8}'::bigint[]))"],
        ),
        (
            r#"{ events(where: {at: {gte: "2024-01-02T00:00:00Z", lt: "2024-01-02T00:05:00Z"}}) { name } }"#.to_owned(),
            vec![text("2024-01-02T00:00:00Z"), text("2024-01-02T00:05:00Z"), "20".to_owned()],
            vec!["event_at", "Index Cond: ((at >= '2024-01-02", "(at < '2024-01-02"],
        ),
        (
            "{ events(order_by: [{at: DESC}], limit: 5) { name } }".to_owned(),
            vec!["5".to_owned(), "false".to_owned(), "8".to_owned()],
            vec!["Index Scan Backward using event_at"],
        ),
        (
            format!("{{ pages(first: 5, after: \"{cursor}\", order_by: [{{at: DESC}}]) {{ nodes {{ name }} }} }}"),
            vec![
                text("2024-02-04 17:20:00+00"),
                text("00000000-0000-0000-0000-000000000007"),
                "6".to_owned(),
                "false".to_owned(),
                "8".to_owned(),
            ],
            vec!["Index Scan Backward using event_at", "Index Cond: (ROW(at, id) < ROW("],
        ),
        (
            "{ events(order_by: [{at: ASC}], limit: 5) { notes(limit: 3) { body } } }".to_owned(),
            vec!["3".to_owned(), "5".to_owned(), "8".to_owned(), "false".to_owned(), "8".to_owned()],
            vec!["using event_at", "note_event", "Index Cond: (event_id = t.id)"],
        ),
    ] {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let plan = plan(&database, &app, &query, &values).await;
        for part in expected {
            assert!(plan.contains(part), "{query}\nlacks {part:?} in\n{plan}");
        }
        assert!(!plan.contains("Seq Scan"), "{query}\n{plan}");
    }
    assert_ties_are_sorted_once(&database, &app).await;
}

/// An expression of a view that may fail waits for the policy, and the columns beside it do not.
#[tokio::test]
async fn a_column_beside_an_expression_uses_its_index_under_a_policy() {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![rated])
        .row_policy::<RatedEvent>(|_| Ok(RowDecision::allow_where(col("kind").gt(0))));
    let app = App::serve(options).await;
    for filter in [
        r#"{name: {eq: "event 7"}, ratio: {eq: 14}}"#,
        r#"{AND: [{ratio: {eq: 14}}, {name: {eq: "event 7"}}]}"#,
    ] {
        let is_name_first = filter.starts_with("{name");
        let values = if is_name_first {
            ["0", "'event 7'", "14", "20"]
        } else {
            ["0", "14", "'event 7'", "20"]
        };
        let query = format!("{{ rated(where: {filter}) {{ name }} }}");
        let plan = plan(&database, &app, &query, &values).await;
        for part in [
            "event_name",
            "Index Cond: (name = 'event 7'::text)",
            "CASE WHEN (kind > ",
        ] {
            assert!(plan.contains(part), "{query}\nlacks {part:?} in\n{plan}");
        }
        assert!(!plan.contains("Seq Scan"), "{query}\n{plan}");
    }
}

/// From the second request of a document on, an index on the order alone serves a page without
/// ties.
async fn assert_ties_are_sorted_once(database: &TestDatabase, app: &App) {
    let query = "{ events(order_by: [{name: ASC}], limit: 5, offset: 3) { kind } }";
    for (values, is_sorted) in [
        (&["5", "3", "false", "8"][..], true),
        (&["7", "2", "9"], false),
    ] {
        let plan = plan(database, app, query, values).await;
        assert!(plan.contains("Index Scan using event_name"), "{plan}");
        assert_eq!(plan.contains("Sort"), is_sorted, "{plan}");
    }
}
