//! Changes of policies, views, grants, functions and roles make kept answers old, and so does a
//! database that is away.

use std::time::Duration;

use serde_json::{Value, json};
use svc::db::SessionVariables;
use svc::events::InProcessEvents;
use svc::prelude::*;
use svc::{DatabaseConfig, Environment, RedisClient, ResponseCacheConfig};
use svc_embedded::{Database, Options};
use svc_tests::{App, Redis, TestDatabase, within};

use super::service::{ask, database, options, serve};

/// A fifth of the time for which answers are kept, and enough for a busy machine.
const SOON: Duration = Duration::from_secs(120);
const POSTS: &str = "{ posts { title } }";

/// Rows are read as the role of the service, and a function of the policy decides about them.
const GUARDED: &str = "
    CREATE FUNCTION may_read(owner text) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT true $$;
    ALTER TABLE tb_post ENABLE ROW LEVEL SECURITY;
    CREATE POLICY readers ON tb_post USING (may_read(owner));
    ALTER VIEW v_kept_post SET (security_invoker = true);";

/// A role of the service, which policies bind; `{role}` is its name.
async fn guarded() -> (TestDatabase, String) {
    let database = database().await;
    let role = format!("rules_{}", database.name());
    database
        .execute(&format!("{GUARDED} CREATE ROLE {role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"))
        .await;
    (database, role)
}

/// The settings of an instance that looks for changes so often, and shares answers if there is a
/// Redis.
fn config(database: &TestDatabase, role: &str, poll: Duration, redis: bool) -> SvcConfig {
    let url = Some(format!("{}&user={role}", database.url()));
    SvcConfig {
        database: DatabaseConfig {
            url,
            catalogue_poll: Some(poll),
            ..DatabaseConfig::default()
        },
        response_cache: ResponseCacheConfig {
            redis,
            enabled: Some(true),
            ..ResponseCacheConfig::default()
        },
        ..SvcConfig::default()
    }
}

fn instance_options(database: &TestDatabase, config: SvcConfig) -> AppOptions {
    let url = config.database.url.clone().unwrap();
    options(database).config(config).database_url(url)
}

/// The titles that a user gets, or the code of the error.
async fn titles(app: &App, user: &str) -> Value {
    let reply = ask(app, POSTS, &[("x-user", user), ("host", "svc.example.com")]).await;
    match reply.json()["data"]["posts"].as_array() {
        Some(posts) => posts.iter().map(|post| post["title"].clone()).collect(),
        None => json!(reply.code()),
    }
}

async fn until_titles(app: &App, user: &str, expected: Value, after: &str) {
    within(SOON, async || {
        let found = titles(app, user).await;
        if found == expected {
            Ok(())
        } else {
            Err(format!("{found} after {after}"))
        }
    })
    .await;
}

/// Waits until a response is cached: until then, a change that is undone at once has no effect on
/// what the service knows.
async fn until_cached(app: &App, database: &TestDatabase) {
    within(SOON, async || {
        let before = database.statements("v_kept_post").await;
        titles(app, "ada").await;
        match database.statements("v_kept_post").await - before {
            0 => Ok(()),
            _ => Err("a response that is not cached".to_owned()),
        }
    })
    .await;
}

/// Changes, and the titles that are read after each.
fn changes(role: &str) -> Vec<(String, Value)> {
    let both = || json!(["one", "two"]);
    let of = |change: &str, expected: Value| (change.replace("{role}", role), expected);
    vec![
        of("ALTER POLICY readers ON tb_post USING (owner = 'ada')", json!(["one"])),
        of("ALTER POLICY readers ON tb_post USING (may_read(owner))", both()),
        of(
            "CREATE OR REPLACE FUNCTION may_read(owner text) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT owner = 'bob' $$",
            json!(["two"]),
        ),
        of("ALTER TABLE tb_post DISABLE ROW LEVEL SECURITY", both()),
        of("ALTER TABLE tb_post ENABLE ROW LEVEL SECURITY", json!(["two"])),
        of("ALTER ROLE {role} BYPASSRLS", both()),
        of("ALTER ROLE {role} NOBYPASSRLS", json!(["two"])),
        of("ALTER VIEW v_kept_post SET (security_invoker = false)", both()),
        of("ALTER VIEW v_kept_post SET (security_invoker = true)", json!(["two"])),
        of("CREATE POLICY more ON tb_post TO {role} USING (true)", both()),
        of("DROP POLICY more ON tb_post", json!(["two"])),
        of("DROP POLICY readers ON tb_post", json!([])),
        of(
            "CREATE OR REPLACE VIEW v_kept_post AS SELECT id, title, author_id, owner FROM tb_post WHERE id = 1",
            json!(["one"]),
        ),
        of(
            "CREATE TYPE word AS ENUM ('uno', 'due');
             CREATE OR REPLACE VIEW v_kept_post AS SELECT id,
                CASE id WHEN 1 THEN (enum_range(NULL::word))[1]::text ELSE title END AS title, author_id, owner FROM tb_post",
            json!(["uno", "two"]),
        ),
        of("ALTER TYPE word RENAME VALUE 'uno' TO 'eins'", json!(["eins", "two"])),
        of(
            "DROP VIEW v_kept_post; ALTER TABLE tb_post ALTER title TYPE text[] USING ARRAY[title, 'x'];
             CREATE VIEW v_kept_post AS SELECT id, title[2] AS title, author_id, owner FROM tb_post;
             GRANT SELECT ON v_kept_post TO {role}",
            json!(["x", "x"]),
        ),
    ]
}

