//! The time in which PostgreSQL plans what clients ask of views that join many tables.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::sqlx;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_user")]
struct User {
    id: i32,
    #[relation(to = "author_id")]
    posts: Many<Post>,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: i32,
    title: String,
}

#[svc::query]
async fn users() -> Vec<User>;

/// Views of six joins.
fn sql() -> String {
    let joins: String = ["a", "b", "c", "d", "e", "f"]
        .windows(2)
        .map(|two| format!(" JOIN tb {1} ON {1}.id = {0}.k", two[0], two[1]))
        .collect();
    let from = format!("FROM tb t JOIN tb a ON a.id = t.k{joins}");
    format!(
        "CREATE TABLE tb AS SELECT n AS id, 'title ' || n AS title, n % 9 + 1 AS k FROM generate_series(1, 100) AS n;
         ALTER TABLE tb ADD PRIMARY KEY (id); CREATE INDEX ON tb (k); CREATE INDEX ON tb (title);
         CREATE VIEW v_user AS SELECT t.id, f.title AS name {from};
         CREATE VIEW v_post AS SELECT t.id, t.title, t.k AS author_id, f.title AS last {from};
         CREATE EXTENSION pg_stat_statements;
         DO $$ BEGIN
             EXECUTE format('ALTER DATABASE %I SET pg_stat_statements.track_planning = on', current_database());
         END $$;
         ANALYZE"
    )
}

/// Users with a post of each of these titles.
async fn ask(app: &App, titles: &[String]) -> Value {
    let having: Vec<Value> = titles
        .iter()
        .map(|title| json!({ "posts": { "some": { "title": { "eq": title } } } }))
        .collect();
    let document = "query ($where: UserWhere) { users(where: $where) { id } }";
    app.query_with(document, json!({ "where": { "AND": having } }))
        .await
        .data()
}

/// The shortest times in which statements of each length were planned so far, as others use the
/// machine too.
async fn shortest_times(database: &TestDatabase) -> Vec<f64> {
    let pool = database.pool().await;
    let planned = sqlx::query_scalar(
        "SELECT min(min_plan_time) FROM pg_stat_statements \
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query LIKE '%FROM \"v_user\"%' \
         GROUP BY length(query) ORDER BY length(query)",
    );
    let planned = planned.fetch_all(&pool).await.unwrap();
    pool.close().await;
    planned
}

#[tokio::test]
async fn many_conditions_on_related_rows_are_planned_quickly() {
    let database = TestDatabase::new(&sql()).await;
    // The posts of user 5.
    let titles: Vec<String> = (0..11).map(|n| format!("title {}", 4 + 9 * n)).collect();
    let mut planned = Vec::new();
    for _ in 0..10 {
        // Its connections plan anew.
        let app = App::serve(
            AppOptions::new()
                .database_url(database.url())
                .queries(queries![users]),
        )
        .await;
        for count in [3, 11] {
            for _ in 0..15 {
                assert_eq!(
                    ask(&app, &titles[..count]).await,
                    json!({ "users": [{ "id": 5 }] })
                );
            }
            let others = [&titles[..count], &["title 5".to_owned()]].concat();
            assert_eq!(ask(&app, &others).await, json!({ "users": [] }));
        }
        planned = shortest_times(&database).await;
        assert!(planned.len() >= 4, "{planned:?}");
        let (few, many) = (planned[0], planned[planned.len() - 1]);
        if few > 0.0 && many < few * 6.0 {
            return;
        }
    }
    panic!("{planned:?} ms; the last is of eleven conditions, and the first of three");
}
