//! A layer's value reaches a resolver, a session variable and a context value.

#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};
use svc::{AppOptions, create_svc_app};
use svc_tests::{App, TestDatabase};

async fn ask(app: &App, user: Option<&str>, query: &str) -> Value {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = user
        .into_iter()
        .fold(request, |request, user| request.header("x-user", user));

    app.send(request.body(json!({ "query": query }).to_string()))
        .await
        .json()
}

#[tokio::test]
async fn a_layer_identifies_the_user() {
    let database = TestDatabase::new("").await;
    let options = viewer::with_notes(AppOptions::new().database_url(database.url()));
    let app = App::serve_router(viewer::with_viewer(create_svc_app(options).await.unwrap())).await;

    assert_eq!(
        ask(&app, Some("ada"), "{ viewer }").await,
        json!({"data": {"viewer": "ada"}})
    );
    assert_eq!(
        ask(&app, None, "{ viewer }").await,
        json!({"data": {"viewer": null}})
    );

    let add = r#"mutation { add_note(body: "milk") }"#;
    assert_eq!(
        ask(&app, Some("ada"), add).await,
        json!({"data": {"add_note": 1}})
    );
    let refused = ask(&app, None, add).await;
    assert_eq!(
        refused["errors"][0]["extensions"]["code"], "UNAUTHENTICATED",
        "{refused}"
    );

    let notes = "{ notes { body } }";
    assert_eq!(
        ask(&app, Some("ada"), notes).await,
        json!({"data": {"notes": [{"body": "milk"}]}})
    );
    assert_eq!(
        ask(&app, Some("bob"), notes).await,
        json!({"data": {"notes": []}})
    );

    assert_eq!(ask(&app, None, notes).await, json!({"data": {"notes": []}}));
}
