//! Settings of identity providers with which a service does not start.

use svc::auth::{IdpProvider, IntrospectionProvider};
use svc::{Environment, SvcConfig, create_svc_app};

use super::super::service::options;

async fn start(variables: &[(&str, &str)]) -> Result<(), String> {
    let all = [&[("SVC_AUTH_PROVIDER", "idp")], variables].concat();
    let get = |name: &str| {
        all.iter()
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

#[tokio::test]
async fn incomplete_or_invalid_settings_prevent_startup() {
    let domain = ("SVC_IDP_DOMAIN", "id.example");
    let api = ("SVC_IDP_API_IDENTIFIER", "https://api.example");
    assert_eq!(start(&[domain, api]).await, Ok(()));
    assert_eq!(
        start(&[api, ("SVC_IDP_ISSUER", "https://id.example/realms/acme")]).await,
        Ok(())
    );
    for algorithms in [r#"["RS256", "EdDSA"]"#, "RS256, EdDSA"] {
        assert_eq!(
            start(&[domain, api, ("SVC_IDP_ALGORITHMS", algorithms)]).await,
            Ok(())
        );
    }
    for (variables, message) in [
        (&[domain][..], "there is no audience"),
        (&[api], "set SVC_IDP_DOMAIN or SVC_IDP_ISSUER"),
        (
            &[domain, api, ("SVC_IDP_ALGORITHMS", "RS257")],
            "it must be a list of HS256",
        ),
        (
            &[domain, api, ("SVC_IDP_ALGORITHMS", "[]")],
            "it must be a list of HS256",
        ),
        (
            &[domain, api, ("SVC_IDP_ALGORITHMS", r#"["none"]"#)],
            "it must be a list of HS256",
        ),
        (
            &[domain, api, ("SVC_IDP_ALGORITHMS", r#"["HS256"]"#)],
            "HS256 takes a secret",
        ),
        (
            &[domain, api, ("SVC_IDP_ROLES_CLAIM", "roles")],
            "roles must be a JSON pointer",
        ),
        (
            &[domain, api, ("SVC_IDP_CLIENT_SECRET", "hunter2")],
            "set SVC_IDP_CLIENT_ID too",
        ),
        (
            &[
                domain,
                api,
                ("SVC_IDP_ROOT_CERTIFICATES", "/nowhere/ca.pem"),
            ],
            "/nowhere/ca.pem",
        ),
        (
            &[api, ("SVC_IDP_ISSUER", "http://id.example")],
            "must begin with https://",
        ),
        (
            &[api, ("SVC_IDP_ISSUER", "https://me:hunter2@id.example")],
            "must not hold a user or a password",
        ),
    ] {
        let error = start(variables).await.unwrap_err();
        assert!(
            error.contains(message) && !error.contains("hunter2"),
            "{error}"
        );
    }
}

/// Keys and tokens sent over http can be changed and read.
#[tokio::test]
async fn plain_http_is_only_for_local_development() {
    let idp = |domain: &str| IdpProvider::new(domain, "https://api.example");
    assert!(
        idp("http://id.example").is_err()
            && idp("").is_err()
            && IdpProvider::new("id.example", "").is_err()
    );
    let production = SvcConfig {
        environment: Environment::Production,
        ..SvcConfig::default()
    };
    let local = || options().auth_provider(idp("http://127.0.0.1:1").unwrap());
    drop(create_svc_app(local()).await.unwrap());
    let url = "postgres://nobody@127.0.0.1:1/nothing";
    let error = create_svc_app(local().config(production.clone()).database_url(url))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("read over http; use https"), "{error}");
    let opaque = |address: &str| IntrospectionProvider::new(address, "shop", "hunter2").unwrap();
    for (provider, message) in [
        (opaque("http://127.0.0.1:1/").audience("shop"), "over http"),
        (
            opaque("https://id.example/introspect"),
            "set an audience or a required scope",
        ),
    ] {
        let options = options()
            .auth_provider(provider)
            .config(production.clone())
            .database_url(url);
        let error = create_svc_app(options).await.unwrap_err().to_string();
        assert!(
            error.contains(message) && !error.contains("hunter2"),
            "{error}"
        );
    }
}
