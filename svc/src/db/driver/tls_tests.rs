//! `sslmode` against a server with a certificate for `localhost`, which asks for a password over TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use svc_embedded::{Database, Options};

use super::{Driver, DriverError};
use crate::db::{Session, Statement};

const HBA: &str = "local all all trust\nhostssl all all all scram-sha-256\n";

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server whose files are in `folder`, beside those of the authority that signed its certificate and of another.
async fn server(folder: &Path) -> Database {
    let (authority, key) = (authority(), KeyPair::generate().unwrap());
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    for (name, text) in [
        ("server.crt", certificate.pem()),
        ("server.key", key.serialize_pem()),
        ("ca.crt", authority.pem()),
        ("other.crt", self::authority().pem()),
        ("hba.conf", HBA.to_owned()),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::set_permissions(folder.join("server.key"), fs::Permissions::from_mode(0o600)).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    let options = Options::temporary().tcp(true).setting("ssl", "on").setting("hba_file", file("hba.conf"));
    let options = options.setting("ssl_cert_file", file("server.crt")).setting("ssl_key_file", file("server.key"));
    Database::start(options).await.unwrap()
}

async fn ask(url: &str, sql: &str) -> Result<String, DriverError> {
    let driver = Driver::new(&url.parse().unwrap(), 1, Duration::from_secs(5));
    let rows = driver.rows(Session::none(), &Statement::new(sql, Vec::new())).await?;
    Ok(rows.first().map(|row| row.get(0)).unwrap_or_default())
}

#[tokio::test]
async fn sslmode_decides_what_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let database = server(folder.path()).await;
    ask(&database.url(), "CREATE ROLE guest LOGIN PASSWORD 'p@ss'").await.unwrap();
    let port = database.tcp_port().unwrap();
    let encrypted = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let ask = async |host: &str, mode: &str, authority: &str| {
        let root = folder.path().join(authority);
        let user = "guest:p%40ss";
        let url = format!("postgres://{user}@{host}:{port}/postgres?sslmode={mode}&sslrootcert={}", root.display());
        ask(&url, encrypted).await
    };
    for (host, mode, authority) in [
        ("127.0.0.1", "prefer", "other.crt"),
        ("127.0.0.1", "require", "other.crt"),
        ("127.0.0.1", "verify-ca", "ca.crt"),
        ("localhost", "verify-full", "ca.crt"),
    ] {
        assert_eq!(ask(host, mode, authority).await.unwrap(), "true", "{mode}");
    }
    for (host, mode, authority, why) in [
        ("localhost", "disable", "ca.crt", "no encryption"),
        ("localhost", "verify-ca", "other.crt", "InvalidCertificate"),
        ("localhost", "verify-full", "other.crt", "InvalidCertificate"),
        ("127.0.0.1", "verify-full", "ca.crt", "NotValidForName"),
        ("localhost", "verify-full", "none.crt", "none.crt cannot be read"),
    ] {
        let error = ask(host, mode, authority).await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains(why), "{mode}: {text}");
    }
    assert_eq!(self::ask(&database.url(), encrypted).await.unwrap(), "false", "a socket");
    database.stop().await;
}