#[tokio::test]
async fn changed_rules_invalidate_cached_responses() {
    let (database, role) = guarded().await;
    let config = config(&database, &role, Duration::from_millis(20), false);
    let app = serve(instance_options(&database, config)).await;
    until_titles(&app, "ada", json!(["one", "two"]), "the start").await;
    for (change, expected) in changes(&role) {
        database.execute(&change).await;
        until_titles(&app, "ada", expected.clone(), &change).await;
        until_cached(&app, &database).await;
    }
    for (change, is_readable) in [
        ("REVOKE SELECT ON v_kept_post FROM {role}", false),
        ("GRANT SELECT ON v_kept_post TO {role}", true),
        ("REVOKE USAGE ON SCHEMA public FROM public", false),
        ("GRANT USAGE ON SCHEMA public TO public", true),
        ("DROP VIEW v_kept_post", false),
    ] {
        database.execute(&change.replace("{role}", &role)).await;
        within(SOON, async || {
            let found = titles(&app, "ada").await;
            if found.is_array() == is_readable {
                Ok(())
            } else {
                Err(format!("{found} after {change}"))
            }
        })
        .await;
    }
}

/// A change and its undoing are one transaction, so no check sees the state in between. The writes
/// to the rows are not reported.
#[tokio::test]
async fn undone_changes_of_rules_invalidate_cached_responses() {
    let (database, role) = guarded().await;
    let config = config(&database, &role, Duration::from_millis(20), false);
    let app = serve(instance_options(&database, config)).await;
    for (number, undone) in [
        "ALTER TABLE tb_post DISABLE ROW LEVEL SECURITY; ALTER TABLE tb_post ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE tb_post FORCE ROW LEVEL SECURITY; ALTER TABLE tb_post NO FORCE ROW LEVEL SECURITY",
        "ALTER POLICY readers ON tb_post USING (true); ALTER POLICY readers ON tb_post USING (may_read(owner))",
        "ALTER VIEW v_kept_post SET (security_invoker = false); ALTER VIEW v_kept_post SET (security_invoker = true)",
        "GRANT SELECT ON v_kept_post TO public; REVOKE SELECT ON v_kept_post FROM public",
        "REVOKE SELECT ON tb_post FROM {role}; GRANT SELECT ON tb_post TO {role}",
        "GRANT CREATE ON SCHEMA public TO {role}; REVOKE CREATE ON SCHEMA public FROM {role}",
    ]
    .into_iter()
    .enumerate()
    {
        until_cached(&app, &database).await;
        let undone = undone.replace("{role}", &role);
        let title = format!("title {number}");
        let change = format!("UPDATE tb_post SET title = '{title}'; {undone}");
        database.execute(&change).await;
        until_titles(&app, "ada", json!([title, title]), &undone).await;
    }
}

