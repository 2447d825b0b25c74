//! Policies that stop binding while the service runs, and bind again.

use serde_json::{Value, json};
use svc::prelude::*;
use svc::{DatabaseConfig, Environment, SvcConfig, sqlx};
use svc_tests::{App, Log, Reply, TestDatabase, eventually};

use super::{url, variables};

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
    "v_outer" Outer outers;
    "v_part" Part parts;
    "v_fun" Fun funs;
}

const SQL: &str = r"
    DO $$ BEGIN
        CREATE ROLE r18_owner LOGIN; CREATE ROLE r18_app LOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
    CREATE TABLE tb_note (id int PRIMARY KEY, tenant text);
    INSERT INTO tb_note VALUES (1, 'a'), (2, 'b');
    ALTER TABLE tb_note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON tb_note USING (tenant = (SELECT current_setting('app.tenant', true)));
    ALTER TABLE tb_note OWNER TO r18_owner;
    CREATE VIEW v_note WITH (security_invoker = true) AS SELECT id FROM tb_note;
    CREATE VIEW v_inner WITH (security_invoker = true) AS SELECT id FROM tb_note;
    CREATE VIEW v_outer WITH (security_invoker = true) AS SELECT id FROM v_inner;
    CREATE TABLE tb_part (id int, tenant text) PARTITION BY LIST (tenant);
    CREATE TABLE tb_part_a PARTITION OF tb_part FOR VALUES IN ('a');
    CREATE VIEW v_part WITH (security_invoker = true) AS SELECT id FROM tb_part;
    CREATE FUNCTION ids() RETURNS SETOF int LANGUAGE sql AS 'SELECT id FROM tb_note';
    CREATE VIEW v_fun WITH (security_invoker = true) AS SELECT ids AS id FROM ids();
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO r18_app, r18_owner;";

/// Changes that unbind a policy, each with the one that binds it again.
const CHANGES: [(&str, &str); 9] = [
    (
        "CREATE OR REPLACE VIEW v_note AS SELECT id FROM tb_note",
        "ALTER VIEW v_note SET (security_invoker = true)",
    ),
    (
        "CREATE OR REPLACE VIEW v_inner AS SELECT id FROM tb_note",
        "ALTER VIEW v_inner SET (security_invoker = true)",
    ),
    (
        "ALTER TABLE tb_note DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE tb_note ENABLE ROW LEVEL SECURITY",
    ),
    (
        "ALTER TABLE tb_note OWNER TO r18_app",
        "ALTER TABLE tb_note OWNER TO r18_owner; GRANT SELECT ON tb_note TO r18_app",
    ),
    (
        "GRANT r18_owner TO r18_app",
        "REVOKE r18_owner FROM r18_app",
    ),
    (
        "ALTER ROLE r18_app BYPASSRLS",
        "ALTER ROLE r18_app NOBYPASSRLS",
    ),
    (
        "ALTER ROLE r18_app SUPERUSER",
        "ALTER ROLE r18_app NOSUPERUSER",
    ),
    (
        "ALTER FUNCTION ids() SECURITY DEFINER",
        "ALTER FUNCTION ids() SECURITY INVOKER",
    ),
    (
        "ALTER TABLE tb_part_a ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE tb_part_a DISABLE ROW LEVEL SECURITY",
    ),
];

/// The changes are of roles that all databases of the server share.
static ROLES: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

async fn serve(database: &TestDatabase, environment: Environment) -> App {
    let poll = Some(std::time::Duration::from_millis(20));
    let config = SvcConfig {
        environment,
        database: DatabaseConfig {
            url: Some(url(database, "r18_app")),
            catalogue_poll: poll,
            ..DatabaseConfig::default()
        },
        ..SvcConfig::default()
    };
    let options = AppOptions::new()
        .config(config)
        .session_variables(variables());
    App::serve(options.queries(queries![notes, outers, parts, funs])).await
}

async fn ask(app: &App) -> Reply {
    ask_for(app, "{ notes { id } outers { id } funs { id } }").await
}

async fn ask_for(app: &App, query: &str) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json")
        .header("x-tenant", "a");
    app.send(request.body(json!({ "query": query }).to_string()))
        .await
}

fn bound() -> Value {
    json!({ "notes": [{ "id": 1 }], "outers": [{ "id": 1 }], "funs": [{ "id": 1 }] })
}

