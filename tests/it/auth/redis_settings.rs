//! `SVC_REDIS_URL`: what instances share, by the settings alone.

use serde_json::{Value, json};
use svc::auth::{RedisRevocationStore, TokenRevocationService};
use svc::prelude::*;
use svc::sessions::{RedisSessionStore, SessionConfig, SessionLayer};
use svc::{RedisClient, SvcConfig, create_svc_app};
use svc_tests::{App, Redis, eventually};

use super::service::{options, posting, query};
use super::token::{SECRET, USER, token};

#[svc::mutation]
async fn logout(ctx: &Context<'_>) -> Result<bool> {
    let token = ctx
        .token()
        .ok_or_else(|| Error::new(ErrorCode::BadUserInput, "there is no token"))?;
    ctx.data::<TokenRevocationService>()?.revoke(token).await?;
    Ok(true)
}

#[svc::mutation]
fn visit(ctx: &Context<'_>) -> Result<bool> {
    ctx.session()?.insert("seen", &true)?;
    Ok(true)
}

fn config(more: &[(&str, &str)]) -> Result<SvcConfig, svc::ConfigError> {
    let secret = std::str::from_utf8(SECRET).unwrap();
    svc_tests::secret(secret);
    let custom = [
        ("SVC_AUTH_PROVIDER", "custom"),
        ("SVC_AUTH_SECRET_KEY", secret),
        ("SVC_DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing"),
    ];
    SvcConfig::from_variables(|name| {
        more.iter()
            .chain(&custom)
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    })
}

fn with_redis(redis: &Redis) -> AppOptions {
    options()
        .mutations(mutations![logout, visit])
        .config(config(&[("SVC_REDIS_URL", &redis.url())]).unwrap())
}

async fn user(app: &App, token: &str) -> Value {
    query(app, token, "{ user_id }").await.data()["user_id"].clone()
}

/// A provider without revocations uses those of the settings, and resolvers find them.
#[tokio::test]
async fn a_token_revoked_on_one_instance_is_revoked_on_all() {
    let mut redis = Redis::new().await;
    let (first, second) = (
        App::serve(with_redis(&redis)).await,
        App::serve(with_redis(&redis)).await,
    );
    let (held, kept) = (token(json!({ "jti": "1" })), token(json!({ "jti": "2" })));
    for app in [&first, &second] {
        assert_eq!(user(app, &held).await, USER);
    }
    assert_eq!(
        query(&first, &held, "mutation { logout }").await.data(),
        json!({ "logout": true })
    );
    for app in [&first, &second] {
        assert_eq!(user(app, &held).await, Value::Null);
        assert_eq!(user(app, &kept).await, USER);
    }
    redis.stop();
    assert_eq!(query(&second, &kept, "{ open }").await.status, 503);
    assert_eq!(
        second.query("{ open }").await.data(),
        json!({ "open": true })
    );
    redis.start().await;
    eventually(
        async || match query(&second, &kept, "{ open }").await.status {
            200 => Ok(()),
            status => Err(status.to_string()),
        },
    )
    .await;
    assert_eq!(user(&second, &held).await, Value::Null);
}

#[tokio::test]
async fn a_revocation_service_in_code_replaces_that_of_the_settings() {
    let redis = Redis::new().await;
    let own =
        TokenRevocationService::new(svc::auth::MemoryRevocationStore::new(), Default::default());
    let in_memory = App::serve(with_redis(&redis).data(own.clone()).token_revocation(own)).await;
    let other = App::serve(with_redis(&redis)).await;
    let held = token(json!({ "jti": "3" }));
    assert_eq!(
        query(&in_memory, &held, "mutation { logout }").await.data(),
        json!({ "logout": true })
    );
    assert_eq!(user(&in_memory, &held).await, Value::Null);
    assert_eq!(user(&other, &held).await, USER);
}

/// The answer of Redis to a command without arguments that it would count as one more.
async fn clients(redis: &Redis) -> usize {
    let text = redis.answer("CLIENT LIST TYPE normal").await;
    text.lines().filter(|line| line.starts_with("id=")).count() - 1
}

#[tokio::test]
async fn sessions_and_revocations_share_one_redis_connection() {
    let redis = Redis::new().await;
    let options = with_redis(&redis);
    let client = options.redis_client().unwrap().unwrap();
    svc_tests::secret("a secret of cookies, of more than 32 bytes");
    let cookies = SessionConfig::new("a secret of cookies, of more than 32 bytes");
    let sessions = SessionLayer::with_store(cookies, RedisSessionStore::new(&client)).unwrap();
    let own =
        RedisRevocationStore::new(&client, std::time::Duration::from_secs(60)).prefix("another:");
    let app = App::serve_router(create_svc_app(options).await.unwrap().layer(sessions)).await;
    let held = token(json!({ "jti": "4" }));
    let visit = app
        .send(posting(&app, "mutation { visit }").bearer_auth(&held))
        .await;
    assert!(visit.headers.contains_key("set-cookie"), "{}", visit.text);
    TokenRevocationService::new(own, Default::default())
        .revoke_all(USER)
        .await
        .unwrap();
    assert_eq!(user(&app, &held).await, USER);
    assert_eq!(clients(&redis).await, 1);
}

/// A program gives one to set its own certificates, for example.
#[tokio::test]
async fn a_redis_client_in_code_replaces_that_of_the_settings() {
    let (redis, other) = (Redis::new().await, Redis::new().await);
    let app = App::serve(with_redis(&redis).redis(RedisClient::new(&other.url()).unwrap())).await;
    assert_eq!(user(&app, &token(json!({ "jti": "5" }))).await, USER);
    assert_eq!((clients(&redis).await, clients(&other).await), (0, 1));
    assert!(options().redis_client().unwrap().is_none());
}

/// Also if nothing would use it.
#[tokio::test]
async fn an_invalid_redis_url_prevents_startup_and_is_not_shown() {
    for url in [
        "localhost:6379",
        "http://:hunter2-hunter2@localhost",
        "redis://:hunter2-hunter2@localhost/one",
    ] {
        for provider in ["custom", "none"] {
            let config =
                config(&[("SVC_REDIS_URL", url), ("SVC_AUTH_PROVIDER", provider)]).unwrap();
            let error = create_svc_app(options().config(config))
                .await
                .unwrap_err()
                .to_string();
            assert!(
                error
                    .starts_with("SVC_REDIS_URL is \"***\"; it must be redis://user:password@host"),
                "{error}"
            );
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
    let config = config(&[("SVC_REDIS_URL", "redis://:hunter2-hunter2@localhost")]).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
}
