//! A database URL means what it means to libpq, for what svc reads and for SQL of resolvers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use svc::prelude::*;
use svc::{SvcConfig, sqlx};
use svc_embedded::{Database, Options};
use svc_tests::App;

#[svc_type(sql_source = "v_tls")]
struct Tls {
    encrypted: bool,
}

#[svc::query]
async fn planned() -> Tls;

#[svc::query]
async fn resolved(ctx: &Context<'_>) -> Result<bool> {
    Ok(sqlx::query_scalar("SELECT encrypted FROM v_tls")
        .fetch_one(ctx.db().pool())
        .await?)
}

const SETUP: &str = "CREATE OR REPLACE VIEW v_tls AS SELECT ssl AS encrypted FROM pg_stat_ssl WHERE pid = pg_backend_pid();";

fn options(url: impl Into<String>) -> AppOptions {
    let config = SvcConfig {
        environment: svc::Environment::Production,
        ..SvcConfig::default()
    };
    AppOptions::new()
        .config(config)
        .database_url(url)
        .setup_sql(SETUP)
        .queries(queries![planned, resolved])
}

/// A server with a certificate for `localhost`, whose authority is in `ca.crt`.
async fn server(folder: &Path) -> Database {
    let authority = || {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (ca, key) = (authority(), KeyPair::generate().unwrap());
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .signed_by(&key, &ca)
        .unwrap();
    let hba = "local all all trust\nhostssl all all all trust\n".to_owned();
    let files = [
        ("s.crt", certificate.pem()),
        ("s.key", key.serialize_pem()),
        ("ca.crt", ca.pem()),
        ("hba", hba),
    ];
    for (name, text) in files.into_iter().chain([("other.crt", authority().pem())]) {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::set_permissions(folder.join("s.key"), fs::Permissions::from_mode(0o600)).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    let options = Options::temporary()
        .tcp(true)
        .setting("ssl", "on")
        .setting("hba_file", file("hba"));
    Database::start(
        options
            .setting("ssl_cert_file", file("s.crt"))
            .setting("ssl_key_file", file("s.key")),
    )
    .await
    .unwrap()
}

#[tokio::test]
async fn both_pools_trust_the_given_authority_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path()).await;
    let port = server.tcp_port().unwrap();
    let url = |host: &str, mode: &str, root: &str| {
        let root = folder.path().join(root);
        format!(
            "postgres://postgres@{host}:{port}/postgres?sslmode={mode}&sslrootcert={}",
            root.display()
        )
    };
    let several =
        url("127.0.0.1:1,localhost", "verify-full", "ca.crt") + "&target_session_attrs=read-write";
    for url in [
        url("localhost", "verify-full", "ca.crt"),
        url("127.0.0.1", "verify-ca", "ca.crt"),
        several,
    ] {
        let app = App::serve(options(&url)).await;
        // The first waits for the set-up, the bare pool of the second does not.
        app.until_data(
            "{ planned { encrypted } }",
            &json!({ "planned": { "encrypted": true } }),
        )
        .await;
        app.until_data("{ resolved }", &json!({ "resolved": true }))
            .await;
    }
    for (host, mode, root) in [
        ("localhost", "verify-full", "other.crt"),
        ("localhost", "verify-ca", "other.crt"),
        ("localhost", "require", "other.crt"),
        ("127.0.0.1", "verify-full", "ca.crt"),
    ] {
        let app = App::serve(options(url(host, mode, root))).await;
        for field in ["{ planned { encrypted } }", "{ resolved }"] {
            assert_eq!(
                app.query(field).await.json()["data"],
                json!(null),
                "{host} {mode} {root}"
            );
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn unsupported_url_parameters_are_refused_at_startup_by_name() {
    for (query, name) in [
        ("sslmode=verify-ca", "sslmode"),
        ("sslrootcert=system&sslmode=require", "sslmode"),
        ("channel_binding=require", "channel_binding"),
        ("sslnegotiation=direct", "sslnegotiation"),
        ("sslcrl=/crl.pem", "sslcrl"),
        ("require_auth=md5", "require_auth"),
        ("sslmod=require", "sslmod"),
        ("statement-cache-capacity=5", "statement-cache-capacity"),
    ] {
        let error = create_svc_app(options(format!("postgres://me@localhost/db?{query}")))
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("its parameter `{name}` ")),
            "{error}"
        );
    }
}
