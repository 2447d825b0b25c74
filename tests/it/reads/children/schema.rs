//! The names and types of pages and aggregates of children, their gates, and what they count as.

use serde_json::json;
use svc::authz::{Authorizer, OperationType};
use svc::prelude::*;
use svc::{ErrorCode, Limits};
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_shelf", authorize_fields = ["secrets"])]
struct Shelf {
    id: i32,
    #[relation(connection = "bookPages", aggregate = "bookFigures")]
    books: Many<Book>,
    #[relation(connection, aggregate)]
    secrets: Many<Secret>,
    /// Nothing beside it.
    #[relation]
    papers: Many<Secret>,
}

#[svc_type(sql_source = "v_book", authorize_fields = ["price"])]
struct Book {
    id: i32,
    title: String,
    price: Option<i32>,
    #[relation]
    shelf: One<Shelf>,
}

#[svc_type(sql_source = "v_secret")]
struct Secret {
    id: i32,
    text: String,
}

#[svc::query]
async fn shelves() -> Vec<Shelf>;

const SQL: &str = "
    CREATE VIEW v_shelf AS SELECT 1 AS id;
    CREATE VIEW v_book AS SELECT n AS id, 'book ' || n AS title, 41000 + n AS price, 1 AS shelf_id FROM generate_series(1, 3) n;
    CREATE VIEW v_secret AS SELECT 1 AS id, 'hidden' AS text, 1 AS shelf_id;";

#[test]
fn the_schema_has_pages_and_aggregates_under_their_names() {
    let sdl = AppOptions::new()
        .auto_camel_case(true)
        .queries(queries![shelves])
        .sdl()
        .unwrap();
    for part in [
        "\"Pages of `books`.\"\n  bookPages(",
        "where: BookWhere\n",
        "): BookConnection!",
        "\"Aggregates over `books`.\"\n  bookFigures(",
        "): BookAggregate!",
        "secretsConnection(",
        "secretsAggregate(",
        "bookFigures: BookAggregateWhere",
        "bookFigures: BookAggregateOrderBy",
        "input BookAggregateWhere {",
        "input BookSumHaving {",
        "input BookAggregateOrderBy {",
        "avg: BookAvgOrderBy",
    ] {
        assert!(sdl.contains(part), "{part}: {sdl}");
    }
    assert!(!sdl.contains("papersConnection") && !sdl.contains("booksConnection"));
}

#[svc_type(name = "Clash", sql_source = "v_shelf")]
struct Clash {
    id: i32,
    secrets_connection: i32,
    #[relation(connection, aggregate = "id")]
    secrets: Many<Secret>,
}

#[svc::query]
async fn clashes() -> Vec<Clash>;

#[test]
fn a_clash_of_names_is_an_error_at_the_start() {
    let error = AppOptions::new()
        .queries(queries![clashes])
        .sdl()
        .unwrap_err()
        .to_string();
    for (name, first, key) in [
        ("secrets_connection", "secrets_connection", "connection"),
        ("id", "id", "aggregate"),
    ] {
        let told = format!("`{first}` has the name `{name}` already");
        assert!(
            error.contains(&told) && error.contains(&format!("`{key} = \"…\"`")),
            "{error}"
        );
    }
}

/// Denies every gated field.
struct Denies;

impl Authorizer for Denies {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision> {
        Ok(match request.operation_type() == OperationType::Field {
            true => AuthorizationDecision::deny(),
            false => AuthorizationDecision::allow(),
        })
    }
}

async fn app(database: &TestDatabase, configure: impl Fn(AppOptions) -> AppOptions) -> App {
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true)
        .queries(queries![shelves]);
    App::serve(configure(options)).await
}

