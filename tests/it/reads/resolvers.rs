//! Functions with a body, computed fields, and how values become answers.

use serde_json::{Value, json};
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_cat")]
#[derive(Clone)]
struct Cat {
    id: i32,
    name: String,
}

#[svc_type]
impl Cat {
    /// Says something.
    fn says(
        &self,
        #[svc(default = "meow")] word: String,
        #[svc(default = 1)] times: i32,
    ) -> String {
        vec![format!("{}: {}", self.name, word); usize::try_from(times).unwrap_or(0)].join(" ")
    }

    async fn slow_name(&self) -> &str {
        tokio::task::yield_now().await;
        &self.name
    }

    fn broken(&self) -> Result<Option<i32>> {
        Err(Error::new(ErrorCode::BadUserInput, "broken as declared"))
    }

    fn very_broken(&self) -> Result<i32> {
        Ok("x".parse::<i32>()?)
    }

    async fn panics(&self) -> Option<i32> {
        panic!("a secret")
    }
}

#[svc_type(sql_source = "v_dog")]
#[derive(Clone)]
struct Dog {
    id: i32,
    name: String,
    good: bool,
}

#[svc_interface(sql_source = "v_pet", fields(id: i32, name: String))]
enum Pet {
    Cat(Cat),
    Dog(Dog),
}

#[svc_union]
enum Found {
    Cat(Cat),
    Dog(Dog),
}

#[svc_input]
struct Point {
    x: f64,
    #[svc(default = 2.5)]
    y: f64,
    label: MaybeUndefined<String>,
}

#[svc_input]
enum Key {
    Id(i32),
    Name(String),
}

fn cat() -> Cat {
    Cat {
        id: 1,
        name: "Tom".into(),
    }
}

#[svc::query]
fn one() -> Cat {
    cat()
}

#[svc::query]
async fn cats() -> Vec<Option<Cat>> {
    vec![
        Some(cat()),
        None,
        Some(Cat {
            id: 2,
            name: "Kit \"ü\"".into(),
        }),
    ]
}

#[svc::query]
fn pets() -> Vec<Pet> {
    vec![
        Pet::Dog(Dog {
            id: 3,
            name: "Rex".into(),
            good: true,
        }),
        Pet::Cat(cat()),
    ]
}

#[svc::query]
async fn stored_pets() -> Vec<Pet>;

#[svc::query]
fn found() -> Vec<Found> {
    vec![
        Found::Cat(cat()),
        Found::Dog(Dog {
            id: 3,
            name: "Rex".into(),
            good: true,
        }),
    ]
}

#[svc::query]
fn measure(point: Point) -> String {
    format!("{} {} {:?}", point.x, point.y, point.label)
}

#[svc::query]
fn find(by: Key) -> String {
    match by {
        Key::Id(id) => format!("id {id}"),
        Key::Name(name) => format!("name {name}"),
    }
}

#[svc::query]
async fn typed(ctx: &Context<'_>) -> Result<Vec<String>> {
    let cats: Vec<Cat> = ctx.db().find::<Cat>().order_by(asc("name")).await?;
    Ok(cats.into_iter().map(|cat| cat.name).collect())
}

#[svc::query]
async fn counted(ctx: &Context<'_>, above: i32) -> Result<Vec<i64>> {
    let cats = || ctx.db().find::<Cat>().filter(col("id").gt(above));
    Ok(vec![
        cats().limit(1).count().await?,
        i64::from(cats().exists().await?),
    ])
}

#[svc::query]
async fn unlimited(ctx: &Context<'_>) -> Result<bool> {
    Ok(ctx.db().find::<Grain>().await?.is_empty())
}

#[svc_type(sql_source = "v_grain")]
struct Grain {
    id: i32,
}

#[svc::query]
async fn last_cat(ctx: &Context<'_>, below: i32) -> Result<FindOne<Cat>> {
    Ok(ctx
        .db()
        .find_one::<Cat>()
        .filter(col("id").lt(below))
        .order_by(desc("id")))
}

