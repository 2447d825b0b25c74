//! Policies of row-level security bind a service that sets session variables for them, or it says
//! which do not.

mod book;
mod functions;
mod log;
mod running;

use serde_json::json;
use svc::db::SessionVariables;
use svc::prelude::*;
use svc::{Environment, SvcConfig};
use svc_tests::{App, TestDatabase};

macro_rules! views {
    ($($view:literal $ty:ident $query:ident;)*) => {
        $(
            #[svc_type(sql_source = $view)]
            struct $ty {
                id: i32,
            }

            #[svc::query]
            async fn $query() -> Vec<$ty>;
        )*
    };
}

views! {
    "v_note" Note notes;
    "tb_note" Table tables;
    "v_plain" Plain plains;
    "v_outer" Outer outers;
    "v_over" Over overs;
    "v_nested" Nested nested;
    "v_stored" Stored stored;
    "v_part" Part parts;
    "v_off" Off offs;
    "v_fun" Fun funs;
    "v_open" Open opens;
}

#[svc::mutation(function = "count_all")]
async fn count_all() -> i64;

const SQL: &str = r"
    DO $$ BEGIN
        CREATE ROLE r17_owner LOGIN; CREATE ROLE r17_app LOGIN; CREATE ROLE r17_bypass LOGIN BYPASSRLS;
        CREATE ROLE r17_member LOGIN IN ROLE r17_owner;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
    CREATE TABLE tb_note (id int PRIMARY KEY, tenant text, price numeric);
    CREATE INDEX ON tb_note (tenant);
    INSERT INTO tb_note VALUES (1, 'a'), (2, 'b');
    ALTER TABLE tb_note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON tb_note USING (tenant = (SELECT current_setting('app.tenant', true)));
    ALTER TABLE tb_note OWNER TO r17_owner;

    CREATE VIEW v_note WITH (security_invoker = true) AS SELECT id FROM tb_note;
    CREATE VIEW v_plain AS SELECT id FROM tb_note WHERE id > 0;
    ALTER VIEW v_plain OWNER TO r17_owner;
    CREATE VIEW v_outer WITH (security_invoker = on) AS SELECT id FROM (SELECT id FROM v_plain) AS inner_rows;
    CREATE VIEW v_over AS SELECT id FROM tb_note;
    CREATE VIEW v_nested AS SELECT id FROM v_note;
    CREATE MATERIALIZED VIEW m_note AS SELECT id FROM tb_note;
    CREATE VIEW v_stored WITH (security_invoker = true) AS SELECT id FROM m_note;
    CREATE VIEW v_open WITH (security_invoker = true) AS SELECT 1 AS id;

    CREATE TABLE tb_part (id int, tenant text) PARTITION BY LIST (tenant);
    CREATE TABLE tb_part_a PARTITION OF tb_part FOR VALUES IN ('a');
    ALTER TABLE tb_part_a ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON tb_part_a USING (tenant = (SELECT current_setting('app.tenant', true)));
    CREATE VIEW v_part WITH (security_invoker = true) AS SELECT id FROM tb_part;

    CREATE TABLE tb_off (id int, tenant text);
    CREATE POLICY tenant ON tb_off USING (tenant = current_setting('app.tenant', true));
    CREATE VIEW v_off WITH (security_invoker = true) AS SELECT id FROM tb_off;

    CREATE FUNCTION all_ids() RETURNS SETOF int SECURITY DEFINER LANGUAGE sql AS 'SELECT id FROM tb_note';
    CREATE FUNCTION count_all() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS 'SELECT count(*) FROM tb_note';
    CREATE VIEW v_fun WITH (security_invoker = true) AS SELECT all_ids AS id FROM all_ids();
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO r17_app, r17_bypass, r17_owner;";

fn variables() -> SessionVariables {
    SessionVariables::new().header("app.tenant", "x-tenant")
}

fn production() -> AppOptions {
    AppOptions::new().config(SvcConfig {
        environment: Environment::Production,
        ..SvcConfig::default()
    })
}

fn url(database: &TestDatabase, role: &str) -> String {
    database
        .url()
        .replace("postgres://postgres@", &format!("postgres://{role}@"))
}

/// Why a service that runs as `role` does not start.
async fn refusal(database: &TestDatabase, role: &str, queries: svc::QueryList) -> Option<String> {
    let options = production()
        .database_url(url(database, role))
        .session_variables(variables())
        .queries(queries);
    create_svc_app(options)
        .await
        .err()
        .map(|error| error.to_string())
}

