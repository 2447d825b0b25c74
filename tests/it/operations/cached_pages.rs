//! An operation with SQL obeys the rules of arguments, with the errors that it has without.

use serde_json::{Value, json};
use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc::{Limits, Operation, SvcConfig};
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_author")]
struct Author {
    id: i32,
    name: String,
    #[relation(to = "author_id")]
    books: Many<Book>,
}

#[svc_type(sql_source = "v_book")]
struct Book {
    id: i32,
    title: String,
    #[relation]
    author: One<Author>,
}

#[svc::query]
async fn author(id: i32) -> Option<Author>;
#[svc::query]
async fn authors() -> Vec<Author>;
#[svc::query]
async fn author_pages() -> Connection<Author>;
#[svc::query]
async fn author_totals() -> Aggregate<Author>;
#[svc::query]
async fn listed(ctx: &Context<'_>, page: Page) -> Result<Find<Author>> {
    Ok(ctx.db().find::<Author>().page(page))
}
#[svc::query]
async fn listed_pages(ctx: &Context<'_>, page: CursorPage) -> Result<Connection<Author>> {
    Ok(ctx.db().find::<Author>().paginate(page))
}
#[svc::mutation]
async fn rename(ctx: &Context<'_>, id: i32, name: String) -> Result<Option<Author>> {
    svc::sqlx::query("UPDATE tb_author SET name = $2 WHERE id = $1")
        .bind(id)
        .bind(name)
        .execute(ctx.db().pool())
        .await?;
    ctx.db().find_one::<Author>().filter(col("id").eq(id)).await
}

