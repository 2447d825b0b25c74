//! A database that answers and refuses what the service needs is no database that is away: each
//! request says so.

use svc::db::AssertSqlSafe;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_mistaken")]
struct Row {
    id: i32,
}

#[svc::query]
async fn rows() -> Vec<Row>;
#[svc::query]
async fn row(id: i32) -> Option<Row>;

const VIEW: &str = "CREATE OR REPLACE VIEW v_mistaken AS SELECT 1 AS id;\n";

fn options(url: &str, environment: svc::Environment) -> AppOptions {
    let config = SvcConfig {
        environment,
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .database_url(url)
        .queries(queries![rows, row])
}

/// The answer to a query of a service whose database cannot be used.
#[track_caller]
fn refused(reply: &svc_tests::Reply, why: &str) {
    assert_eq!(reply.code(), "SERVICE_UNAVAILABLE", "{}", reply.text);
    assert!(reply.message().contains(why), "{}", reply.text);
    assert!(
        !reply.text.contains(".c"),
        "a source file of PostgreSQL: {}",
        reply.text
    );
}

#[tokio::test]
async fn a_missing_database_is_named_only_in_development() {
    let database = TestDatabase::new("").await;
    let url = database.url().replace(database.name(), "no_such_database");
    let app = App::serve(options(&url, svc::Environment::Development)).await;
    for query in ["{ rows { id } }", "{ row(id: 1) { id } }"] {
        refused(
            &app.query(query).await,
            "database \"no_such_database\" does not exist",
        );
    }
    app.until_not_ready("no_such_database").await;

    let app = App::serve(options(&url, svc::Environment::Production)).await;
    let reply = app.query("{ rows { id } }").await;
    refused(&reply, "the database cannot be used");
    assert!(!reply.text.contains("no_such"), "{}", reply.text);
}

#[tokio::test]
async fn a_failing_set_up_names_its_line_or_statement() {
    for (mistake, why) in [
        (
            "CREATE TABLE tb_a (id int);\n\nCREAT TABLE tb_b ();",
            "line 4 of the set-up fails: syntax error at or near",
        ),
        (
            "CREATE VIEW v_b AS\n  SELECT id,\n    nme FROM v_mistaken;",
            "line 4 of the set-up fails: column \"nme\"",
        ),
        (
            "CREATE TABLE tb_a (id int);\nCREATE TABLE tb_a (id int);",
            "statement 3 of the set-up fails: relation \"tb_a\"",
        ),
        (
            "DO $$ BEGIN RAISE EXCEPTION 'not here' USING HINT = 'go away'; END $$",
            "set-up fails: not here; go away",
        ),
        (
            "SELECT 'ä€𝄞\n', nme FROM v_mistaken",
            "line 3 of the set-up fails: column \"nme\"",
        ),
    ] {
        let database = TestDatabase::new("").await;
        let options = options(&database.url(), svc::Environment::Development)
            .setup_sql(AssertSqlSafe(format!("{VIEW}{mistake}")));
        let app = App::serve(options).await;
        refused(&app.query("{ rows { id } }").await, why);
        app.until_not_ready(&why.replace('"', "\\\"")).await;
    }
}

#[tokio::test]
async fn a_service_recovers_once_its_set_up_succeeds() {
    let database = TestDatabase::new("").await;
    let setup = format!("{VIEW}INSERT INTO tb_elsewhere VALUES (1);");
    let options =
        options(&database.url(), svc::Environment::Development).setup_sql(AssertSqlSafe(setup));
    let app = App::serve(options).await;
    refused(
        &app.query("{ rows { id } }").await,
        "relation \"tb_elsewhere\" does not exist",
    );
    database.execute("CREATE TABLE tb_elsewhere (id int)").await;
    svc_tests::eventually(async || {
        let reply = app.query("{ rows { id } }").await;
        if reply.text == r#"{"data":{"rows":[{"id":1}]}}"# {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}
