//! Passwords and their hashes.

use std::time::Duration;

use serde_json::json;
use svc::accounts::{NativeAuthFactory, PostgresUserRepository};
use svc::sqlx;

use super::client::{Held, PASSWORD, assert_accepted, assert_refused, login, post, register, with};
use super::service::{accounts, cheap, factory, provider, serve, serve_provider, url_of};

const NEW: &str = "Another-horse-8";

#[tokio::test]
async fn a_change_ends_all_other_sessions() {
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

/// As it is typed on another system (RFC 8265, section 4.2): composed or not, with whichever space.
#[tokio::test]
async fn a_password_may_be_long_and_of_any_script() {
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
    let pool = service.database.pool().await;
    sqlx::query_scalar("SELECT hash FROM svc_auth.password")
        .fetch_one(&pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_hash_is_made_anew_when_the_cost_rises() {
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

/// Not through tables, and not through functions either.
#[tokio::test]
async fn the_services_role_reads_no_hash() {
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

#[tokio::test]
async fn a_short_secret_is_for_development_only() {
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