#[svc::query]
async fn stored_cats() -> Vec<Cat>;

#[svc::query]
fn grid() -> Vec<Vec<Option<f64>>> {
    vec![vec![Some(1.0), None], vec![], vec![Some(f64::NAN)]]
}

static COUNTER: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);

#[svc::mutation]
async fn add(by: i32) -> Result<i32> {
    tokio::task::yield_now().await;
    if by < 0 {
        return Err(
            Error::with_code("TOO_SMALL", "give a number from 0").with_extension("least", 0)
        );
    }
    Ok(COUNTER.fetch_add(by, std::sync::atomic::Ordering::SeqCst) + by)
}

const SQL: &str = "
CREATE VIEW v_cat AS SELECT i AS id, 'cat ' || i AS name FROM generate_series(1, 3) AS i;
CREATE VIEW v_grain AS SELECT i AS id FROM generate_series(1, 1001) AS i;
CREATE VIEW v_dog AS SELECT 7 AS id, 'dog' AS name, true AS good;
CREATE VIEW v_pet AS
  SELECT 'Cat' AS __typename, id, name, NULL::jsonb AS data FROM v_cat
  UNION ALL SELECT 'Dog', id, name, jsonb_build_object('good', good) FROM v_dog;";

async fn app() -> App {
    let database = TestDatabase::copy_of("resolved", SQL).await;
    let queries = queries![
        one,
        cats,
        pets,
        stored_pets,
        found,
        measure,
        find,
        typed,
        counted,
        unlimited,
        last_cat,
        stored_cats,
        grid
    ];
    let options = AppOptions::new()
        .database_url(database.url())
        .auto_camel_case(true);
    App::serve(
        options
            .queries(queries)
            .types(types![Grain])
            .mutations(mutations![add]),
    )
    .await
}

#[tokio::test]
async fn computed_fields_take_arguments_with_defaults() {
    let reply = app()
        .await
        .query("{ one { says a: says(word: \"purr\", times: 2) slowName } }")
        .await;
    assert_eq!(
        reply.text,
        r#"{"data":{"one":{"says":"Tom: meow","a":"Tom: purr Tom: purr","slowName":"Tom"}}}"#
    );
}

#[tokio::test]
async fn computed_fields_run_on_planned_rows_too() {
    let reply = app()
        .await
        .query("{ storedCats(orderBy: [{id: DESC}], limit: 2) { id slowName says(times: 1) __typename } }")
        .await;
    assert_eq!(
        reply.data()["storedCats"],
        json!([
            { "id": 3, "slowName": "cat 3", "says": "cat 3: meow", "__typename": "Cat" },
            { "id": 2, "slowName": "cat 2", "says": "cat 2: meow", "__typename": "Cat" },
        ])
    );
}

#[tokio::test]
async fn lists_keep_their_nulls_and_order() {
    let app = app().await;
    let sync = app.query("{ cats { id name } }").await;
    assert_eq!(
        sync.text,
        r#"{"data":{"cats":[{"id":1,"name":"Tom"},null,{"id":2,"name":"Kit \"ü\""}]}}"#
    );
    let waiting = app.query("{ cats { id name: slowName } }").await;
    assert_eq!(
        waiting.text, sync.text,
        "waiting changes nothing in the answer"
    );
}

#[tokio::test]
async fn a_failing_field_is_null_where_that_is_allowed() {
    let reply = app().await.query("{ one { name broken } }").await.json();
    assert_eq!(
        reply["data"],
        json!({ "one": { "name": "Tom", "broken": null } })
    );
    assert_eq!(
        reply["errors"],
        json!([{
            "message": "broken as declared",
            "locations": [{ "line": 1, "column": 14 }],
            "path": ["one", "broken"],
            "extensions": { "code": "BAD_USER_INPUT" },
        }])
    );
}

