//! Errors of a resolver's own SQL are reported like errors of calls.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{Constraint, sqlx};
use svc_tests::{App, TestDatabase};

#[svc::query]
fn nothing() -> bool {
    true
}

#[svc::mutation(function = "fn_add")]
async fn called(name: Option<String>, age: i32) -> i32;

#[svc::mutation]
async fn in_transaction(ctx: &Context<'_>, name: Option<String>, age: i32) -> Result<i32> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute("SELECT fn_add($1, $2)", [json!(name), json!(age)])
        .await?;
    tx.commit().await?;
    Ok(1)
}

#[svc::mutation]
async fn in_sqlx(ctx: &Context<'_>, name: Option<String>, age: i32) -> Result<i32> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    sqlx::query("SELECT fn_add($1, $2)")
        .bind(name)
        .bind(age)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(1)
}

#[svc::mutation]
async fn in_pool(ctx: &Context<'_>, name: Option<String>, age: i32) -> Result<i32> {
    sqlx::query("SELECT fn_add($1, $2)")
        .bind(name)
        .bind(age)
        .execute(ctx.db().pool())
        .await?;
    Ok(1)
}

const SQL: &str = r#"
CREATE TABLE tb_person (name text NOT NULL CONSTRAINT once UNIQUE, age int CONSTRAINT grown CHECK (age > 0), mail text NOT NULL DEFAULT '');
CREATE FUNCTION fn_add(name text, age int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF age = 99 THEN RAISE EXCEPTION 'too old' USING HINT = 'be younger'; END IF;
    INSERT INTO tb_person (name, age, mail) VALUES (name, age, CASE WHEN age = 7 THEN NULL ELSE '' END);
    RETURN 1;
END $$;"#;

async fn app() -> App {
    let database = TestDatabase::new(SQL).await;
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url())
        .constraint(
            Constraint::new("once", "this name is taken")
                .field("name")
                .identifier("name_taken"),
        )
        .constraint(Constraint::new("grown", "an age is above zero"))
        .constraint(
            Constraint::new("tb_person.name", "a person has a name").identifier("name_needed"),
        );
    App::serve(options.queries(queries![nothing]).mutations(mutations![
        called,
        in_transaction,
        in_sqlx,
        in_pool
    ]))
    .await
}

#[tokio::test]
async fn calls_and_own_sql_report_the_same_errors() {
    let app = app().await;
    assert_eq!(
        app.query("mutation { called(name: \"Ada\", age: 1) }")
            .await
            .data(),
        json!({ "called": 1 })
    );
    for (arguments, code, status, message) in [
        (
            "name: \"Ada\", age: 1",
            "CONFLICT",
            json!("conflict:name_taken"),
            "this name is taken",
        ),
        (
            "name: \"Bea\", age: 0",
            "BAD_USER_INPUT",
            json!("validation:grown"),
            "an age is above zero",
        ),
        (
            "age: 1",
            "BAD_USER_INPUT",
            json!("validation:name_needed"),
            "a person has a name",
        ),
        (
            "name: \"Bea\", age: 99",
            "BAD_USER_INPUT",
            json!("failed:raised"),
            "too old",
        ),
        // No message was declared for it.
        (
            "name: \"Bea\", age: 7",
            "INTERNAL_SERVER_ERROR",
            Value::Null,
            "internal server error",
        ),
    ] {
        // What may be committed on the pool is not known.
        let is_told = message != "internal server error";
        for field in ["called", "inTransaction", "inSqlx", "inPool"]
            .into_iter()
            .filter(|field| is_told || *field != "inPool")
        {
            let reply = app
                .query(&format!("mutation {{ {field}({arguments}) }}"))
                .await;
            assert_eq!(
                (reply.code().as_str(), reply.message().as_str()),
                (code, message),
                "{field}: {}",
                reply.text
            );
            let extensions = &reply.json()["errors"][0]["extensions"];
            assert_eq!(extensions["status"], status, "{field}: {}", reply.text);
            let effect = if field == "inPool" {
                "UNKNOWN"
            } else {
                "NOT_DONE"
            };
            assert_eq!(extensions["mutation"], effect, "{field}: {}", reply.text);
        }
    }
}
