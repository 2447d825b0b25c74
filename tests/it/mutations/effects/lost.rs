//! The connection is lost before the answer, or a call fails in it.

use serde_json::json;
use svc_tests::Proxy;

use super::schema::{app, count, database, error_of, is};

const LOOSE: &str = r#"mutation { loose(title: "x") { ... on LooseSuccess { id } } }"#;

/// Whatever PostgreSQL refuses, or ends before the statement has run, is not done.
#[tokio::test]
async fn a_call_terminated_by_postgresql_reports_not_done() {
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
                error_of(&reply),
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
async fn a_call_with_a_refused_argument_reports_not_done() {
    let database = database().await;
    let app = app(&database.url(), false).await;
    let reply = app
        .query("mutation { loose(title: \"a\\u0000b\") { __typename } }")
        .await;
    assert_eq!(
        error_of(&reply),
        is("BAD_USER_INPUT", "NOT_DONE", json!(["loose"]))
    );
}

/// The commit was sent with the call, so the outcome is unknown to the service. It was done.
#[tokio::test]
async fn a_lost_reply_is_an_unknown_outcome() {
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
            error_of(&reply),
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
async fn a_connection_lost_before_the_call_reports_not_done() {
    let database = database().await;
    let proxy = Proxy::new().await;
    let app = app(&proxy.url(&database), false).await;
    app.query("{ posts { id } }").await.data();
    proxy.lose_answer_to("fn_post");
    let reply = app.query(LOOSE).await;
    assert_eq!(
        error_of(&reply),
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