/// Of resolvers; through lists and objects.
#[tokio::test]
async fn null_rises_to_the_nearest_field_that_allows_it() {
    let app = app().await;
    let reply = app
        .query("{ cats { id veryBroken } one { id } }")
        .await
        .json();
    assert_eq!(
        reply["data"],
        json!({ "cats": [null, null, null], "one": { "id": 1 } })
    );
    let paths: Vec<_> = reply["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].clone())
        .collect();
    assert_eq!(
        paths,
        [
            json!(["cats", 0, "veryBroken"]),
            json!(["cats", 2, "veryBroken"])
        ]
    );
    let reply = app.query("{ one { veryBroken } }").await.json();
    assert_eq!(reply["data"], Value::Null);
}

#[tokio::test]
async fn what_is_not_declared_is_masked_under_an_error_id() {
    let app = app().await;
    for query in ["{ one { veryBroken } }", "{ one { panics } }"] {
        let reply = app.query(query).await;
        assert_eq!(
            (reply.message().as_str(), reply.code().as_str()),
            ("internal server error", "INTERNAL_SERVER_ERROR")
        );
        assert!(reply.json()["errors"][0]["extensions"]["errorId"].is_string());
        assert!(
            !reply.text.contains("secret") && !reply.text.contains("digit"),
            "{}",
            reply.text
        );
    }
}

#[tokio::test]
async fn interfaces_and_unions_answer_by_the_value_s_type() {
    let app = app().await;
    let reply = app
        .query("{ pets { __typename name ... on Dog { good } ...c } } fragment c on Cat { says }")
        .await;
    assert_eq!(
        reply.text,
        r#"{"data":{"pets":[{"__typename":"Dog","name":"Rex","good":true},{"__typename":"Cat","name":"Tom","says":"Tom: meow"}]}}"#
    );
    let reply = app
        .query("{ found { ... on Pet { id } ... on Dog { good } } }")
        .await;
    assert_eq!(
        reply.text,
        r#"{"data":{"found":[{"id":1},{"id":3,"good":true}]}}"#
    );
}

#[tokio::test]
async fn planned_interfaces_read_the_type_from_the_row() {
    let app = app().await;
    let query = "{ storedPets(where: {id: {gt: 2}}, orderBy: [{id: ASC}]) { name __typename ... on Dog { good } } }";
    let expected = json!([{ "name": "cat 3", "__typename": "Cat" }, { "name": "dog", "__typename": "Dog", "good": true }]);
    assert_eq!(app.query(query).await.data()["storedPets"], expected);
    let query = "{ storedPets(where: {id: {gt: 2}}, orderBy: [{id: ASC}]) { name ... on Cat { slowName } ... on Dog { good } } }";
    let expected =
        json!([{ "name": "cat 3", "slowName": "cat 3" }, { "name": "dog", "good": true }]);
    assert_eq!(app.query(query).await.data()["storedPets"], expected);
}

#[tokio::test]
async fn inputs_have_defaults_and_tell_absent_from_null() {
    let app = app().await;
    for (point, answer) in [
        ("{x: 1}", "1 2.5 Undefined"),
        ("{x: 1, y: 3, label: null}", "1 3 Null"),
        ("{y: -1.5, x: 2, label: \"a\"}", "2 -1.5 Value(\"a\")"),
    ] {
        assert_eq!(
            app.query(&format!("{{ measure(point: {point}) }}"))
                .await
                .data()["measure"],
            answer
        );
    }
    let query = "query ($p: Point!) { measure(point: $p) }";
    assert_eq!(
        app.query_with(query, json!({ "p": { "x": 1 } }))
            .await
            .data()["measure"],
        "1 2.5 Undefined"
    );
    let reply = app.query_with(query, json!({ "p": { "x": "one" } })).await;
    assert_eq!(
        reply.message(),
        "variable `$p.x` has an invalid value: `Float` cannot represent the value: \"one\""
    );
    let reply = app
        .query_with(query, json!({ "p": { "x": 1, "z": 1 } }))
        .await;
    assert_eq!(
        reply.message(),
        "variable `$p` has an invalid value: `Point` has no field `z`"
    );
}

#[tokio::test]
async fn one_of_takes_exactly_one() {
    let app = app().await;
    assert_eq!(
        app.query("{ find(by: {name: \"x\"}) }").await.data()["find"],
        "name x"
    );
    for by in ["{}", "{id: 1, name: \"x\"}", "{id: null}"] {
        assert_eq!(
            app.query(&format!("{{ find(by: {by}) }}")).await.code(),
            "GRAPHQL_VALIDATION_FAILED",
            "{by}"
        );
    }
    let query = "query ($by: Key!) { find(by: $by) }";
    assert_eq!(
        app.query_with(query, json!({ "by": { "id": 4 } }))
            .await
            .data()["find"],
        "id 4"
    );
    assert_eq!(
        app.query_with(query, json!({ "by": { "id": 4, "name": "x" } }))
            .await
            .code(),
        "BAD_USER_INPUT"
    );
}

#[tokio::test]
async fn a_resolver_can_read_typed_rows() {
    assert_eq!(
        app().await.query("{ typed }").await.data()["typed"],
        json!(["cat 1", "cat 2", "cat 3"])
    );
}

#[tokio::test]
async fn a_number_that_json_lacks_is_an_error() {
    let reply = app().await.query("{ grid }").await.json();
    assert_eq!(reply["data"]["grid"], json!([[1, null], [], [null]]));
    assert_eq!(reply["errors"][0]["path"], json!(["grid", 2, 0]));
}

#[tokio::test]
async fn mutations_run_in_order_and_end_at_a_failure_that_reaches_the_root() {
    let app = app().await;
    let reply = app
        .query("mutation { a: add(by: 1) b: add(by: 10) c: add(by: -1) d: add(by: 100) }")
        .await
        .json();
    assert_eq!(reply["data"], Value::Null);
    assert_eq!(
        reply["errors"][0]["extensions"],
        json!({ "code": "TOO_SMALL", "least": 0, "mutation": "NOT_DONE" })
    );
    assert_eq!(reply["errors"][0]["path"], json!(["c"]));
    assert_eq!(
        app.query("mutation { a: add(by: 0) b: add(by: 5) }")
            .await
            .data(),
        json!({ "a": 11, "b": 16 })
    );
}

#[tokio::test]
async fn conditions_use_variables_and_their_defaults() {
    let app = app().await;
    let query = "query ($a: Boolean = true, $b: Boolean! = false) { one { id @skip(if: $a) name @include(if: $b) ... @include(if: $a) { says } } }";
    assert_eq!(
        app.query(query).await.text,
        r#"{"data":{"one":{"says":"Tom: meow"}}}"#
    );
    let reply = app
        .query_with(query, json!({ "a": false, "b": true }))
        .await;
    assert_eq!(reply.text, r#"{"data":{"one":{"id":1,"name":"Tom"}}}"#);
    let reply = app
        .query("{ one { id @skip(if: true) @include(if: true) name @skip(if: true) } }")
        .await;
    assert_eq!(reply.text, r#"{"data":{"one":{}}}"#);
}

#[tokio::test]
async fn one_row_can_be_returned_as_a_query() {
    let app = app().await;
    assert_eq!(
        app.query("{ lastCat(below: 3) { name } }").await.data()["lastCat"],
        json!({ "name": "cat 2" })
    );
    assert_eq!(
        app.query("{ lastCat(below: 0) { name } }").await.data()["lastCat"],
        Value::Null
    );
}

#[tokio::test]
async fn a_resolver_can_count() {
    let app = app().await;
    assert_eq!(
        app.query("{ counted(above: 1) }").await.data()["counted"],
        json!([2, 1])
    );
    assert_eq!(
        app.query("{ counted(above: 3) }").await.data()["counted"],
        json!([0, 0])
    );
}

#[tokio::test]
async fn half_an_answer_is_no_answer() {
    assert_eq!(
        app().await.query("{ unlimited }").await.code(),
        "INTERNAL_SERVER_ERROR"
    );
}