/// Looks that find nothing but other rows, and what no read can depend on, leave the answers that
/// are kept.
#[tokio::test]
async fn writes_temporary_tables_and_other_roles_invalidate_nothing() {
    let (database, role) = guarded().await;
    let looks = async || database.statements("pg_current_snapshot").await;
    looks().await;
    let config = config(&database, &role, Duration::from_millis(20), false);
    let app = serve(instance_options(&database, config)).await;
    until_titles(&app, "ada", json!(["one", "two"]), "the start").await;
    database
        .execute(&format!(
            "UPDATE tb_post SET title = 'behind' WHERE id = 1; TRUNCATE tb_author; CREATE INDEX ON tb_post (owner);
             CREATE TEMPORARY TABLE scratch (id int DEFAULT 1); CREATE ROLE other_{role} BYPASSRLS"
        ))
        .await;
    let before = looks().await;
    within(SOON, async || {
        let after = looks().await;
        if after >= before + 3 {
            Ok(())
        } else {
            Err(format!("{} looks", after - before))
        }
    })
    .await;
    assert_eq!(titles(&app, "ada").await, json!(["one", "two"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_that_stop_binding_invalidate_cached_responses() {
    let (database, role) = guarded().await;
    let config = SvcConfig {
        environment: Environment::Production,
        ..config(&database, &role, Duration::from_millis(20), false)
    };
    let variables = SessionVariables::new().header("app.owner", "x-owner");
    let app = serve(instance_options(&database, config).session_variables(variables)).await;
    until_titles(&app, "ada", json!(["one", "two"]), "the start").await;
    database
        .execute("ALTER TABLE tb_post DISABLE ROW LEVEL SECURITY")
        .await;
    until_titles(
        &app,
        "ada",
        json!("SERVICE_UNAVAILABLE"),
        "policies stopped binding",
    )
    .await;
    database
        .execute("UPDATE tb_post SET title = 'new'; ALTER TABLE tb_post ENABLE ROW LEVEL SECURITY")
        .await;
    until_titles(&app, "ada", json!(["new", "new"]), "policies bind again").await;
}

/// One instance looks for changes once an hour. PostgreSQL keeps the plans that it made for it
/// while its role passed the policies, so what it reads is old; the other instance must not find
/// that in Redis.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outdated_instance_shares_no_stale_responses() {
    let ((database, role), redis) = (guarded().await, Redis::new().await);
    database
        .execute(&format!(
            "ALTER POLICY readers ON tb_post USING (owner = 'bob'); ALTER ROLE {role} BYPASSRLS"
        ))
        .await;
    let instance = async |poll| {
        let client = RedisClient::new(&redis.url()).unwrap();
        serve(instance_options(&database, config(&database, &role, poll, true)).redis(client)).await
    };
    let (quick, late) = (
        instance(Duration::from_millis(20)).await,
        instance(Duration::from_secs(3_600)).await,
    );
    for user in ["ada", "bob"] {
        assert_eq!(titles(&quick, user).await, json!(["one", "two"]));
        assert_eq!(titles(&late, user).await, json!(["one", "two"]));
    }
    database
        .execute(&format!("ALTER ROLE {role} NOBYPASSRLS"))
        .await;
    until_titles(&quick, "ada", json!(["two"]), "the change").await;
    for number in 0..20 {
        let user = format!("user{number}");
        titles(&late, &user).await;
        assert_eq!(titles(&quick, &user).await, json!(["two"]), "{user}");
    }
    assert_eq!(
        titles(&quick, "bob").await,
        json!(["two"]),
        "what another instance has kept before"
    );
}

/// Events come from elsewhere, so the source of events does not say that the database is away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_database_invalidates_cached_responses() {
    let folder = tempfile::tempdir().unwrap();
    let server = Database::start(Options::new(folder.path())).await.unwrap();
    let url = server.url();
    let setup = "CREATE TABLE tb_author (id int, name text); CREATE TABLE tb_post (id int, title text, author_id int, owner text);
        INSERT INTO tb_post VALUES (1, 'one', 1, 'ada');
        CREATE VIEW v_kept_author AS SELECT * FROM tb_author; CREATE VIEW v_kept_post AS SELECT * FROM tb_post;";
    let config = SvcConfig {
        environment: Environment::Production,
        ..SvcConfig::default()
    };
    let unused = database().await;
    let options = options(&unused)
        .config(config)
        .database_url(url.clone())
        .event_source(InProcessEvents::new());
    let app = serve(options.setup_sql(setup)).await;
    assert_eq!(titles(&app, "ada").await, json!(["one"]));
    server.stop().await;
    until_titles(
        &app,
        "ada",
        json!("SERVICE_UNAVAILABLE"),
        "the server has stopped",
    )
    .await;
    let server = Database::start(Options::new(folder.path())).await.unwrap();
    let pool = sqlx::PgPool::connect(&url).await.unwrap();
    sqlx::query("UPDATE tb_post SET title = 'new'")
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    until_titles(&app, "ada", json!(["new"]), "the server is back").await;
    app.stopped().await;
    server.stop().await;
}
