//! Settings that a function makes for the session, which do not reach the next request.

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::serde_json::json as value;
use svc::{DatabaseConfig, OnFailure, Operation, SvcConfig, sqlx};
use svc_tests::{App, TestDatabase, eventually};

#[svc_type(sql_source = "v_session")]
struct SessionState {
    user_id: Option<String>,
    path: String,
    role: String,
    plans: String,
    isolation: String,
    locks: i64,
    cursors: i64,
    channels: i64,
}

#[svc_type(sql_source = "v_prepared")]
struct Prepared {
    statements: i64,
}

#[svc::query]
async fn sessions() -> Vec<SessionState>;
#[svc::query]
async fn prepared() -> Vec<Prepared>;
#[svc::query]
async fn own_session(ctx: &Context<'_>) -> Result<Vec<SessionState>> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    let state = tx.rows(ctx.db().find::<SessionState>()).await?;
    tx.commit().await?;
    Ok(state)
}
#[svc::query]
async fn queried(ctx: &Context<'_>) -> Result<bool> {
    ctx.db().call("leave", []).await
}

#[svc::mutation(function = "leave")]
async fn leave() -> bool;
#[svc::mutation(function = "leave_and_fail")]
async fn leave_and_fail() -> bool;
#[svc::mutation(function = "leave_and_raise")]
async fn leave_and_raise() -> bool;
#[svc::mutation(function = "remember")]
async fn remember() -> bool;
#[svc::mutation]
async fn called(ctx: &Context<'_>) -> Result<bool> {
    ctx.db().call_with(OnFailure::Commit, "leave", []).await
}
#[svc::mutation]
async fn executed(ctx: &Context<'_>, keep: bool) -> Result<bool> {
    let mut tx = ctx.db().transaction().await?;
    tx.execute("SELECT leave()", []).await?;
    if keep {
        tx.commit().await.map(|()| true)
    } else {
        tx.rollback().await.map(|()| true)
    }
}
#[svc::mutation]
async fn dropped(ctx: &Context<'_>) -> Result<bool> {
    let mut tx = ctx.db().transaction().await?;
    tx.call::<bool>("leave", [value!(null); 0]).await
}
#[svc::mutation]
async fn own_sql(ctx: &Context<'_>) -> Result<bool> {
    let mut tx = ctx.db().sqlx_transaction().await?;
    sqlx::query("SELECT leave()").execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(true)
}
#[svc::mutation]
async fn own_pool(ctx: &Context<'_>) -> Result<bool> {
    sqlx::query("SELECT leave()")
        .execute(ctx.db().pool())
        .await?;
    Ok(true)
}

const SQL: &str = r"
    DO $$ BEGIN
        CREATE ROLE r19_app LOGIN; CREATE ROLE r19_other; CREATE ROLE r19_start; GRANT r19_other, r19_start TO r19_app;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
    CREATE SCHEMA other;
    CREATE VIEW v_session AS SELECT nullif(current_setting('app.user_id', true), '') AS user_id,
        current_setting('search_path') AS path, current_user::text AS role,
        current_setting('plan_cache_mode') AS plans, current_setting('default_transaction_isolation') AS isolation,
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
        (SELECT count(*) FROM pg_cursors WHERE is_holdable) AS cursors,
        (SELECT count(*) FROM pg_listening_channels()) AS channels;
    CREATE VIEW v_prepared AS SELECT count(*) AS statements FROM pg_prepared_statements;
    CREATE FUNCTION leave() RETURNS bool LANGUAGE plpgsql AS $$
    BEGIN
        CREATE TEMP TABLE IF NOT EXISTS v_session AS SELECT 'temporary' AS user_id, 'temporary' AS path,
            'temporary' AS role, '' AS plans, '' AS isolation, 0::bigint AS locks, 0::bigint AS cursors, 0::bigint AS channels;
        PERFORM pg_advisory_lock(42);
        EXECUTE 'DECLARE left_open CURSOR WITH HOLD FOR SELECT 1';
        EXECUTE 'LISTEN somewhere';
        PERFORM set_config('app.user_id', 'mallory', false), set_config('plan_cache_mode', 'force_generic_plan', false),
            set_config('default_transaction_isolation', 'serializable', false);
        SET search_path = other;
        SET ROLE r19_other;
        RETURN true;
    END $$;
    CREATE FUNCTION remember() RETURNS bool LANGUAGE sql AS
        $$ SELECT set_config('app.user_id', 'mallory', false) IS NOT NULL $$;
    CREATE FUNCTION leave_and_fail() RETURNS jsonb LANGUAGE sql AS
        $$ SELECT leave(); SELECT jsonb_build_object('status', 'failed:conflict') $$;
    CREATE FUNCTION leave_and_raise() RETURNS bool LANGUAGE plpgsql AS
        $$ BEGIN PERFORM leave(); RAISE EXCEPTION 'no'; END $$;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO r19_app, r19_other, r19_start;";

