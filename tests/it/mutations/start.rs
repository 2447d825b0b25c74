//! Mistakes in functions and results are said at the start.

use serde_json::Value;
use svc::create_svc_app;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

use super::schema::{CreateUserInput, DeleteUserResult, SQL, options, users};

#[svc::mutation(function = "app.missing")]
async fn missing(input: CreateUserInput) -> bool;
#[svc::mutation(function = "app.add")]
async fn too_many(a: i32, b: i32, c: i32, d: i32) -> i32;
#[svc::mutation(function = "app.add")]
async fn no_json(input: CreateUserInput) -> i32;
#[svc::mutation(function = "ambiguous")]
async fn ambiguous(a: i32) -> i32;
#[svc::mutation(function = "nothing")]
async fn nothing() -> Option<bool>;
#[svc::mutation(function = "app.counted")]
async fn several() -> Vec<DeleteUserResult>;
/// The error's entity would be a number.
#[svc_result]
enum LimitedResult {
    Success { left: i32 },
    Error { retry_after: Option<i32> },
}
#[svc::mutation(function = "app.counted")]
async fn limited() -> LimitedResult;
/// A body fills each field itself.
#[svc::mutation]
async fn made() -> LimitedResult {
    LimitedResultError::new("failed:limit", "later", Some(3)).into()
}
#[svc::mutation(function = "app.counted", context = ["tenant_id"])]
async fn unknown_context() -> i64;

/// The readiness names each function that cannot be called; when it can be, it is called.
#[tokio::test]
async fn functions_that_cannot_be_called_are_named() {
    let database = TestDatabase::copy_of("mutations", SQL).await;
    database
        .execute(
            "CREATE FUNCTION ambiguous(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'; \
             CREATE FUNCTION ambiguous(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'; \
             CREATE FUNCTION nothing() RETURNS void LANGUAGE sql AS ''",
        )
        .await;
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![users]);
    let app =
        App::serve(options.mutations(mutations![missing, too_many, no_json, ambiguous, nothing]))
            .await;
    let reply = app.query("mutation { ambiguous(a: 1) }").await;
    assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR", "{}", reply.text);
    let ready = super::ready(&app, "the function `app.missing` does not exist").await;
    assert_eq!(ready.status, 503);
    let schema = ready.json()["checks"]["schema"].clone();
    for part in [
        "the function `app.missing` does not exist",
        "`app.add` is called as `app.add(scalar, scalar, scalar, scalar)`, but there is `app.add(integer, integer, integer)`",
        "`app.add` is called as `app.add(jsonb)`, but there is `app.add(integer, integer, integer)`",
        "`ambiguous` is called as `ambiguous(scalar)`, which fits `ambiguous(integer)` and `ambiguous(text)`",
        "`nothing` returns nothing; let it return a value",
    ] {
        assert!(
            schema.as_str().is_some_and(|schema| schema.contains(part)),
            "no {part} in {schema}"
        );
    }
    let query = r#"mutation { missing(input: {email: "a", full_name: "A"}) }"#;
    assert_eq!(app.query(query).await.code(), "INTERNAL_SERVER_ERROR");
    database.execute("CREATE FUNCTION app.missing(input jsonb) RETURNS boolean LANGUAGE sql AS 'SELECT true'").await;
    assert_eq!(
        app.query(query).await.data()["missing"],
        Value::Bool(true),
        "a function may be made later"
    );
}

#[tokio::test]
async fn an_invalid_schema_stops_the_start() {
    let start = |mutations| {
        let options = AppOptions::new()
            .database_url("postgres://nobody@localhost/none")
            .queries(queries![users]);
        create_svc_app(options.mutations(mutations))
    };
    let error = start(mutations![several]).await.unwrap_err().to_string();
    assert!(
        error.contains("`it::mutations::start::several` answers with a list of results"),
        "{error}"
    );
    let error = start(mutations![limited]).await.unwrap_err().to_string();
    for part in [
        "the first field of `LimitedError`, which `it::mutations::start::limited` answers with, is the entity",
        "`retry_after` is a value; write an `Option` of an object before it, such as `user: Option<User>`",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let sdl = AppOptions::new()
        .queries(queries![users])
        .mutations(mutations![made])
        .sdl()
        .unwrap();
    assert!(sdl.contains("type LimitedError {"), "{sdl}");
    let error = start(mutations![unknown_context])
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(
            "gets the context value `tenant_id`, which is not known; add `.context_value("
        ),
        "{error}"
    );
}

#[test]
fn a_result_is_a_union_of_two_types() {
    let sdl = options().sdl().unwrap();
    for part in [
        "union UpdateUserResult = UpdateUserSuccess | UpdateUserError",
        "type UpdateUserSuccess {",
        "  updatedFields: [String!]\n",
        "  user: User\n",
        "  cascade: JSON\n",
        "  errors: [MutationError!]!\n",
        "type MutationError {",
        "  details: JSON\n",
        "createUserOnly(input: CreateUserInput!): User!",
    ] {
        assert!(sdl.contains(part), "no {part} in {sdl}");
    }
}
