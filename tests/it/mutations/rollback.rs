//! A mutation whose status is a failure leaves nothing behind, unless it says so.

use serde_json::{Value, json};
use svc::OnFailure;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type]
struct Order {
    id: i32,
    status: String,
}

#[svc_type]
struct Note {
    id: i32,
}

#[svc_result]
enum NoteResult {
    Success {
        note: Option<Note>,
    },
    Error {
        clash: Option<Note>,
        hint: Option<String>,
    },
}

#[svc_result]
enum OrderResult {
    Success { order: Option<Order> },
    Error,
}

#[svc::query]
fn nothing() -> bool {
    true
}

macro_rules! mutations_of {
    ($($name:ident, $function:literal, $answer:ty;)*) => {
        $(#[svc::mutation(function = $function)] async fn $name(status: String) -> $answer;)*
    };
}

mutations_of! {
    composite, "fn_composite", NoteResult;
    document, "fn_document", NoteResult;
    text, "fn_text", NoteResult;
    parameters, "fn_parameters", NoteResult;
    rows, "fn_rows", NoteResult;
    domain, "fn_domain", NoteResult;
    plain, "fn_document", Option<Note>;
    order, "fn_order", OrderResult;
    order_only, "fn_order", Option<Order>;
    number, "fn_number", i32;
    anything, "fn_document", Option<svc::serde_json::Value>;
}

#[svc::mutation(function = "fn_document", on_failure = commit)]
async fn kept(status: String) -> NoteResult;
#[svc::mutation(function = "fn_document", on_failure = "commit")]
async fn kept_plain(status: String) -> Option<Note>;
#[svc::mutation(function = "fn_document", on_failure = rollback)]
async fn undone(status: String) -> NoteResult;
#[svc::mutation(function = "fn_list")]
async fn list(status: String) -> Vec<Note>;
#[svc::mutation]
async fn called(ctx: &Context<'_>, status: String, keep: bool) -> Result<Option<Note>> {
    let args = [json!(status)];
    if keep {
        ctx.db()
            .call_with(OnFailure::Commit, "fn_document", args)
            .await
    } else {
        ctx.db().call("fn_document", args).await
    }
}

const SQL: &str = r#"
CREATE TABLE tb_note (id int GENERATED ALWAYS AS IDENTITY, status text, who text DEFAULT current_setting('app.who', true));
CREATE TYPE mutation_response AS (message text, status text, metadata jsonb);
CREATE DOMAIN response AS jsonb;
CREATE FUNCTION note(status text) RETURNS void LANGUAGE sql AS 'INSERT INTO tb_note (status) VALUES (status)';
CREATE FUNCTION fn_composite(status text) RETURNS mutation_response LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(status);
    RETURN ROW('said', status, '{"hint": "try again", "errors": [{"identifier": "one"}, {"identifier": "two"}]}')::mutation_response;
END $$;
CREATE FUNCTION fn_document(status text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(status);
    RETURN jsonb_build_object('status', status, 'message', 'said');
END $$;
CREATE FUNCTION fn_text(status text) RETURNS json LANGUAGE sql AS 'SELECT note(status); SELECT fn_document(status)::json';
CREATE FUNCTION fn_domain(status text) RETURNS response LANGUAGE sql AS 'SELECT fn_document(status)';
CREATE FUNCTION fn_parameters(INOUT status text, OUT message text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(status);
END $$;
CREATE FUNCTION fn_rows(status text) RETURNS SETOF mutation_response LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(status);
    RETURN NEXT fn_composite(status);
    RETURN NEXT fn_composite('created');
END $$;
CREATE FUNCTION fn_list(status text) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(status);
    RETURN QUERY SELECT jsonb_build_object('id', i, 'status', status) FROM generate_series(1, 3) i;
END $$;
CREATE FUNCTION fn_number(status text) RETURNS int LANGUAGE sql AS 'SELECT note(status); SELECT 7';
CREATE FUNCTION fn_order(status text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(status);
    RETURN CASE WHEN status LIKE '%:%' THEN jsonb_build_object('status', status)
        ELSE jsonb_build_object('id', 1, 'status', status) END;
END $$;"#;

async fn app(has_session: bool) -> (App, TestDatabase) {
    let database = TestDatabase::copy_of("rollback", SQL).await;
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url())
        .queries(queries![nothing])
        .mutations(mutations![
            composite, document, text, parameters, rows, domain, plain, order, order_only, number,
            anything
        ])
        .mutations(mutations![kept, kept_plain, undone, list, called]);
    let variables = SessionVariables::new().with("app.who", |_| Some("ada".to_owned()));
    (
        App::serve(if has_session {
            options.session_variables(variables)
        } else {
            options
        })
        .await,
        database,
    )
}

async fn take(database: &TestDatabase) -> i64 {
    database
        .value("WITH gone AS (DELETE FROM tb_note RETURNING 1) SELECT count(*) FROM gone")
        .await
}

const ERROR: &str =
    "{ __typename ... on NoteError { status message code errors { identifier code } } }";

async fn run(app: &App, field: &str, status: &str, selection: &str) -> svc_tests::Reply {
    app.query_with(
        &format!("mutation ($s: String!) {{ it: {field}(status: $s) {selection} }}"),
        json!({ "s": status }),
    )
    .await
}

#[tokio::test]
async fn a_failing_status_undoes_the_call() {
    for has_session in [false, true] {
        let (app, database) = app(has_session).await;
        for field in [
            "composite",
            "document",
            "text",
            "parameters",
            "rows",
            "domain",
            "undone",
        ] {
            let reply = run(&app, field, "conflict:x", ERROR).await;
            let it = reply.data()["it"].clone();
            assert_eq!(
                (&it["__typename"], &it["code"]),
                (&json!("NoteError"), &json!(409)),
                "{field}: {}",
                reply.text
            );
            assert_eq!(take(&database).await, 0, "{field}");
            for status in ["created", " OK \n", "Success"] {
                let reply = run(&app, field, status, "{ __typename }").await;
                assert_eq!(
                    reply.data()["it"]["__typename"],
                    "NoteSuccess",
                    "{field}: {}",
                    reply.text
                );
                assert!(take(&database).await > 0, "{field} {status}");
            }
        }
        let pool = database.pool().await;
        run(&app, "document", "created", "{ __typename }")
            .await
            .data();
        let who: Option<String> = svc::sqlx::query_scalar("SELECT who FROM tb_note")
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(
            who.filter(|who| !who.is_empty()).as_deref(),
            has_session.then_some("ada")
        );
    }
}

#[tokio::test]
async fn all_errors_of_a_failed_call_are_returned() {
    let (app, database) = app(false).await;
    let selection =
        "{ ... on NoteError { status message hint errors { identifier code message } } }";
    let reply = run(&app, "composite", "validation:", selection).await;
    let one =
        |identifier: &str| json!({ "identifier": identifier, "code": 422, "message": "said" });
    assert_eq!(
        reply.data()["it"],
        json!({ "status": "validation:", "message": "said", "hint": "try again", "errors": [one("one"), one("two")] })
    );
    assert_eq!(take(&database).await, 0);
}

#[tokio::test]
async fn on_failure_commit_keeps_writes_of_a_failed_call() {
    let (app, database) = app(false).await;
    assert_eq!(
        run(&app, "kept", "unauthorized:x", ERROR).await.data()["it"]["code"],
        401
    );
    assert_eq!(take(&database).await, 1);
    let reply = run(&app, "keptPlain", "timeout:x", "{ id }").await;
    assert_eq!(
        (reply.code().as_str(), reply.message().as_str()),
        ("TIMEOUT", "said")
    );
    assert_eq!(reply.json()["errors"][0]["extensions"]["mutation"], "DONE");
    assert_eq!(take(&database).await, 1);
    for (keep, rows) in [(true, 1), (false, 0)] {
        let reply = app
            .query(&format!(
                "mutation {{ called(status: \"conflict:x\", keep: {keep}) {{ id }} }}"
            ))
            .await;
        assert_eq!(reply.code(), "CONFLICT", "{}", reply.text);
        assert_eq!(
            reply.json()["errors"][0]["extensions"]["mutation"],
            if keep { "DONE" } else { "NOT_DONE" }
        );
        assert_eq!(take(&database).await, rows);
    }
}

#[tokio::test]
async fn a_status_without_a_meaning_undoes_the_call() {
    let (app, database) = app(false).await;
    for status in ["done", "", "updated:name", "ok\u{a0}"] {
        for field in ["document", "composite", "plain", "undone"] {
            let reply = run(&app, field, status, "{ __typename }").await;
            assert_eq!(reply.code(), "INTERNAL_SERVER_ERROR", "{}", reply.text);
            assert_eq!(
                reply.json()["errors"][0]["extensions"]["mutation"],
                "NOT_DONE"
            );
            assert_eq!(take(&database).await, 0, "{field} {status:?}");
        }
    }
    let reply = run(&app, "kept", "done", "{ __typename }").await;
    assert_eq!(
        (reply.code().as_str(), take(&database).await),
        ("NOT_READ", 1),
        "{}",
        reply.text
    );
}

/// An answer that only looks like a status is none.
#[tokio::test]
async fn an_entity_with_a_status_of_its_own_is_kept() {
    let (app, database) = app(false).await;
    let selection = "{ ... on OrderSuccess { order { status } } ... on OrderError { code } }";
    assert_eq!(
        run(&app, "order", "open", selection).await.data()["it"],
        json!({ "order": { "status": "open" } })
    );
    assert_eq!(take(&database).await, 1);
    assert_eq!(
        run(&app, "orderOnly", "open", "{ status }").await.data()["it"],
        json!({ "status": "open" })
    );
    assert_eq!(take(&database).await, 1);
    assert_eq!(
        run(&app, "order", "conflict:x", selection).await.data()["it"],
        json!({ "code": 409 })
    );
    assert_eq!(take(&database).await, 0);
    let reply = run(&app, "anything", "conflict:x", "").await;
    assert_eq!(
        (reply.code().as_str(), take(&database).await),
        ("CONFLICT", 0),
        "{}",
        reply.text
    );
    let listed = run(&app, "list", "conflict:x", "{ id }").await.data();
    assert_eq!(
        (listed["it"].as_array().map(Vec::len), take(&database).await),
        (Some(3), 1)
    );
}

/// No second round trip: the function's statement is all that is sent.
#[tokio::test]
async fn a_call_is_one_statement() {
    let (app, database) = app(false).await;
    for status in ["created", "conflict:x"] {
        run(&app, "document", status, "{ __typename }").await.data();
    }
    let pool = database.pool().await;
    svc::sqlx::raw_sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        .execute(&pool)
        .await
        .unwrap();
    for word in ["BEGIN", "COMMIT", "ROLLBACK"] {
        let count: i64 = svc::sqlx::query_scalar(
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements \
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND upper(query) = $1",
        )
        .bind(word)
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!(count, 0, "{word}");
    }
    // PostgreSQL does not count the one that raises.
    let checked = database.statements("generate_series").await;
    assert_eq!(checked, 1);
    // Where the type of the answer has no status there is nothing to look at.
    run(&app, "number", "conflict:x", "").await.data();
    assert_eq!(
        (
            database.statements("generate_series").await,
            take(&database).await
        ),
        (checked, 2)
    );
    assert_ne!(app.query("{ nothing }").await.data(), Value::Null);
}