/// A service with one connection for each driver, so that each request has the one that was used
/// before.
async fn serve(url: String, has_session: bool) -> App {
    serve_with(
        DatabaseConfig {
            url: Some(url),
            ..DatabaseConfig::default()
        },
        has_session,
    )
    .await
}

async fn serve_with(database: DatabaseConfig, has_session: bool) -> App {
    let config = SvcConfig {
        database: DatabaseConfig {
            pool_size: 1,
            ..database
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .queries(queries![sessions, own_session, prepared, queried])
        .mutations(mutations![
            leave,
            remember,
            leave_and_fail,
            leave_and_raise,
            called,
            executed,
            dropped,
            own_sql,
            own_pool
        ])
        .operations([Operation::new("mutation Registered { leave }")
            .sql("SELECT to_jsonb(leave()) AS leave")]);
    let variables = SessionVariables::new().with("app.other", |_| Some("set".to_owned()));
    App::serve(if has_session {
        options.session_variables(variables)
    } else {
        options
    })
    .await
}

const STATE: &str = "{ user_id path role plans isolation locks cursors channels }";

async fn state(app: &App) -> Value {
    let reply = app
        .query(&format!(
            "{{ sessions {STATE} own_session {STATE} prepared {{ statements }} }}"
        ))
        .await;
    let mut data = reply.data();
    let prepared = data.as_object_mut().unwrap().remove("prepared").unwrap();
    assert!(
        prepared[0]["statements"].as_i64().unwrap() > 0,
        "{prepared}"
    );
    data
}

fn of_role(role: &str) -> Value {
    let one = json!([{
        "user_id": null, "path": "\"$user\", public", "role": role, "plans": "auto", "isolation": "read committed",
        "locks": 0, "cursors": 0, "channels": 0,
    }]);
    json!({ "sessions": one.clone(), "own_session": one })
}

fn app_url(database: &TestDatabase) -> String {
    database
        .url()
        .replace("postgres://postgres@", "postgres://r19_app@")
}

#[tokio::test]
async fn settings_of_a_function_are_reset_before_the_next_request() {
    let database = TestDatabase::new(SQL).await;
    for has_session in [false, true] {
        let app = serve(app_url(&database), has_session).await;
        assert_eq!(state(&app).await, of_role("r19_app"));
        for (run, data) in [
            ("mutation { leave }", json!({ "leave": true })),
            ("mutation { leave_and_fail }", Value::Null),
            ("mutation { leave_and_raise }", Value::Null),
            ("mutation { called }", json!({ "called": true })),
            (
                "mutation { executed(keep: true) }",
                json!({ "executed": true }),
            ),
            (
                "mutation { executed(keep: false) }",
                json!({ "executed": true }),
            ),
            ("mutation { dropped }", json!({ "dropped": true })),
            ("mutation { own_sql }", json!({ "own_sql": true })),
            ("mutation { own_pool }", json!({ "own_pool": true })),
            ("{ queried }", json!({ "queried": true })),
            ("mutation Registered { leave }", json!({ "leave": true })),
        ] {
            let reply = app.query(run).await;
            assert_eq!(reply.json()["data"], data, "{run}: {}", reply.text);
            assert_eq!(
                state(&app).await,
                of_role("r19_app"),
                "after {run}, with variables: {has_session}"
            );
        }
    }
}

/// A session begins with the role of the URL.
#[tokio::test]
async fn a_role_set_by_the_url_survives_the_reset() {
    let database = TestDatabase::new(SQL).await;
    let url = format!("{}&options=-c%20role%3Dr19_start", app_url(&database));
    let app = serve(url, false).await;
    assert_eq!(state(&app).await, of_role("r19_start"));
    for run in ["mutation { leave }", "mutation { own_sql }"] {
        app.query(run).await;
        assert_eq!(state(&app).await, of_role("r19_start"), "after {run}");
    }
}

#[tokio::test]
async fn a_disabled_reset_keeps_settings() {
    let database = TestDatabase::new(SQL).await;
    for (reset_session, left) in [
        (None, Value::Null),
        (Some(true), Value::Null),
        (Some(false), json!("mallory")),
    ] {
        for has_session in [false, true] {
            let url = Some(app_url(&database));
            let config = DatabaseConfig {
                url,
                reset_session,
                ..DatabaseConfig::default()
            };
            let app = serve_with(config, has_session).await;
            app.query("mutation { remember }").await.data();
            let found = app.query("{ sessions { user_id } }").await.data();
            assert_eq!(
                found["sessions"][0]["user_id"], left,
                "reset: {reset_session:?}, variables: {has_session}"
            );
        }
    }
}

#[svc::mutation(function = "count_up")]
async fn count_up() -> i64;

#[tokio::test]
async fn calls_need_no_reset_if_no_function_changes_settings() {
    let harmless = "CREATE VIEW v_prepared AS SELECT 0::bigint AS statements;
        CREATE TABLE tb_n AS SELECT 0::bigint AS n;
        CREATE FUNCTION count_up() RETURNS bigint LANGUAGE sql AS $$ UPDATE tb_n SET n = n + 1 RETURNING n $$;";
    let setting =
        "CREATE FUNCTION other() RETURNS void LANGUAGE plpgsql AS $$ BEGIN SET ROLE none; END $$;";
    for (reset_session, has_setting, resets) in [
        (None, false, false),
        (None, true, true),
        (Some(true), false, true),
        (Some(false), true, false),
    ] {
        let database = TestDatabase::new(&format!(
            "{harmless}{}",
            if has_setting { setting } else { "" }
        ))
        .await;
        let config = DatabaseConfig {
            url: Some(database.url()),
            reset_session,
            ..DatabaseConfig::default()
        };
        let options = AppOptions::new()
            .queries(queries![prepared])
            .mutations(mutations![count_up]);
        let app = App::serve(options.config(SvcConfig {
            database: config,
            ..SvcConfig::default()
        }))
        .await;
        assert_eq!(
            app.query("mutation { count_up }").await.data(),
            json!({ "count_up": 1 })
        );
        let number = database.statements("RESET SESSION AUTHORIZATION").await;
        assert_eq!(
            number,
            i64::from(resets),
            "{reset_session:?}, {has_setting}"
        );
    }
}

#[tokio::test]
async fn a_function_that_starts_to_change_settings_is_detected() {
    let database = TestDatabase::new(
        "CREATE VIEW v_session AS SELECT nullif(current_setting('app.user_id', true), '') AS user_id, '' AS path,
            '' AS role, '' AS plans, '' AS isolation, 0::bigint AS locks, 0::bigint AS cursors, 0::bigint AS channels;
        CREATE FUNCTION remember() RETURNS bool LANGUAGE sql AS $$ SELECT true $$;",
    )
    .await;
    let config = DatabaseConfig {
        url: Some(database.url()),
        pool_size: 1,
        ..DatabaseConfig::default()
    };
    let options = AppOptions::new()
        .queries(queries![sessions])
        .mutations(mutations![remember]);
    let app = App::serve(options.config(SvcConfig {
        database: config,
        ..SvcConfig::default()
    }))
    .await;
    app.query("mutation { remember }").await.data();
    database
        .execute(
            "CREATE OR REPLACE FUNCTION remember() RETURNS bool LANGUAGE sql AS
                $$ SELECT set_config('app.user_id', 'mallory', false) IS NOT NULL $$",
        )
        .await;
    eventually(async || {
        app.query("mutation { remember }").await.data();
        let found = app.query("{ sessions { user_id } }").await;
        if found.json()["data"]["sessions"][0]["user_id"].is_null() {
            Ok(())
        } else {
            Err(found.text)
        }
    })
    .await;
}

#[svc_type(sql_source = "v_number")]
struct Number {
    n: i64,
}

#[svc::query]
async fn numbers() -> Vec<Number>;
#[svc::mutation(function = "plans")]
async fn plans() -> String;
#[svc::mutation]
async fn plans_in_transaction(ctx: &Context<'_>) -> Result<String> {
    let mut tx = ctx.db().transaction().await?;
    let mode = tx.call("plans", [value!(null); 0]).await?;
    tx.commit().await.map(|()| mode)
}

/// A range is planned for its values; statements of a function called next are not.
#[tokio::test]
async fn range_reads_do_not_change_the_plan_mode_of_functions() {
    let database = TestDatabase::new(
        "CREATE VIEW v_number AS SELECT n FROM generate_series(1::bigint, 9) AS n;
        CREATE FUNCTION plans() RETURNS text LANGUAGE sql AS $$ SELECT current_setting('plan_cache_mode') $$;",
    )
    .await;
    for has_session in [false, true] {
        let config = DatabaseConfig {
            url: Some(database.url()),
            pool_size: 1,
            ..DatabaseConfig::default()
        };
        let options = AppOptions::new()
            .config(SvcConfig {
                database: config,
                ..SvcConfig::default()
            })
            .queries(queries![numbers])
            .mutations(mutations![plans, plans_in_transaction]);
        let variables = SessionVariables::new().with("app.other", |_| Some("set".to_owned()));
        let app = App::serve(if has_session {
            options.session_variables(variables)
        } else {
            options
        })
        .await;
        for mutation in ["plans", "plans_in_transaction"] {
            assert_eq!(
                app.query("{ numbers(where: {n: {gt: 7}}) { n } }")
                    .await
                    .data()["numbers"][1]["n"],
                9
            );
            let data = app
                .query(&format!("mutation {{ {mutation} }}"))
                .await
                .data();
            assert_eq!(
                data,
                json!({ mutation: "auto" }),
                "with variables: {has_session}"
            );
        }
    }
}
