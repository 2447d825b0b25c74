//! `POST /graphql/rust`: operations that need no function of the program.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc_type(sql_source = "v_city")]
struct City {
    id: i32,
    name: String,
    #[relation(to = "city_id")]
    streets: Many<Street>,
}

#[svc_type]
impl City {
    fn loud(&self) -> String {
        self.name.to_uppercase()
    }
}

#[svc_type(sql_source = "v_street")]
struct Street {
    id: i32,
    name: String,
    #[relation]
    city: One<City>,
}

#[svc::query]
async fn cities() -> Vec<City>;
#[svc::query]
async fn pages() -> Connection<City>;
#[svc::query]
async fn totals() -> Aggregate<City>;
#[svc::query]
async fn found(ctx: &Context<'_>) -> Result<Find<City>> {
    Ok(ctx.db().find::<City>())
}
#[svc::mutation(function = "fn_hello")]
async fn hello(name: String) -> String;
#[svc::mutation]
fn touch() -> bool {
    true
}

const SQL: &str = "
CREATE VIEW v_city AS SELECT i AS id, 'city ' || i AS name FROM generate_series(1, 3) i;
CREATE VIEW v_street AS SELECT i AS id, 'street ' || i AS name, i % 3 + 1 AS city_id FROM generate_series(1, 5) i;
CREATE FUNCTION fn_hello(name text) RETURNS text LANGUAGE sql AS $$ SELECT 'hello ' || name $$;";

async fn app(enable_rust_endpoint: bool) -> App {
    let database = TestDatabase::new(SQL).await;
    let config = SvcConfig {
        operations: svc::OperationsConfig {
            rust_endpoint: enable_rust_endpoint,
            ..svc::OperationsConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .database_url(database.url());
    App::serve(
        options
            .queries(queries![cities, pages, totals, found])
            .mutations(mutations![hello, touch]),
    )
    .await
}

async fn send(app: &App, path: &str, body: &Value) -> Reply {
    let request = app
        .request("POST", path)
        .header("content-type", "application/json")
        .body(body.to_string());
    app.send(request).await
}

#[tokio::test]
async fn planned_operations_have_the_same_response_on_both_endpoints() {
    let app = app(true).await;
    for query in [
        "{ cities(order_by: [{name: DESC}]) { name streets { name city { name __typename } } } }",
        "{ a: cities(limit: 1) { id } ...more } fragment more on Query { pages(first: 2) { total_count nodes { name } } }",
        "{ totals { count max { name } } __typename }",
        "{ cities(limit: -1) { id } }",
        "{ cities { nope } }",
        "{ cities(",
        "{ __schema { queryType { name } } }",
        "mutation { hello(name: \"Ada\") }",
        "{ cities { name ... @skip(if: true) { loud } } }",
    ] {
        let body = json!({ "query": query });
        let (one, other) = (
            send(&app, "/graphql", &body).await,
            send(&app, "/graphql/rust", &body).await,
        );
        assert_eq!(
            (one.status, &one.text),
            (other.status, &other.text),
            "{query}"
        );
    }
}

#[tokio::test]
async fn fields_that_run_code_are_refused_by_name() {
    let app = app(true).await;
    for (query, field) in [
        ("{ found { id } }", "Query.found"),
        ("{ cities { id } found { id } }", "Query.found"),
        (
            "{ cities { ...f } } fragment f on City { name loud }",
            "City.loud",
        ),
        ("{ cities { streets { city { loud } } } }", "City.loud"),
        ("{ pages { edges { node { loud } } } }", "City.loud"),
        ("mutation { touch }", "Mutation.touch"),
    ] {
        let reply = send(&app, "/graphql/rust", &json!({ "query": query })).await;
        assert_eq!(reply.code(), "BAD_REQUEST", "{query}: {}", reply.text);
        assert!(
            reply.message().contains(&format!("`{field}`")),
            "{query}: {}",
            reply.text
        );
        assert!(
            reply.json().get("data").is_none(),
            "nothing ran: {}",
            reply.text
        );
    }
    let reply = app.get("/graphql/rust?query={totals{count}}").await;
    assert_eq!(
        (reply.status, reply.headers["allow"].to_str().unwrap()),
        (405, "POST")
    );
}

#[tokio::test]
async fn the_rust_endpoint_is_off_by_default() {
    let app = app(SvcConfig::default().operations.rust_endpoint).await;
    let reply = send(
        &app,
        "/graphql/rust",
        &json!({ "query": "{ totals { count } }" }),
    )
    .await;
    assert_eq!(reply.status, 404);
}

#[tokio::test]
async fn an_option_enables_the_rust_endpoint() {
    for (is_on, status) in [(true, 200), (false, 404)] {
        let options = AppOptions::new()
            .database_url("postgres://nobody@127.0.0.1:1/nothing")
            .queries(queries![cities])
            .enable_rust_endpoint(is_on);
        let app = App::serve(options).await;
        let body = json!({ "query": "{ __typename }" });
        assert_eq!(send(&app, "/graphql/rust", &body).await.status, status);
    }
}
