//! Sessions that an undone operation has changed.

use serde_json::json;
use svc::create_svc_app;
use svc::prelude::*;
use svc::sessions::SessionLayer;
use svc_tests::{App, TestDatabase};

use super::browser::{Browser, config, options};

#[svc::mutation(atomic)]
fn fail() -> Result<bool> {
    Err(Error::new(ErrorCode::BadUserInput, "it failed"))
}

#[tokio::test]
async fn an_undone_operation_leaves_the_session_as_it_was() {
    let database = TestDatabase::new("CREATE TABLE tb_nothing (id int)").await;
    let options = options()
        .database_url(database.url())
        .mutations(mutations![fail]);
    let layer = SessionLayer::new(config()).unwrap();
    let app = App::serve_router(create_svc_app(options).await.unwrap().layer(layer)).await;

    let mut browser = Browser::default();
    browser.set(&app, "first").await;
    let undone = r#"mutation @atomic { set(value: "undone") renew fail }"#;
    let reply = browser.send(&app, undone).await;
    assert_eq!(reply.code(), "BAD_USER_INPUT", "{}", reply.text);
    assert_eq!(browser.value(&app).await, "first");

    let mut other = Browser::default();
    other.send(&app, undone).await;
    assert_eq!(other.cookie, None);

    let kept = r#"mutation @atomic { set(value: "kept") renew }"#;
    let reply = browser.send(&app, kept).await;
    assert_eq!(reply.data(), json!({"set": true, "renew": true}));
    assert_eq!(browser.value(&app).await, "kept");
}