#[tokio::test]
async fn production_serves_nothing_until_policies_bind_again() {
    let _roles = ROLES.lock().await;
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database, Environment::Production).await;
    for (unbind, bind) in CHANGES {
        assert_eq!(ask(&app).await.data(), bound(), "before {unbind}");
        database.execute(unbind).await;
        eventually(async || {
            let reply = ask(&app).await;
            if reply.json()["errors"].is_array() {
                Ok(())
            } else {
                Err(format!("{unbind}: {}", reply.text))
            }
        })
        .await;
        for _ in 0..10 {
            let reply = ask(&app).await;
            assert_eq!(
                reply.code(),
                "SERVICE_UNAVAILABLE",
                "{unbind}: {}",
                reply.text
            );
            assert_eq!(
                reply.message(),
                "the service does not use its database at present"
            );
        }
        app.until_not_ready("\"failed: row-level security does not bind the service")
            .await;
        database.execute(bind).await;
        eventually(async || {
            let reply = ask(&app).await;
            if reply.json()["data"] == bound() {
                Ok(())
            } else {
                Err(format!("{bind}: {}", reply.text))
            }
        })
        .await;
        app.until_ready().await;
    }
}

#[tokio::test]
async fn development_warns_once_for_each_change() {
    let _roles = ROLES.lock().await;
    let database = TestDatabase::new(SQL).await;
    let log = Log::start();
    let app = serve(&database, Environment::Development).await;
    let (note, definer) = (
        "`v_note` reads `tb_note` as `postgres`",
        "`v_fun` calls `ids()`",
    );
    let said = async |what: &str, times: usize| {
        eventually(async || match log.text().matches(what).count() {
            count if count == times => Ok(()),
            count => Err(format!(
                "{what}: {count} times instead of {times} in {}",
                log.text()
            )),
        })
        .await;
    };
    let warning = |what: &str| format!("row-level security does not bind: {what}");
    for times in 1..=2 {
        assert_eq!(ask(&app).await.data(), bound());
        database.execute(CHANGES[0].0).await;
        said(&warning(note), times).await;
        assert_eq!(
            ask(&app).await.data()["notes"],
            json!([{ "id": 1 }, { "id": 2 }]),
            "it goes on"
        );
        database.execute(CHANGES[7].0).await;
        said(&warning(definer), times).await;
        said(&warning(note), times).await;
        database
            .execute(&format!("{}; {}", CHANGES[0].1, CHANGES[7].1))
            .await;
        for what in [note, definer] {
            said(
                &format!("a problem of row-level security is resolved: {what}"),
                times,
            )
            .await;
        }
    }
}

/// Waits until a check has run after `time` on the connection that is kept for checks: first a look
/// at the fingerprint, then one at the policies.
async fn until_checked(pool: &sqlx::PgPool, start: &str, time: &str) {
    let checks = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' \
                  AND query ~ $1 AND query_start > $2::timestamptz";
    eventually(async || {
        let query = sqlx::query_scalar::<_, i64>(checks).bind(start).bind(time);
        let found = query.fetch_one(pool).await.unwrap();
        if found > 0 {
            Ok(())
        } else {
            Err(format!("no check like {start}"))
        }
    })
    .await;
}

/// While the role may open no connections, the service sees the change and cannot read it.
#[tokio::test]
async fn a_change_reverted_before_it_is_read_leaves_no_stale_plan() {
    let _roles = ROLES.lock().await;
    let database = TestDatabase::new(SQL).await;
    let app = serve(&database, Environment::Development).await;
    assert_eq!(ask(&app).await.data(), bound());
    let pool = database.pool().await;
    until_checked(&pool, "^(-- A snapshot|WITH RECURSIVE caller)", "-infinity").await;
    database
        .execute("ALTER ROLE r18_app CONNECTION LIMIT 0 BYPASSRLS")
        .await;
    let changed = sqlx::query_scalar::<_, String>("SELECT clock_timestamp()::text")
        .fetch_one(&pool)
        .await
        .unwrap();
    let query = "{ notes(limit: 5) { id } }";
    // A statement stays prepared from its second time on.
    for _ in 0..3 {
        assert_eq!(
            ask_for(&app, query).await.data(),
            json!({ "notes": [{ "id": 1 }, { "id": 2 }] })
        );
    }
    until_checked(&pool, "^WITH RECURSIVE caller", &changed).await;
    pool.close().await;
    database
        .execute("ALTER ROLE r18_app CONNECTION LIMIT -1 NOBYPASSRLS")
        .await;
    eventually(async || match ask_for(&app, query).await {
        reply if reply.json()["data"] == json!({ "notes": [{ "id": 1 }] }) => Ok(()),
        reply => Err(reply.text),
    })
    .await;
}