#[tokio::test]
async fn policies_that_do_not_bind_are_named_with_their_fix() {
    let database = TestDatabase::copy_of("row_security", SQL).await;
    let check = async |role: &str, queries, what: &str, fix: &str| {
        let refusal = refusal(&database, role, queries).await.expect(what);
        assert!(
            refusal.contains(&format!("  - {what}")),
            "{what}: {refusal}"
        );
        assert!(refusal.contains(&format!("; {fix}")), "{fix}: {refusal}");
    };
    let superuser =
        "`v_note` reads `tb_note` as `postgres`, as whom the service connects, a superuser";
    check(
        "postgres",
        queries![notes],
        superuser,
        "name an ordinary role in the database URL, or `.role(\"app\")`",
    )
    .await;
    check(
        "r17_bypass",
        queries![notes],
        "`v_note` reads `tb_note` as `r17_bypass`, as whom",
        "ALTER ROLE r17_bypass NOBYPASSRLS",
    )
    .await;
    let force = "ALTER TABLE tb_note FORCE ROW LEVEL SECURITY";
    check(
        "r17_owner",
        queries![notes],
        "`v_note` reads `tb_note` as `r17_owner`, as whom",
        force,
    )
    .await;
    check(
        "r17_member",
        queries![notes],
        "`v_note` reads `tb_note` as `r17_member`, as whom",
        force,
    )
    .await;
    check(
        "r17_owner",
        queries![tables],
        "`tb_note` is read as `r17_owner`, as whom",
        force,
    )
    .await;
    let invoker = "ALTER VIEW v_plain SET (security_invoker = true)";
    let through = |view| {
        format!(
            "`{view}` reads `tb_note` as `r17_owner`, who owns the view `v_plain`, who owns the table"
        )
    };
    check("r17_app", queries![plains], &through("v_plain"), invoker).await;
    check("r17_app", queries![outers], &through("v_outer"), invoker).await;
    let over = "`v_over` reads `tb_note` as `postgres`, who owns the view `v_over`, a superuser";
    check(
        "r17_app",
        queries![overs],
        over,
        "ALTER VIEW v_over SET (security_invoker = true)",
    )
    .await;
    check(
        "r17_app",
        queries![stored],
        "`v_stored` reads `tb_note` from the materialized view `m_note`",
        "read an ordinary view",
    )
    .await;
    check(
        "r17_app",
        queries![parts],
        "`v_part` reads `tb_part`, and the policies of its partitions are not asked",
        "give tb_part the",
    )
    .await;
    check(
        "r17_app",
        queries![offs],
        "`v_off` reads `tb_off`, whose policies are not enabled",
        "ALTER TABLE tb_off ENABLE",
    )
    .await;
    let function =
        "`v_fun` calls `all_ids()`, which runs as its owner `postgres`, who passes every policy";
    check(
        "r17_app",
        queries![funs],
        function,
        "ALTER FUNCTION all_ids() SECURITY INVOKER",
    )
    .await;
    let all = refusal(&database, "r17_app", queries![notes, opens, plains, overs])
        .await
        .unwrap();
    assert_eq!(
        all.matches("\n  - ").count(),
        2,
        "those that are bound are not named: {all}"
    );
}

#[tokio::test]
async fn bound_policies_and_allowed_unbound_ones_are_served() {
    let database = TestDatabase::copy_of("row_security", SQL).await;
    assert_eq!(
        refusal(&database, "r17_app", queries![notes, tables, nested, opens]).await,
        None
    );
    let ids = async |options: AppOptions, query: &str| {
        let app = App::serve(options.session_variables(variables())).await;
        let request = app
            .request("POST", "/graphql")
            .header("content-type", "application/json")
            .header("x-tenant", "a");
        app.send(request.body(json!({ "query": query }).to_string()))
            .await
            .data()
    };
    let bound = production()
        .database_url(url(&database, "r17_app"))
        .queries(queries![notes]);
    assert_eq!(
        ids(bound, "{ notes { id } }").await,
        json!({ "notes": [{ "id": 1 }] })
    );
    let nested = production()
        .database_url(url(&database, "r17_app"))
        .queries(queries![nested]);
    assert_eq!(
        ids(nested, "{ nested { id } }").await,
        json!({ "nested": [{ "id": 1 }] })
    );
    let allowed = production()
        .database_url(database.url())
        .allow_unbound_policies(true)
        .queries(queries![notes]);
    assert_eq!(
        ids(allowed, "{ notes { id } }").await["notes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    database
        .execute("ALTER TABLE tb_note FORCE ROW LEVEL SECURITY")
        .await;
    assert_eq!(
        refusal(&database, "r17_owner", queries![notes, plains]).await,
        None
    );
    let owner = production()
        .database_url(url(&database, "r17_owner"))
        .queries(queries![plains]);
    assert_eq!(
        ids(owner, "{ plains { id } }").await,
        json!({ "plains": [{ "id": 1 }] })
    );
}

/// The check is for services that set session variables; other services send no such query.
#[tokio::test]
async fn policies_are_not_checked_without_session_variables() {
    let database = TestDatabase::copy_of("row_security", SQL).await;
    let app = App::serve(
        production()
            .database_url(database.url())
            .queries(queries![notes]),
    )
    .await;
    assert_eq!(
        app.query("{ notes { id } }").await.data()["notes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(database.statements("pg_policy").await, 0);
}

/// A database that comes up after the service has started is checked before it is used.
#[tokio::test]
async fn a_service_becomes_available_once_its_policies_bind() {
    let database = TestDatabase::copy_of("row_security", SQL).await;
    // Nobody lets this role in yet.
    database.execute("DO $$ BEGIN CREATE ROLE r17_late; EXCEPTION WHEN duplicate_object THEN ALTER ROLE r17_late NOLOGIN; END $$; GRANT r17_app TO r17_late").await;
    let options = production()
        .database_url(url(&database, "r17_late"))
        .session_variables(variables());
    let app = App::serve(options.queries(queries![plains])).await;
    database.execute("ALTER ROLE r17_late LOGIN").await;
    svc_tests::eventually(async || match database.statements("pg_policy").await {
        0 => Err("not looked at".to_owned()),
        _ => Ok(()),
    })
    .await;
    let reply = app.query("{ plains { id } }").await;
    assert_eq!(reply.code(), "SERVICE_UNAVAILABLE");
    assert_eq!(app.get("/ready").await.status, 503);
    database
        .execute("ALTER VIEW v_plain SET (security_invoker = true)")
        .await;
    svc_tests::eventually(async || {
        let reply = app.query("{ plains { id } }").await;
        if reply.json()["data"] == json!({ "plains": [] }) {
            Ok(())
        } else {
            Err(reply.text)
        }
    })
    .await;
}
