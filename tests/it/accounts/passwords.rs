//! Passwords and their hashes.

use std::time::Duration;

use serde_json::json;
use svc::accounts::{MIGRATION, NativeAuthFactory, PostgresUserRepository};
use svc::sqlx;
use svc_tests::TestDatabase;

use super::client::{Held, PASSWORD, assert_accepted, assert_refused, login, post, register, with};
use super::service::{accounts, cheap, factory, provider, serve, serve_provider, url_of};

const NEW: &str = "Another-horse-8";

#[tokio::test]
async fn a_password_change_ends_all_other_sessions() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    let other = Held::of(&login(&service.app, "ada", PASSWORD).await);
    let change =
        |current: &str, new: &str| json!({ "current_password": current, "new_password": new });
    let weak = with(
        &service.app,
        &held.access,
        "POST",
        "/auth/password",
        change(PASSWORD, "weak"),
    )
    .await;
    assert_eq!(weak.status, 422);
    let wrong = with(
        &service.app,
        &held.access,
        "POST",
        "/auth/password",
        change(NEW, NEW),
    )
    .await;
    assert_eq!(wrong.status, 401);
    assert_accepted(&service.app, &held).await;
    let changed = with(
        &service.app,
        &held.access,
        "POST",
        "/auth/password",
        change(PASSWORD, NEW),
    )
    .await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_accepted(&service.app, &Held::of(&changed)).await;
    assert_refused(&service.app, &held).await;
    assert_refused(&service.app, &other).await;
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 401);
    assert_eq!(login(&service.app, "ada", NEW).await.status, 200);
}

/// A trigger has the database refuse to end sessions.
#[tokio::test]
async fn a_password_stays_if_its_sessions_cannot_be_ended() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    let (body, path) = (
        json!({ "current_password": PASSWORD, "new_password": NEW }),
        "/auth/password",
    );
    let change = || with(&service.app, &held.access, "POST", path, body.clone());
    service
        .database
        .execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'sessions stay'; END $$;
             CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON svc_auth.epoch FOR EACH ROW EXECUTE FUNCTION fail()",
        )
        .await;
    let failed = change().await;
    assert_eq!(failed.status, 503, "{}", failed.text);
    assert_accepted(&service.app, &held).await;
    assert_eq!(login(&service.app, "ada", NEW).await.status, 401);

    service
        .database
        .execute("DROP TRIGGER fail ON svc_auth.epoch")
        .await;
    let changed = change().await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_refused(&service.app, &held).await;
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 401);
    assert_eq!(login(&service.app, "ada", NEW).await.status, 200);
}

/// A trigger has the database refuse to start sessions.
#[tokio::test]
async fn a_password_stays_if_no_session_can_start_with_it() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    let other = Held::of(&login(&service.app, "ada", PASSWORD).await);
    service
        .database
        .execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no session'; END $$;
             CREATE TRIGGER fail BEFORE INSERT ON svc_auth.session FOR EACH ROW EXECUTE FUNCTION fail()",
        )
        .await;
    let body = json!({ "current_password": PASSWORD, "new_password": NEW });
    let failed = with(&service.app, &held.access, "POST", "/auth/password", body).await;
    assert_eq!(
        (failed.status, &failed.json()["error"]),
        (503, &json!("service_unavailable")),
        "{}",
        failed.text
    );
    assert_accepted(&service.app, &held).await;
    assert_accepted(&service.app, &other).await;

    service
        .database
        .execute("DROP TRIGGER fail ON svc_auth.session")
        .await;
    assert_eq!(login(&service.app, "ada", NEW).await.status, 401);
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn a_new_password_must_not_be_common_or_the_users_name() {
    let service = serve().await;
    let held = register(&service.app, "ada").await;
    for (new, rule) in [("Iloveyou!", "common"), ("ada-2024!!", "own_name")] {
        let change = json!({ "current_password": PASSWORD, "new_password": new });
        let refused = with(&service.app, &held.access, "POST", "/auth/password", change).await;
        assert_eq!(
            (refused.status, &refused.json()["rule"]),
            (422, &json!(rule))
        );
    }
    assert_accepted(&service.app, &held).await;
}

/// Also as another system types it (RFC 8265, section 4.2): composed or not, with any kind of
/// space.
#[tokio::test]
async fn a_password_can_be_long_and_of_any_script() {
    let service = serve().await;
    let long = format!("Aa1-{}", "x".repeat(1_020));
    for (name, password, same) in [
        ("long", long.as_str(), long.as_str()),
        (
            "composed",
            "Se\u{301}same-ouvre-toi-1",
            "S\u{e9}same-ouvre-toi-1",
        ),
        ("space", "Open\u{a0}sesame-1\u{3000}", "Open sesame-1 "),
        ("chinese", "芝麻开门吧-芝麻-1", "芝麻开门吧-芝麻-1"),
        ("emoji", "Aa1🔑🔑🔑🔑🔑", "Aa1🔑🔑🔑🔑🔑"),
    ] {
        let email = format!("{name}@example.com");
        let body = json!({ "username": name, "password": password, "email": email });
        assert_eq!(
            post(&service.app, "/auth/register", body).await.status,
            201,
            "{name}"
        );
        assert_eq!(login(&service.app, name, same).await.status, 200, "{name}");
        assert_eq!(
            login(&service.app, name, &same.to_lowercase().replace("aa", "Aa"))
                .await
                .status,
            match name {
                "long" | "chinese" | "emoji" => 200,
                _ => 401,
            }
        );
    }
    // Nothing is cut off.
    assert_eq!(
        login(&service.app, "long", &long[..1_023]).await.status,
        401
    );
    assert_eq!(
        login(&service.app, "long", &format!("{long}x"))
            .await
            .status,
        401
    );
}

