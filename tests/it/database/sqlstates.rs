//! The meaning of each SQLSTATE, on each way to the database.

use serde_json::json;
use svc::prelude::*;
use svc::{SvcConfig, sqlx};
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_item")]
struct Item {
    id: i32,
    name: String,
    told: String,
}

#[svc_input]
struct ItemInput {
    name: String,
}

#[svc::query]
async fn items() -> Vec<Item>;
#[svc::mutation(function = "fails")]
async fn fails(state: String) -> String;
#[svc::mutation(insert = "tb_item")]
async fn add_item(input: ItemInput) -> Item;
#[svc::mutation]
async fn in_transaction(ctx: &Context<'_>, state: String) -> Result<String> {
    let mut tx = ctx.db().transaction().await?;
    tx.call::<String>("fails", [json!(state)]).await?;
    tx.commit().await?;
    Ok(String::new())
}
#[svc::mutation]
async fn in_sqlx(ctx: &Context<'_>, state: String) -> Result<String> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let found = sqlx::query_scalar("SELECT fails($1)")
        .bind(state)
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(found)
}

/// A function, a view and a trigger that raise the SQLSTATE they are given.
const SQL: &str = "
    CREATE FUNCTION fails(state text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'a secret of tb_item' USING ERRCODE = state;
    END $$;
    CREATE TABLE tb_item (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
    CREATE VIEW v_item AS SELECT id, name, CASE WHEN name ~ '^#' THEN fails(substr(name, 2)) ELSE '' END AS told FROM tb_item;
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF new.name ~ '^!' THEN PERFORM fails(substr(new.name, 2)); END IF;
        RETURN new;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON tb_item FOR EACH ROW EXECUTE FUNCTION refuse();";

/// The codes of conditions that a client or an operator causes, from PostgreSQL's list, and of some
/// that a program does.
const STATES: [(&str, &str); 40] = [
    ("08000", "SERVICE_UNAVAILABLE"),
    ("08001", "SERVICE_UNAVAILABLE"),
    ("08006", "SERVICE_UNAVAILABLE"),
    ("25006", "SERVICE_UNAVAILABLE"),
    ("25P03", "TIMEOUT"),
    ("25P04", "TIMEOUT"),
    ("40001", "CONFLICT"),
    ("40P01", "CONFLICT"),
    ("42501", "FORBIDDEN"),
    ("53000", "SERVICE_UNAVAILABLE"),
    ("53100", "SERVICE_UNAVAILABLE"),
    ("53200", "SERVICE_UNAVAILABLE"),
    ("53400", "SERVICE_UNAVAILABLE"),
    ("54000", "BAD_USER_INPUT"),
    ("55000", "SERVICE_UNAVAILABLE"),
    ("55006", "CONFLICT"),
    ("55P03", "CONFLICT"),
    ("55P04", "SERVICE_UNAVAILABLE"),
    ("57000", "SERVICE_UNAVAILABLE"),
    ("57014", "TIMEOUT"),
    ("58000", "SERVICE_UNAVAILABLE"),
    ("58030", "SERVICE_UNAVAILABLE"),
    ("72000", "CONFLICT"),
    ("HV000", "SERVICE_UNAVAILABLE"),
    ("HV00J", "SERVICE_UNAVAILABLE"),
    ("HV00L", "SERVICE_UNAVAILABLE"),
    ("HV00N", "SERVICE_UNAVAILABLE"),
    ("0A000", "INTERNAL_SERVER_ERROR"),
    ("21000", "INTERNAL_SERVER_ERROR"),
    ("22012", "INTERNAL_SERVER_ERROR"),
    ("22P02", "INTERNAL_SERVER_ERROR"),
    ("23505", "INTERNAL_SERVER_ERROR"),
    ("23514", "INTERNAL_SERVER_ERROR"),
    ("38000", "INTERNAL_SERVER_ERROR"),
    ("3F000", "INTERNAL_SERVER_ERROR"),
    ("42601", "INTERNAL_SERVER_ERROR"),
    ("42703", "INTERNAL_SERVER_ERROR"),
    ("42P01", "INTERNAL_SERVER_ERROR"),
    ("P0003", "INTERNAL_SERVER_ERROR"),
    ("XX000", "INTERNAL_SERVER_ERROR"),
];

async fn serve(environment: svc::Environment) -> (App, TestDatabase) {
    let database = TestDatabase::new(SQL).await;
    let rows: String = STATES.map(|(state, _)| format!("('#{state}')")).join(", ");
    database
        .execute(&format!("INSERT INTO tb_item (name) VALUES {rows}"))
        .await;
    let options = AppOptions::new()
        .config(SvcConfig {
            environment,
            ..SvcConfig::default()
        })
        .auto_camel_case(true)
        .database_url(database.url())
        .queries(queries![items]);
    (
        App::serve(options.mutations(mutations![fails, add_item, in_transaction, in_sqlx])).await,
        database,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn each_sqlstate_has_the_same_code_on_every_path() {
    let (app, _database) = serve(svc::Environment::Development).await;
    for (state, code) in STATES {
        for document in [
            format!("{{ items(where: {{name: {{eq: \"#{state}\"}}}}) {{ told }} }}"),
            format!("mutation {{ fails(state: \"{state}\") }}"),
            format!("mutation {{ addItem(input: {{name: \"!{state}\"}}) {{ id }} }}"),
            format!("mutation {{ inTransaction(state: \"{state}\") }}"),
            format!("mutation {{ inSqlx(state: \"{state}\") }}"),
        ] {
            // A table's rows that are given twice, and values that do not fit, are those of the
            // write itself.
            let is_own = (document.contains("addItem") && state == "21000")
                || (document.contains("inSqlx") && state == "54000");
            if is_own {
                continue;
            }
            let reply = app.query(&document).await;
            assert_eq!(reply.code(), code, "{document}: {}", reply.text);
            assert!(
                !reply.text.contains("secret") && !reply.text.contains("tb_item"),
                "{}",
                reply.text
            );
            let extensions = &reply.json()["errors"][0]["extensions"];
            let is_retryable =
                matches!(code, "SERVICE_UNAVAILABLE" | "CONFLICT") && !state.starts_with("08");
            if is_retryable && !document.contains("inSqlx") {
                assert_eq!(
                    extensions["retryable"],
                    json!(true),
                    "{document}: {}",
                    reply.text
                );
            }
        }
    }
}

#[tokio::test]
async fn the_sqlstate_is_shown_only_in_development() {
    for (environment, reason) in [
        (
            svc::Environment::Development,
            json!("SQLSTATE 22012; the log has the rest beside the `errorId`"),
        ),
        (svc::Environment::Production, json!(null)),
    ] {
        let (app, _database) = serve(environment).await;
        let reply = app.query("mutation { fails(state: \"22012\") }").await;
        assert_eq!(
            reply.json()["errors"][0]["extensions"]["reason"],
            reason,
            "{}",
            reply.text
        );
    }
}
