//! The code of an error, beside extensions that an application adds.

use serde_json::json;
use svc::prelude::*;
use svc_tests::App;

/// An error with an extension that has the name of the code.
fn taken() -> Error {
    Error::with_code("TAKEN", "the seat is taken")
        .with_extension("code", 409)
        .with_extension("seat", "12a")
}

#[svc::query]
fn seat() -> Result<Option<i32>> {
    Err(taken())
}

#[svc::query]
fn masked() -> Result<Option<i32>> {
    Err(Error::internal("the plan of the cabin is torn").with_extension("code", "FINE"))
}

#[tokio::test]
async fn an_extension_does_not_replace_the_code() {
    let options = AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![seat, masked])
        .request_data(|ctx| {
            let is_refused = ctx.header("x-seat") == Some("taken");
            async move { if is_refused { Err(taken()) } else { Ok(()) } }
        });
    let app = App::serve(options).await;
    let expected = json!({ "code": "TAKEN", "seat": "12a" });

    let reply = app.query("{ seat }").await;
    assert_eq!(reply.json()["errors"][0]["extensions"], expected);
    assert_eq!(
        app.query("{ masked }").await.code(),
        "INTERNAL_SERVER_ERROR"
    );

    let request = app
        .request("POST", "/graphql")
        .header("x-seat", "taken")
        .json(&json!({ "query": "{ seat }" }));
    let reply = app.send(request).await;
    assert_eq!(reply.json()["errors"][0]["extensions"], expected);
}