async fn hash(service: &super::service::Service) -> String {
    service
        .database
        .value("SELECT hash FROM svc_auth.password")
        .await
}

#[tokio::test]
async fn a_log_in_rehashes_the_password_when_the_cost_rises() {
    let service = serve().await;
    register(&service.app, "ada").await;
    let weak = hash(&service).await;
    assert!(weak.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{weak}");
    login(&service.app, "ada", PASSWORD).await;
    assert_eq!(hash(&service).await, weak);
    let accounts = accounts(&service.database);
    let mut stronger = cheap();
    stronger.memory = 128;
    let native = provider(
        factory(&accounts).hashing(stronger),
        PostgresUserRepository::new(&accounts),
    );
    let app = serve_provider(&native).await;
    assert_eq!(login(&app, "ada", "Wrong-horse-7").await.status, 401);
    assert_eq!(hash(&service).await, weak);
    assert_eq!(login(&app, "ada", PASSWORD).await.status, 200);
    assert!(
        hash(&service)
            .await
            .starts_with("$argon2id$v=19$m=128,t=1,p=1$")
    );
    assert_eq!(login(&app, "ada", PASSWORD).await.status, 200);
    // What is stronger than is asked for stays.
    assert_eq!(login(&service.app, "ada", PASSWORD).await.status, 200);
    assert!(hash(&service).await.contains("m=128"));
}

/// Neither from tables nor through functions.
#[tokio::test]
async fn the_service_role_cannot_read_password_hashes() {
    let service = serve().await;
    register(&service.app, "ada").await;
    let pool = sqlx::PgPool::connect(&url_of(&service.database))
        .await
        .unwrap();
    for table in [
        "password",
        "account",
        "session",
        "mailed_token",
        "attempt",
        "revoked_token",
    ] {
        let query = sqlx::AssertSqlSafe(format!("SELECT * FROM svc_auth.{table}"));
        let error = sqlx::raw_sql(query).fetch_all(&pool).await.unwrap_err();
        assert_eq!(
            error.as_database_error().unwrap().code().unwrap(),
            "42501",
            "{table}"
        );
    }
    let secret = hash(&service).await;
    let secret = secret.rsplit('$').next().unwrap();
    let salt: serde_json::Value = sqlx::query_scalar(
        "SELECT svc_auth.password_salt((svc_auth.user_by_username('ada')->>'user_id')::uuid)",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert!(salt.as_str().unwrap().starts_with("$argon2id$") && !salt.to_string().contains(secret));
}

/// Default privileges also apply to the tables of this schema.
#[tokio::test]
async fn default_privileges_grant_no_access_to_account_tables() {
    let database = TestDatabase::new(
        "DO $do$ BEGIN EXECUTE format(
             'CREATE ROLE %1$I; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO %1$I, PUBLIC',
             'reads_' || current_database());
         END $do$;
         CREATE TABLE tb_other ();",
    )
    .await;
    let pool = database.pool().await;
    for _ in 0..2 {
        database.execute(MIGRATION).await;
        let readable: String = sqlx::query_scalar(
            "SELECT string_agg(oid::regclass::text, ' ') FROM pg_class
             WHERE has_table_privilege(('reads_' || current_database())::name, oid, 'SELECT')
                 AND relkind = 'r' AND relnamespace IN ('svc_auth'::regnamespace, 'public'::regnamespace)",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!(readable, "tb_other");
    }
}

/// Also to a role with default privileges, which are revoked from it only for a new table.
#[tokio::test]
async fn grants_on_account_tables_outlast_the_migration_when_it_is_run_again() {
    let database = TestDatabase::new(
        "DO $do$ BEGIN EXECUTE format(
             'CREATE ROLE %1$I; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO %1$I',
             'audits_' || current_database());
         END $do$;",
    )
    .await;
    database.execute(MIGRATION).await;
    database
        .execute(
            "DO $do$ BEGIN EXECUTE format(
                 'GRANT SELECT ON svc_auth.session TO %1$I', 'audits_' || current_database());
             END $do$;
             DROP TABLE svc_auth.known_network;",
        )
        .await;
    database.execute(MIGRATION).await;
    let pool = database.pool().await;
    let readable: String = sqlx::query_scalar(
        "SELECT string_agg(oid::regclass::text, ' ') FROM pg_class
         WHERE has_table_privilege(('audits_' || current_database())::name, oid, 'SELECT')
             AND relkind = 'r' AND relnamespace = 'svc_auth'::regnamespace",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(readable, "svc_auth.session");
    pool.close().await;
}

#[tokio::test]
async fn a_short_secret_is_refused_in_production() {
    let database = super::service::database().await;
    let accounts = accounts(&database);
    let make = |secret: &str| {
        let users = PostgresUserRepository::new(&accounts);
        NativeAuthFactory::new(&accounts).create_provider(
            users,
            secret,
            Duration::from_secs(1),
            Duration::from_secs(9),
        )
    };
    assert!(make("").is_err());
    let config = svc::SvcConfig {
        environment: svc::Environment::Production,
        ..svc::SvcConfig::default()
    };
    let start = async |secret: &str| {
        let options = crate::auth::service::options()
            .config(config.clone())
            .auth_provider(make(secret).unwrap());
        svc::create_svc_app(options.database_url("postgres://nobody@127.0.0.1:1/nothing")).await
    };
    let error = start("hunter2").await.unwrap_err().to_string();
    assert!(
        error.contains("7 bytes") && !error.contains("hunter2"),
        "{error}"
    );
    assert!(start(super::service::SECRET).await.is_ok());
}