#[tokio::test]
async fn denied_fields_are_denied_in_pages_aggregates_conditions_and_orders() {
    let database = TestDatabase::copy_of("children_schema", SQL).await;
    let app = app(&database, |options| options.authorizer(Denies)).await;
    for (query, field) in [
        ("{ shelves { secrets { id } } }", "Shelf.secrets"),
        (
            "{ shelves { secretsConnection { totalCount } } }",
            "Shelf.secrets",
        ),
        (
            "{ shelves { secretsAggregate { count } } }",
            "Shelf.secrets",
        ),
        (
            "{ shelves(where: {secretsAggregate: {count: {gt: 0}}}) { id } }",
            "Shelf.secrets",
        ),
        (
            "{ shelves(orderBy: [{secretsAggregate: {count: ASC}}]) { id } }",
            "Shelf.secrets",
        ),
        (
            "{ shelves { bookPages { nodes { price } } } }",
            "Book.price",
        ),
        (
            "{ shelves { bookPages(where: {price: {gt: 0}}) { totalCount } } }",
            "Book.price",
        ),
        (
            "{ shelves { bookPages(orderBy: [{price: ASC}]) { totalCount } } }",
            "Book.price",
        ),
        (
            "{ shelves { bookFigures { max { price } } } }",
            "Book.price",
        ),
        (
            "{ shelves { bookFigures { groups(by: [PRICE]) { count } } } }",
            "Book.price",
        ),
        (
            "{ shelves { bookFigures(where: {price: {gt: 0}}) { count } } }",
            "Book.price",
        ),
        (
            "{ shelves(where: {bookFigures: {sum: {price: {gt: 0}}}}) { id } }",
            "Book.price",
        ),
        (
            "{ shelves(where: {bookFigures: {where: {price: {gt: 0}}, count: {gt: 1}}}) { id } }",
            "Book.price",
        ),
        (
            "{ shelves(orderBy: [{bookFigures: {max: {price: ASC}}}]) { id } }",
            "Book.price",
        ),
        (
            "{ shelves(orderBy: [{bookFigures: {where: {price: {gt: 0}}, count: ASC}}]) { id } }",
            "Book.price",
        ),
        (
            "{ shelves { bookPages { nodes { shelf { secretsAggregate { count } } } } } }",
            "Shelf.secrets",
        ),
    ] {
        let reply = app.query(query).await;
        let error = &reply.json()["errors"][0]["extensions"];
        assert_eq!(
            (&error["code"], &error["field"]),
            (&json!("FORBIDDEN"), &json!(field)),
            "{query}: {}",
            reply.text
        );
        assert!(
            !reply.text.contains("4100") && !reply.text.contains("hidden"),
            "{query}: {}",
            reply.text
        );
    }
    let answer = app
        .query("{ shelves { bookPages { totalCount } bookFigures { count max { title } } } }")
        .await
        .data();
    assert_eq!(
        answer["shelves"],
        json!([{"bookPages": {"totalCount": 3}, "bookFigures": {"count": 3, "max": {"title": "book 3"}}}])
    );
}

#[tokio::test]
async fn limits_count_pages_and_aggregates_of_children() {
    let database = TestDatabase::copy_of("children_schema", SQL).await;
    let limits =
        async |limits: Limits| app(&database, |options| options.limits(limits.clone())).await;
    let relations = limits(Limits {
        relations: 1,
        ..Limits::default()
    })
    .await;
    let hops = limits(Limits {
        hops: 1,
        ..Limits::default()
    })
    .await;
    let comparisons = limits(Limits {
        comparisons: 2,
        ..Limits::default()
    })
    .await;
    let keys = limits(Limits {
        order_keys: 1,
        ..Limits::default()
    })
    .await;
    let complexity = limits(Limits {
        complexity: 1_000,
        ..Limits::default()
    })
    .await;
    for (app, fits, refused) in [
        (
            &relations,
            "{ shelves { bookPages { totalCount } } }",
            "{ shelves { bookPages { totalCount } bookFigures { count } } }",
        ),
        (
            &hops,
            "{ shelves(where: {bookFigures: {count: {gt: 1}}}) { id } }",
            "{ shelves(where: {bookFigures: {count: {gt: 1}, where: {shelf: {id: {eq: 1}}}}}) { id } }",
        ),
        (
            // Each key of an order computes by itself.
            &hops,
            "{ shelves(orderBy: [{bookFigures: {count: ASC}}]) { id } }",
            "{ shelves(orderBy: [{bookFigures: {count: ASC, max: {title: ASC}}}]) { id } }",
        ),
        (
            &comparisons,
            "{ shelves(where: {bookFigures: {count: {gt: 1}, where: {title: {eq: \"a\"}}}}) { id } }",
            "{ shelves(where: {bookFigures: {count: {gt: 1, lt: 9}, where: {title: {eq: \"a\"}}}}) { id } }",
        ),
        (
            &comparisons,
            "{ shelves(orderBy: [{bookFigures: {where: {title: {eq: \"a\", neq: \"b\"}}, count: ASC}}]) { id } }",
            "{ shelves(orderBy: [{bookFigures: {where: {title: {eq: \"a\", neq: \"b\"}}, count: ASC, max: {title: ASC}}}]) { id } }",
        ),
        (
            &keys,
            "{ shelves(orderBy: [{bookFigures: {count: ASC}}]) { id } }",
            "{ shelves(orderBy: [{bookFigures: {count: ASC, max: {title: ASC}}}]) { id } }",
        ),
        (
            &complexity,
            "{ shelves(limit: 10) { bookPages(first: 40) { nodes { id } } } }",
            "{ shelves(limit: 10) { bookPages(first: 60) { nodes { id } } } }",
        ),
    ] {
        app.query(fits).await.data();
        let reply = app.query(refused).await;
        assert_eq!(
            reply.code(),
            ErrorCode::QueryTooComplex.to_string(),
            "{refused}: {}",
            reply.text
        );
    }
}
