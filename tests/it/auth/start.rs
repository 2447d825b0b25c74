//! The settings and providers with which a service does not start.

use svc::auth::SignedTokenProvider;
use svc::{Environment, SvcConfig, create_svc_app};
use svc_tests::Log;

use super::service::options;

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