const SQL: &str = "
CREATE TABLE tb_author (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE tb_book (id int PRIMARY KEY, title text NOT NULL, author_id int NOT NULL);
INSERT INTO tb_author SELECT n, 'author ' || n FROM generate_series(1, 3) n;
INSERT INTO tb_book SELECT n, 'book ' || n, n % 3 + 1 FROM generate_series(1, 9) n;
CREATE VIEW v_author AS SELECT * FROM tb_author;
CREATE VIEW v_book AS SELECT * FROM tb_book;
CREATE SEQUENCE runs;
";

const BOOKS: &str = "SELECT coalesce(jsonb_agg(b), '[]') FROM (SELECT id FROM tb_book WHERE author_id = a.id ORDER BY id";

/// Documents with their SQL, and the names of their number and their other variables.
fn operations() -> Vec<(&'static str, String)> {
    vec![
        (
            "query Card($n: Int) { author(id: 1) { name books(limit: $n) { id } } }",
            format!("SELECT jsonb_build_object('name', a.name, 'books', ({BOOKS} LIMIT $1) AS b)) AS author FROM tb_author a WHERE id = 1"),
        ),
        (
            "query Skipped($n: Int) { author(id: 1) { name books(limit: 2, offset: $n) { id } } }",
            format!("SELECT jsonb_build_object('name', a.name, 'books', ({BOOKS} LIMIT 2 OFFSET $1) AS b)) AS author FROM tb_author a WHERE id = 1"),
        ),
        (
            "query All($n: Int) { authors(limit: $n) { id } }",
            "SELECT (SELECT coalesce(jsonb_agg(a), '[]') FROM (SELECT id FROM tb_author ORDER BY id LIMIT $1) AS a) AS authors".to_owned(),
        ),
        (
            "query Listed($n: Int) { listed(limit: $n) { id } }",
            "SELECT (SELECT coalesce(jsonb_agg(a), '[]') FROM (SELECT id FROM tb_author ORDER BY id LIMIT $1) AS a) AS listed".to_owned(),
        ),
        (
            "query Paged($n: Int) { author_pages(first: $n) { nodes { id } } }",
            "SELECT jsonb_build_object('nodes', (SELECT coalesce(jsonb_agg(a), '[]') FROM (SELECT id FROM tb_author ORDER BY id LIMIT $1) AS a)) AS author_pages".to_owned(),
        ),
        (
            "query Last($n: Int) { author_pages(last: $n) { nodes { id } } }",
            "SELECT jsonb_build_object('nodes', (SELECT coalesce(jsonb_agg(a ORDER BY id), '[]') FROM (SELECT id FROM tb_author ORDER BY id DESC LIMIT $1) AS a)) AS author_pages".to_owned(),
        ),
        (
            "query ListedPages($n: Int) { listed_pages(first: $n) { nodes { id } } }",
            "SELECT jsonb_build_object('nodes', (SELECT coalesce(jsonb_agg(a), '[]') FROM (SELECT id FROM tb_author ORDER BY id LIMIT $1) AS a)) AS listed_pages".to_owned(),
        ),
        (
            "query Both($n: Int) { author_pages(first: 1, last: $n) { nodes { id } } }",
            "SELECT jsonb_build_object('nodes', '[]'::jsonb) AS author_pages FROM generate_series(1, least($1, 1))".to_owned(),
        ),
        (
            "query Groups($n: Int) { author_totals { groups(by: [NAME], limit: $n, order_by: [{key: {name: ASC}}]) { count key { name } } } }",
            "SELECT jsonb_build_object('groups', (SELECT coalesce(jsonb_agg(jsonb_build_object('count', 1, 'key', jsonb_build_object('name', name))), '[]') \
             FROM (SELECT name FROM tb_author ORDER BY name LIMIT $1) AS g)) AS author_totals".to_owned(),
        ),
        (
            "query Unselected($n: Int) { author_totals { groups(by: [NAME], limit: $n, order_by: [{key: {id: ASC}}]) { count key { name } } } }",
            "SELECT jsonb_build_object('groups', '[]'::jsonb) AS author_totals FROM generate_series(1, least($1, 1))".to_owned(),
        ),
        (
            "query Two($n: Int) { authors { id } author(id: 1) { books(limit: $n) { id } } }",
            format!("SELECT jsonb_build_object('books', ({BOOKS} LIMIT $1) AS b)) AS author, (SELECT jsonb_agg(jsonb_build_object('id', id) ORDER BY id) FROM tb_author) AS authors FROM tb_author a WHERE id = 1"),
        ),
    ]
}

const RENAME: &str = "mutation Rename($name: String!, $n: Int) { rename(id: 1, name: $name) { name books(limit: $n) { id } } }";

async fn app() -> (App, TestDatabase) {
    let database = TestDatabase::copy_of("cached_pages", SQL).await;
    let config = SvcConfig {
        database: svc::DatabaseConfig {
            url: Some(database.url()),
            ..svc::DatabaseConfig::default()
        },
        operations: svc::OperationsConfig {
            rust_endpoint: true,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let rename = "WITH done AS (UPDATE tb_author SET name = $1 WHERE id = 1 RETURNING name) \
         SELECT jsonb_build_object('name', name, 'books', '[]'::jsonb) AS rename FROM done WHERE coalesce($2, 1) > 0";
    let cached = operations()
        .into_iter()
        .map(|(document, sql)| Operation::new(document).sql(AssertSqlSafe(sql)));
    let options = AppOptions::new()
        .config(config)
        .limits(Limits {
            complexity: u64::MAX,
            ..Limits::default()
        })
        .queries(queries![
            author,
            authors,
            author_pages,
            author_totals,
            listed,
            listed_pages
        ])
        .mutations(mutations![rename])
        .operations(cached.chain([Operation::new(RENAME).sql(rename)]));
    (App::serve(options).await, database)
}

fn name(document: &str) -> &str {
    document.split([' ', '(']).nth(1).unwrap()
}

async fn by_id(app: &App, path: &str, document: &str, variables: &Value) -> Reply {
    let body = json!({ "documentId": name(document), "variables": variables }).to_string();
    app.send(
        app.request("POST", path)
            .header("content-type", "application/json")
            .body(body),
    )
    .await
}

/// The same bytes as without SQL, for pages in their bounds and out of them.
#[tokio::test]
async fn pages_have_the_errors_that_they_have_without_sql() {
    let (app, _database) = app().await;
    for (document, _) in operations() {
        // A comment makes it a document of its own.
        let ordinary = format!("{document} # without SQL");
        for number in [
            -2_147_483_648i64,
            -2,
            -1,
            0,
            1,
            2,
            1_000,
            1_001,
            2_000,
            2_147_483_647,
        ] {
            let variables = json!({ "n": number });
            let expected = app.query_with(&ordinary, variables.clone()).await;
            let answer = by_id(&app, "/graphql", document, &variables).await;
            if expected.json().get("errors").is_some() {
                assert_eq!(
                    expected.code(),
                    "BAD_USER_INPUT",
                    "{document} {number}: {}",
                    expected.text
                );
                assert_eq!(answer.text, expected.text, "{document} {number}");
            } else if number > 0 {
                assert_eq!(answer.data(), expected.data(), "{document} {number}");
            } else {
                answer.data();
            }
        }
        for bad in [json!("x"), json!(1.5), json!(2_147_483_648i64)] {
            let (expected, variables) = (
                app.query_with(&ordinary, json!({ "n": bad })).await,
                json!({ "n": bad }),
            );
            assert_eq!(
                by_id(&app, "/graphql", document, &variables).await.text,
                expected.text,
                "{document} {bad}"
            );
            assert_eq!(expected.code(), "BAD_USER_INPUT");
        }
    }
}

/// An argument's error is the answer where nothing but the statement may answer.
#[tokio::test]
async fn the_rust_endpoint_reports_argument_errors() {
    let (app, _database) = app().await;
    let document = operations()
        .into_iter()
        .find(|(document, _)| name(document) == "Listed")
        .unwrap()
        .0;
    assert_eq!(
        by_id(&app, "/graphql/rust", document, &json!({ "n": 2 }))
            .await
            .data()["listed"][1]["id"],
        2
    );
    let reply = by_id(&app, "/graphql/rust", document, &json!({ "n": 2_000 })).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT");
    assert_eq!(
        reply.message(),
        "limit is 2000, and at most 1000 rows can be read at once"
    );
}

/// A mutation with a bad page does nothing.
#[tokio::test]
async fn a_mutation_is_checked_before_it_runs() {
    let (app, _database) = app().await;
    for number in [-1, 2_000] {
        for path in ["/graphql", "/graphql/rust"] {
            let reply = by_id(
                &app,
                path,
                RENAME,
                &json!({ "name": "changed", "n": number }),
            )
            .await;
            assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
            assert_eq!(reply.json()["data"], json!({ "rename": null }));
        }
        assert_eq!(
            app.query("{ author(id: 1) { name } }").await.data()["author"]["name"],
            "author 1"
        );
    }
    let reply = by_id(
        &app,
        "/graphql",
        RENAME,
        &json!({ "name": "changed", "n": 1 }),
    )
    .await;
    assert_eq!(reply.data()["rename"]["name"], "changed");
}

/// Filters and orders that mean nothing are refused too.
#[tokio::test]
async fn conditions_are_checked() {
    let database = TestDatabase::copy_of("cached_pages", SQL).await;
    let document = "query Found($name: StringFilter) { authors(where: {name: $name}) { id } }";
    let sql = "SELECT '[]'::jsonb AS authors WHERE ($1::jsonb) IS NULL OR true";
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![authors]);
    let app = App::serve(options.operations([Operation::new(document).sql(sql)])).await;
    let ordinary = format!("{document} # without SQL");
    let variables = json!({ "name": null });
    let expected = app.query_with(&ordinary, variables.clone()).await;
    assert!(
        expected.message().contains("the condition `name` is null"),
        "{}",
        expected.text
    );
    assert_eq!(
        by_id(&app, "/graphql", document, &variables).await.text,
        expected.text
    );
}
