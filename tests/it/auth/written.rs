//! The search for secrets in what servers write. Each test that serves an application looks for
//! those of its requests and answers; here is seen that one is found.

use serde_json::json;
use svc::auth::{IntrospectionProvider, SignedTokenProvider, SigningKey};
use svc::prelude::*;
use svc::sessions::{SessionConfig, SessionLayer};
use svc::{IdpConfig, RedisClient, TokenAlgorithm};
use svc_tests::App;

use super::service::{options, posting, provider, query};
use super::token::token;

#[svc::query]
fn logs_its_token(ctx: &Context<'_>) -> bool {
    tracing::debug!(header = ctx.header("authorization"), "a careless program");
    true
}

#[svc::query]
fn has_a_span_with_its_cookie(ctx: &Context<'_>) -> bool {
    let _span = tracing::debug_span!("careless", cookie = ctx.header("cookie")).entered();
    true
}

#[svc::query]
fn answers_with_its_token(ctx: &Context<'_>) -> Result<bool> {
    Err(Error::new(
        ErrorCode::BadUserInput,
        ctx.header("authorization").unwrap_or_default().to_owned(),
    ))
}

async fn serve() -> App {
    let careless = queries![
        logs_its_token,
        has_a_span_with_its_cookie,
        answers_with_its_token
    ];
    App::serve(options().queries(careless).auth_provider(provider())).await
}

#[tokio::test]
async fn a_logged_or_returned_secret_is_detected() {
    for field in [
        "logs_its_token",
        "has_a_span_with_its_cookie",
        "answers_with_its_token",
    ] {
        let mut app = serve().await;
        let held = token(json!({ "jti": field }));
        let request = posting(&app, &format!("{{ {field} }}"))
            .bearer_auth(&held)
            .header("cookie", "session=0123456789ab");
        app.send(request).await;
        let found = app.written_secrets();
        let expected = if field.contains("cookie") {
            "0123456789ab"
        } else {
            held.rsplit('.').next().unwrap()
        };
        assert!(
            found.iter().any(|line| line.starts_with(expected)),
            "{field}: {found:#?}"
        );
    }
    let mut app = serve().await;
    query(&app, &token(json!({})), "{ open me }").await.data();
    assert_eq!(app.written_secrets(), Vec::<String>::new());
}

#[test]
fn debug_output_shows_no_secret() {
    let secret = "one secret of more than thirty-two bytes";
    let get = |name: &str| match name {
        "SVC_AUTH_SECRET_KEY" | "SVC_DEV_AUTH_PASSWORD" | "SVC_IDP_CLIENT_SECRET" => {
            Some(secret.to_owned())
        }
        "SVC_DATABASE_URL" => Some(format!(
            "postgres://svc:{}@127.0.0.1:1/nothing",
            secret.replace(' ', "%20")
        )),
        _ => None,
    };
    let config = svc::SvcConfig::from_variables(get).unwrap();
    let idp = IdpConfig {
        domain: Some("id.example".to_owned()),
        api_identifier: Some("https://api.example".to_owned()),
        client_id: Some("shop".to_owned()),
        client_secret: Some(secret.to_owned()),
        ..IdpConfig::default()
    };
    let key = SigningKey::new(TokenAlgorithm::Hs256, secret.as_bytes()).unwrap();
    let shown = [
        format!("{config:?}"),
        format!("{:?}", AppOptions::new().config(config.clone())),
        format!("{idp:?} {:?}", idp.create_provider().unwrap()),
        format!("{key:?} {:?}", key.verifying_key()),
        format!("{:?}", SignedTokenProvider::with_secret(secret).unwrap()),
        format!(
            "{:?}",
            IntrospectionProvider::new("https://id.example/introspect", "shop", secret).unwrap()
        ),
        format!(
            "{:?} {:?}",
            SessionConfig::new(secret),
            SessionLayer::new(SessionConfig::new(secret)).unwrap()
        ),
        format!(
            "{:?}",
            RedisClient::new(&format!(
                "rediss://:{}@localhost",
                secret.replace(' ', "%20")
            ))
            .unwrap()
        ),
    ];
    for text in shown {
        assert!(!text.contains("thirty-two"), "{text}");
    }
}
