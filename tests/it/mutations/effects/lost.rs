//! The connection is lost before the answer, or a call fails in it.

use serde_json::json;
use svc_tests::Proxy;

use super::schema::{app, count, database, is, told};

const LOOSE: &str = r#"mutation { loose(title: "x") { ... on LooseSuccess { id } } }"#;

/// Whatever PostgreSQL refuses, or ends before the statement has run, is not done.
#[tokio::test]
async fn a_call_that_postgresql_ends_is_not_done() {
    for has_session in [false, true] {
        let database = database().await;
        let app = app(&database.url(), has_session).await;
        for (title, code) in [
            ("divide", "INTERNAL_SERVER_ERROR"),
            ("cancel", "TIMEOUT"),
            ("terminate", "SERVICE_UNAVAILABLE"),
            ("terminate", "SERVICE_UNAVAILABLE"),
        ] {
            let query = format!(r#"mutation {{ loose(title: "{title}") {{ __typename }} }}"#);
            let reply = app.query(&query).await;
            assert_eq!(
                told(&reply),
                is(code, "NOT_DONE", json!(["loose"])),
                "{}",
                reply.text
            );
            assert!(!reply.message().contains("may have"), "{}", reply.text);
            assert_eq!(count(&database).await, 0, "{title}");
        }
        app.query(LOOSE).await.data();
    }
}

#[tokio::test]
async fn an_argument_that_is_refused_is_not_done() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let reply = app
        .query("mutation { loose(title: \"a\\u0000b\") { __typename } }")
        .await;
    assert_eq!(
        told(&reply),
        is("BAD_USER_INPUT", "NOT_DONE", json!(["loose"]))
    );
}

/// The commit is in what was sent, so nobody knows. The test does: it was done.
#[tokio::test]
async fn a_lost_answer_is_told_as_unknown() {
    for has_session in [false, true] {
        let database = database().await;
        let proxy = Proxy::new().await;
        let app = app(&proxy.url(&database), has_session).await;
        // A statement stays prepared from its second time on.
        for title in ["a", "b", "c"] {
            app.query(&LOOSE.replace("\"x\"", &format!("{title:?}")))
                .await
                .data();
        }
        proxy.lose_answer_to(if has_session { "COMMIT" } else { "the lost" });
        let reply = app.query(&LOOSE.replace("\"x\"", "\"the lost\"")).await;
        assert_eq!(
            told(&reply),
            is("OUTCOME_UNKNOWN", "UNKNOWN", json!(["loose"])),
            "{}",
            reply.text
        );
        assert!(
            reply
                .message()
                .ends_with("the mutation may have been done, or not"),
            "{}",
            reply.text
        );
        assert_eq!(count(&database).await, 4);
        assert_eq!(
            app.query(&LOOSE.replace("\"x\"", "\"z\"")).await.data()["loose"],
            json!({ "id": "5" })
        );
    }
}

/// A statement that was being prepared has not run.
#[tokio::test]
async fn a_connection_that_is_lost_before_the_call_leaves_nothing() {
    let database = database().await;
    let proxy = Proxy::new().await;
    let app = app(&proxy.url(&database), false).await;
    app.query("{ posts { id } }").await.data();
    proxy.lose_answer_to("fn_post");
    let reply = app.query(LOOSE).await;
    assert_eq!(
        told(&reply),
        is("SERVICE_UNAVAILABLE", "NOT_DONE", json!(["loose"])),
        "{}",
        reply.text
    );
    assert!(
        reply.message().ends_with("the mutation was not done"),
        "{}",
        reply.text
    );
    assert_eq!(count(&database).await, 0);
}
