//! Revocations in a Redis that speaks TLS.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use svc::RedisClient;
use svc::auth::{RedisRevocationStore, RevocationConfig, TokenRevocationService};
use svc_tests::{App, Redis, eventually};
use tempfile::TempDir;

use super::service::{options, provider, query};
use super::token::{USER, token};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Writes a certificate for a name, and its key.
fn certify(folder: &Path, authority: &Authority, name: &str) -> (PathBuf, PathBuf) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()])
        .unwrap()
        .signed_by(&key, authority)
        .unwrap();
    let files = (folder.join("redis.crt"), folder.join("redis.key"));
    std::fs::write(&files.0, certificate.pem()).unwrap();
    std::fs::write(&files.1, key.serialize_pem()).unwrap();
    files
}

/// A server whose certificate an authority has signed for `localhost`.
async fn server() -> (Redis, Authority, TempDir) {
    let (authority, folder) = (authority(), tempfile::tempdir().unwrap());
    let (certificate, key) = certify(folder.path(), &authority, "localhost");
    (
        Redis::encrypted(&certificate, &key).await,
        authority,
        folder,
    )
}

fn revocation(client: &RedisClient) -> TokenRevocationService {
    let store = RedisRevocationStore::new(client, Duration::from_secs(60));
    TokenRevocationService::new(store, RevocationConfig::default())
}

async fn serve(client: &RedisClient) -> App {
    App::serve(
        options()
            .auth_provider(provider())
            .token_revocation(revocation(client)),
    )
    .await
}

fn client(host: &str, redis: &Redis) -> RedisClient {
    RedisClient::new(&format!("rediss://{host}:{}", redis.port())).unwrap()
}

/// A client that trusts an authority, and to which a busy machine is no absence.
fn patient(redis: &Redis, authority: &Authority) -> RedisClient {
    let client = RedisClient::with_timeout(
        &format!("rediss://localhost:{}", redis.port()),
        Duration::from_secs(30),
    );
    client.unwrap().root_certificates(&authority.pem()).unwrap()
}

#[tokio::test]
async fn revocations_work_over_tls() {
    let (mut redis, authority, _folder) = server().await;
    let client = patient(&redis, &authority);
    let app = serve(&client).await;
    let (first, second) = (
        token(json!({ "jti": "first of two" })),
        token(json!({ "jti": "second of two" })),
    );
    assert_eq!(
        query(&app, &first, "{ user_id }").await.data()["user_id"],
        USER
    );
    revocation(&client).revoke_all(USER).await.unwrap();
    assert_eq!(
        query(&app, &first, "{ user_id }").await.data()["user_id"],
        Value::Null
    );
    redis.stop();
    assert_eq!(query(&app, &second, "{ user_id }").await.status, 503);
    redis.start().await;
    eventually(
        async || match query(&app, &second, "{ user_id }").await.status {
            200 => Ok(()),
            status => Err(status.to_string()),
        },
    )
    .await;
    assert_eq!(
        query(&app, &first, "{ user_id }").await.data()["user_id"],
        Value::Null
    );
}

/// Another authority, another name, no trusted authority, and no TLS at all.
#[tokio::test]
async fn an_unverified_redis_server_is_not_used() {
    let (redis, signed_by, _folder) = server().await;
    let held = token(json!({}));
    let trusted = patient(&redis, &signed_by);
    assert_eq!(
        query(&serve(&trusted).await, &held, "{ user_id }")
            .await
            .data()["user_id"],
        USER,
        "the control"
    );
    for (name, client) in [
        (
            "another authority",
            client("localhost", &redis)
                .root_certificates(&authority().pem())
                .unwrap(),
        ),
        (
            "another name",
            client("127.0.0.1", &redis)
                .root_certificates(&signed_by.pem())
                .unwrap(),
        ),
        ("the public authorities", client("localhost", &redis)),
        ("no TLS", RedisClient::new(&redis.url()).unwrap()),
    ] {
        let reply = query(&serve(&client).await, &held, "{ user_id }").await;
        assert_eq!(
            (reply.status, reply.code()),
            (503, "SERVICE_UNAVAILABLE".to_owned()),
            "{name}"
        );
    }
    let plain = Redis::new().await;
    let client = client("localhost", &plain)
        .root_certificates(&signed_by.pem())
        .unwrap();
    assert_eq!(
        query(&serve(&client).await, &held, "{ user_id }")
            .await
            .status,
        503
    );
}

#[test]
fn an_invalid_url_or_certificate_is_explained() {
    let refused = |url: &str| RedisClient::new(url).unwrap_err().to_string();
    assert!(
        refused("rediss://:hunter2-hunter2@localhost#insecure")
            .contains("the certificate is always verified")
    );
    for bad in [
        "rediss://",
        "rediss:///1",
        "rediss://:hunter2-hunter2@localhost/one",
        "redis+tls://localhost",
    ] {
        let error = refused(bad);
        assert!(
            error.contains("rediss://… for TLS") && !error.contains("hunter2"),
            "{error}"
        );
    }
    let client = |url: &str| RedisClient::new(url).unwrap();
    let error = client("redis://localhost")
        .root_certificates(&authority().pem())
        .unwrap_err()
        .to_string();
    assert!(error.contains("must begin with rediss://"), "{error}");
    let key = KeyPair::generate().unwrap().serialize_pem();
    for bad in [
        "",
        "hunter2-hunter2",
        "-----BEGIN CERTIFICATE-----\nhunter2-hunter2\n-----END CERTIFICATE-----\n",
        &key,
    ] {
        let error = client("rediss://localhost")
            .root_certificates(bad)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the root certificates of Redis")
                && error.contains("certificates as PEM"),
            "{error}"
        );
        assert!(
            !error.contains("hunter2") && !error.contains(key.lines().nth(1).unwrap()),
            "{error}"
        );
    }
}
