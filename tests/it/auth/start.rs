//! The settings and providers with which a service does not start, or starts with a warning.

use std::time::Duration;

use svc::auth::SignedTokenProvider;
use svc::testing::TestService;
use svc::{
    ApiKeys, AppOptions, AuthenticatedUser, Environment, SvcConfig, UserContext, create_svc_app,
};
use svc_tests::Log;

use super::service::{options, options_with, provider};

async fn start(variables: &[(&str, &str)]) -> Result<(), String> {
    let get = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let mut config = SvcConfig::from_variables(get).map_err(|error| error.to_string())?;
    config.database.url = Some("postgres://nobody@127.0.0.1:1/nothing".to_owned());
    create_svc_app(options().config(config))
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}

const LONG: &str = "0123456789abcdef0123456789abcdef";

#[tokio::test]
async fn settings_choose_the_provider_or_prevent_startup() {
    let custom = ("SVC_AUTH_PROVIDER", "custom");
    assert_eq!(start(&[]).await, Ok(()));
    assert_eq!(
        start(&[custom, ("SVC_AUTH_SECRET_KEY", LONG)]).await,
        Ok(())
    );
    for (variables, message) in [
        (
            &[("SVC_AUTH_PROVIDER", "auth9")][..],
            "it must be none, idp, custom or native",
        ),
        (
            &[custom],
            "SVC_AUTH_SECRET_KEY is \"\"; it must be a secret of at least 32 bytes, for HS256",
        ),
        (
            &[custom, ("SVC_AUTH_ALGORITHM", "none")],
            "it must be HS256, HS384",
        ),
        (
            &[custom, ("SVC_AUTH_ALGORITHM", "RS256")],
            "SVC_AUTH_PUBLIC_KEY is \"\"; it must be a public key as PEM",
        ),
        (
            &[
                custom,
                ("SVC_AUTH_ALGORITHM", "RS256"),
                ("SVC_AUTH_PUBLIC_KEY", LONG),
            ],
            "-----BEGIN PUBLIC KEY-----",
        ),
        (
            &[
                custom,
                ("SVC_AUTH_SECRET_KEY", "-----BEGIN PUBLIC KEY-----\nMIIB"),
            ],
            "choose its algorithm",
        ),
        (&[("SVC_AUTH_ENABLED", "true")], "set SVC_AUTH_PROVIDER"),
    ] {
        let error = start(variables).await.unwrap_err();
        assert!(error.contains(message), "{error}");
        assert!(!error.contains(LONG) && !error.contains("MIIB"), "{error}");
    }
}

/// RFC 7518, section 3.2: a secret is at least as long as its hash.
#[tokio::test]
async fn a_short_secret_is_refused_in_production() {
    let short = || options().auth_provider(SignedTokenProvider::with_secret("hunter2").unwrap());
    let log = Log::start();
    drop(create_svc_app(short()).await.unwrap());
    log.has("the secret of tokens has 7 bytes; it must have at least 32")
        .await;
    assert!(!log.text().contains("hunter2"));
    let config = SvcConfig {
        environment: Environment::Production,
        ..SvcConfig::default()
    };
    let options = short()
        .config(config)
        .database_url("postgres://nobody@127.0.0.1:1/nothing");
    let error = create_svc_app(options).await.unwrap_err().to_string();
    assert!(
        error.contains("7 bytes") && error.contains("production") && !error.contains("hunter2"),
        "{error}"
    );
}

async fn unchanged(user: AuthenticatedUser) -> svc::Result<Option<UserContext>> {
    Ok(Some(user.into_user()))
}

fn loading(options: AppOptions) -> AppOptions {
    options.load_user(Duration::ZERO, unchanged)
}

#[tokio::test]
async fn a_user_loader_without_tokens_is_logged() {
    let line = "`load_user` has no effect, because nothing verifies tokens; set \
                SVC_AUTH_PROVIDER, or call `.auth_provider(…)` or `.api_keys(…)`";
    let mut off = SvcConfig::default();
    off.auth.enabled = Some(false);

    for (case, options, is_logged) in [
        ("no provider", loading(options()), true),
        ("required", loading(options().auth_required(true)), true),
        ("no loader", options(), false),
        ("switched off", loading(options_with(off)), false),
        (
            "a provider",
            loading(options().auth_provider(provider())),
            false,
        ),
        (
            "API keys",
            loading(options().api_keys(ApiKeys::new())),
            false,
        ),
    ] {
        let log = Log::start();
        drop(create_svc_app(options).await.unwrap());
        let text = log.text();
        assert_eq!(text.contains(line), is_logged, "{case}: {text}");
    }
}

/// Tests set their users without tokens, so nothing is loaded.
#[tokio::test]
async fn a_user_loader_of_a_test_is_not_logged() {
    let log = Log::start();
    drop(TestService::start(loading(options())).await.unwrap());
    assert!(!log.text().contains("load_user"), "{}", log.text());
}
