//! Settings that a field makes for the rest of its transaction, which do not reach other fields.

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_state")]
struct State {
    id: i32,
    role: String,
    mark: String,
    user_id: String,
    tables: i64,
}

#[svc_type(sql_source = "v_row")]
struct Row {
    id: i32,
}

/// Its rows set a value when they are read.
#[svc_type(sql_source = "v_marking")]
struct Marking {
    id: i32,
    mark: String,
}

#[svc_input]
struct NewRow {
    id: i32,
}

#[svc::query]
async fn states() -> Vec<State>;

#[svc::query]
async fn markings() -> Vec<Marking>;

#[svc::mutation(function = "leave", atomic)]
async fn leave(new_mark: String) -> Option<State>;

#[svc::mutation(insert = "tb_row", atomic)]
async fn create_row(input: NewRow) -> Option<Row>;

/// The settings of a transaction last until its end.
#[svc::mutation(atomic)]
async fn in_body(ctx: &Context<'_>) -> Result<Option<State>> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute("SET LOCAL ROLE pg_read_all_data", []).await?;
    tx.execute("SELECT set_config('app.mark', 'body', true)", [])
        .await?;
    let query = ctx.db().find_one::<State>().filter(col("id").eq(1));
    let within = tx.row(query).await?;
    tx.commit().await?;
    if within.is_none_or(|within| within.mark != "body") {
        return Err(Error::internal("the transaction has lost its settings"));
    }
    ctx.db().find_one::<State>().filter(col("id").eq(1)).await
}

#[svc::mutation(atomic)]
async fn leave_in_body(ctx: &Context<'_>) -> Result<Option<State>> {
    let _state: State = ctx.db().call("leave", [json!("called")]).await?;
    ctx.db().find_one::<State>().filter(col("id").eq(1)).await
}

#[svc::mutation(atomic)]
async fn call_after_read(ctx: &Context<'_>) -> Result<Option<String>> {
    ctx.db().find::<Marking>().await?;
    let mark: String = ctx.db().call("mark", []).await?;
    Ok(Some(mark))
}

const SQL: &str = "
CREATE TABLE tb_row (id int PRIMARY KEY);
CREATE VIEW v_row AS SELECT id FROM tb_row;
CREATE VIEW v_state AS SELECT 1 AS id, current_user::text AS role,
    coalesce(current_setting('app.mark', true), '') AS mark,
    coalesce(current_setting('app.user_id', true), '') AS user_id,
    (SELECT count(*) FROM pg_class WHERE relname = 'left_behind' AND pg_table_is_visible(oid)) AS tables;
CREATE VIEW v_marking AS SELECT 1 AS id, set_config('app.mark', 'read', true) AS mark;
CREATE FUNCTION mark() RETURNS text LANGUAGE sql STABLE
    AS 'SELECT coalesce(current_setting(''app.mark'', true), '''')';
CREATE FUNCTION leave(new_mark text) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
    CREATE TEMPORARY TABLE left_behind (id int);
    PERFORM set_config('app.mark', new_mark, true), set_config('app.user_id', 'another', true);
    SET LOCAL ROLE pg_read_all_data;
    RETURN jsonb_build_object('status', 'success', 'entity_id', '1');
END $$;";

#[tokio::test]
async fn fields_see_no_settings_of_each_other() {
    let database = TestDatabase::new(SQL).await;
    let variables = SessionVariables::new().with("app.user_id", |_| Some("me".to_owned()));
    let options = AppOptions::new()
        .auto_camel_case(true)
        .database_url(database.url())
        .session_variables(variables)
        .queries(queries![states, markings])
        .mutations(mutations![
            leave,
            create_row,
            in_body,
            leave_in_body,
            call_after_read
        ]);
    let app = App::serve(options).await;
    let states = app.query("{ states { role } }").await.data();
    let role = &states["states"][0]["role"];
    assert_ne!(*role, json!("pg_read_all_data"));
    assert_ne!(*role, Value::Null);
    for (directive, id) in [("", 1), ("@atomic", 2)] {
        let fields = "{ role mark userId tables }";
        let query = format!(
            r#"mutation {directive} {{
                called: leave(newMark: "one") {fields}
                again: leave(newMark: "two") {fields}
                body: inBody {fields}
                called_in_body: leaveInBody {fields}
                after_read: callAfterRead
                row: createRow(input: {{id: {id}}}) {{ id }}
            }}"#
        );
        let state = json!({"role": role, "mark": "", "userId": "me", "tables": 0});
        let expected = json!({
            "called": state,
            "again": state,
            "body": state,
            "called_in_body": state,
            "after_read": "",
            "row": {"id": id},
        });
        assert_eq!(app.query(&query).await.data(), expected, "{query}");
    }
}
