//! The URL's parameters for TLS and for hosts, in both pools, against servers that require a
//! password over TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use sqlx::ConnectOptions as _;
use svc_embedded::{Database, Options};
use tempfile::TempDir;

use crate::connect::ConnectConfig;
use crate::driver::{Bounds, Driver, Proxy};
use crate::{Session, Statement};

const HBA: &str =
    "local all all trust\nhostssl all guest all scram-sha-256\nhostssl all card all cert\n";

const ENCRYPTED: &str = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn params(name: &str) -> CertificateParams {
    CertificateParams::new(vec![name.to_owned()]).unwrap()
}

/// Writes a certificate and its key.
fn write(folder: &Path, name: &str, params: &CertificateParams, authority: &Authority) {
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    fs::write(folder.join(name).with_extension("crt"), certificate.pem()).unwrap();
    let path = folder.join(name).with_extension("key");
    fs::write(&path, key.serialize_pem()).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A directory with an authority's certificates: for servers (valid, with another name, and
/// expired) and for a client. `other.crt` is another authority.
fn certificates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (ca, path) = (authority(), folder.path());
    let mut expired = params("localhost");

    (expired.not_before, expired.not_after) = (
        rcgen::date_time_ymd(2020, 1, 1),
        rcgen::date_time_ymd(2021, 1, 1),
    );
    let mut card = params("card.example");
    card.distinguished_name
        .push(rcgen::DnType::CommonName, "card");
    card.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];

    for (name, params) in [
        ("good", &params("localhost")),
        ("named", &params("other.example")),
        ("expired", &expired),
        ("card", &card),
    ] {
        write(path, name, params, &ca);
    }

    for (name, text) in [
        ("ca.crt", ca.pem()),
        ("other.crt", authority().pem()),
        ("both.crt", authority().pem() + &ca.pem()),
        ("empty.crt", String::new()),
        ("hba.conf", HBA.to_owned()),
    ] {
        fs::write(path.join(name), text).unwrap();
    }

    folder
}

async fn server(folder: &Path, certificate: &str) -> Database {
    let file = |name: &str| folder.join(name).display().to_string();
    let options = Options::temporary()
        .tcp(true)
        .setting("ssl", "on")
        .setting("hba_file", file("hba.conf"));
    let options = options.setting("ssl_ca_file", file("ca.crt"));
    let options = options.setting("ssl_cert_file", file(&format!("{certificate}.crt")));
    let database =
        Database::start(options.setting("ssl_key_file", file(&format!("{certificate}.key"))))
            .await
            .unwrap();
    let roles = "CREATE ROLE guest LOGIN PASSWORD 'p@ss'; CREATE ROLE card LOGIN";
    sqlx::raw_sql(roles)
        .execute(
            &mut config(&database.url())
                .pool_options(None)
                .connect()
                .await
                .unwrap(),
        )
        .await
        .unwrap();

    database
}

fn config(url: &str) -> ConnectConfig {
    ConnectConfig::parse(url, &|_| None).unwrap()
}

/// Returns the results that the driver and sqlx get for a statement.
async fn ask(url: &str, sql: &'static str) -> [Result<String, String>; 2] {
    let config = config(url);
    let driver = Driver::new(
        &config,
        Bounds {
            size: 1,
            acquire_timeout: Duration::from_secs(30),
            deadline: Duration::from_secs(60),
        },
    );

    let rows = driver
        .rows(Session::none(), &Statement::new(sql, Vec::new()))
        .await;
    let driven = rows
        .map(|rows| rows[0].get(0))
        .map_err(|error| error.with_sources());
    let proxy = Proxy::for_sqlx(&config).unwrap();
    let asked = async {
        let mut connection = config
            .pool_options(proxy.as_ref().map(Proxy::folder))
            .connect()
            .await?;
        sqlx::query_scalar(sql).fetch_one(&mut connection).await
    };

    [
        driven,
        asked.await.map_err(|error: sqlx::Error| error.to_string()),
    ]
}

fn url(database: &Database, host: &str, query: &str) -> String {
    let port = database.tcp_port().unwrap();
    format!("postgres://guest:p%40ss@{host}:{port}/postgres?{query}")
}

async fn works(url: &str, encrypted: &str) {
    for answer in ask(url, ENCRYPTED).await {
        assert_eq!(answer.as_deref(), Ok(encrypted), "{url}");
    }
}

async fn fails(url: &str, why: &str) {
    for answer in ask(url, ENCRYPTED).await {
        let error = answer.expect_err(url);
        assert!(error.contains(why), "{url}: {error}");
    }
}

fn root(folder: &Path, mode: &str, name: &str) -> String {
    format!("sslmode={mode}&sslrootcert={}", folder.join(name).display())
}

#[tokio::test]
async fn sslmode_decides_what_is_checked_in_both_pools() {
    let folder = certificates();
    let path = folder.path();
    let (good, named, expired) = tokio::join!(
        server(path, "good"),
        server(path, "named"),
        server(path, "expired")
    );

    for (server, host, query) in [
        (&good, "127.0.0.1", "sslmode=prefer".to_owned()),
        (&good, "127.0.0.1", "sslmode=require".to_owned()),
        (&expired, "localhost", "sslmode=require".to_owned()),
        (&good, "127.0.0.1", root(path, "prefer", "other.crt")),
        (&good, "127.0.0.1", root(path, "require", "ca.crt")),
        (&named, "localhost", root(path, "require", "ca.crt")),
        (&good, "127.0.0.1", root(path, "verify-ca", "ca.crt")),
        (&named, "localhost", root(path, "verify-ca", "ca.crt")),
        (&good, "localhost", root(path, "verify-full", "ca.crt")),
        (&good, "localhost", root(path, "verify-full", "both.crt")),
        (
            &good,
            "localhost",
            root(path, "verify-full", "ca.crt") + "&ssl_min_protocol_version=TLSv1.3",
        ),
        (
            &good,
            "localhost",
            root(path, "verify-full", "ca.crt") + "&ssl_max_protocol_version=TLSv1.2",
        ),
        // The name is checked against the certificate, and the address is used to connect.
        (
            &named,
            "other.example",
            root(path, "verify-full", "ca.crt") + "&hostaddr=127.0.0.1",
        ),
    ] {
        works(&url(server, host, &query), "true").await;
    }

    for (server, host, query, why) in [
        (
            &good,
            "localhost",
            "sslmode=disable".to_owned(),
            "no encryption",
        ),
        (
            &good,
            "localhost",
            root(path, "require", "other.crt"),
            "invalid peer certificate",
        ),
        (
            &good,
            "localhost",
            root(path, "verify-ca", "other.crt"),
            "invalid peer certificate",
        ),
        (
            &good,
            "localhost",
            root(path, "verify-full", "other.crt"),
            "invalid peer certificate",
        ),
        (
            &good,
            "localhost",
            "sslmode=verify-full".to_owned(),
            "UnknownIssuer",
        ),
        (
            &good,
            "localhost",
            "sslrootcert=system".to_owned(),
            "UnknownIssuer",
        ),
        (
            &expired,
            "localhost",
            root(path, "require", "ca.crt"),
            "expired",
        ),
        (
            &expired,
            "localhost",
            root(path, "verify-ca", "ca.crt"),
            "expired",
        ),
        (
            &expired,
            "localhost",
            root(path, "verify-full", "ca.crt"),
            "expired",
        ),
        (
            &named,
            "localhost",
            root(path, "verify-full", "ca.crt"),
            "not valid for name",
        ),
        (
            &good,
            "127.0.0.1",
            root(path, "verify-full", "ca.crt"),
            "not valid for name",
        ),
        (
            &good,
            "other.example",
            root(path, "verify-full", "ca.crt") + "&hostaddr=127.0.0.1",
            "not valid for name",
        ),
        (
            &good,
            "localhost",
            root(path, "verify-full", "none.crt"),
            "none.crt cannot be read",
        ),
        (
            &good,
            "localhost",
            root(path, "require", "none.crt"),
            "none.crt cannot be read",
        ),
        (
            &good,
            "localhost",
            root(path, "verify-full", "empty.crt"),
            "empty.crt holds no certificate",
        ),
    ] {
        fails(&url(server, host, &query), why).await;
    }

    works(
        &good.url().replace("sslmode=disable", "sslmode=require"),
        "false",
    )
    .await;

    clients_show_certificates(path, &good).await;
    hosts_are_tried_in_turn(path, &good, &named).await;

    tokio::join!(good.stop(), named.stop(), expired.stop());
}

async fn clients_show_certificates(folder: &Path, server: &Database) {
    let url = |query: &str| url(server, "localhost", query).replace("guest:p%40ss", "card");
    let files: Vec<PathBuf> = ["card.crt", "card.key"]
        .iter()
        .map(|name| folder.join(name))
        .collect();
    let shown = format!(
        "&sslcert={}&sslkey={}",
        files[0].display(),
        files[1].display()
    );

    for query in [
        root(folder, "verify-full", "ca.crt"),
        "sslmode=require".to_owned(),
    ] {
        works(&url(&(query + &shown)), "true").await;
    }

    let inline: Vec<_> = files
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let encode = |text: &str| {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    };

    let shown_inline = format!(
        "&sslcert={}&sslkey={}",
        encode(&inline[0]),
        encode(&inline[1])
    );

    works(
        &url(&(root(folder, "verify-full", "ca.crt") + &shown_inline)),
        "true",
    )
    .await;

    fs::set_permissions(&files[1], fs::Permissions::from_mode(0o644)).unwrap();

    fails(
        &url(&(root(folder, "verify-full", "ca.crt") + &shown)),
        "card.key can be read by others",
    )
    .await;
}

async fn hosts_are_tried_in_turn(folder: &Path, good: &Database, named: &Database) {
    let (port, other) = (good.tcp_port().unwrap(), named.tcp_port().unwrap());
    let several =
        |hosts: &str, query: &str| format!("postgres://guest:p%40ss@{hosts}/postgres?{query}");
    let full = root(folder, "verify-full", "ca.crt");

    // The first has no server, and the second has another name.
    let hosts = format!("127.0.0.1:1,localhost:{other},localhost:{port}");

    works(&several(&hosts, &full), "true").await;
    works(
        &several(&hosts, &(full.clone() + "&load_balance_hosts=random")),
        "true",
    )
    .await;

    for (target, is_there) in [
        ("any", true),
        ("read-write", true),
        ("primary", true),
        ("prefer-standby", true),
        ("standby", false),
        ("read-only", false),
    ] {
        let url = several(&hosts, &format!("{full}&target_session_attrs={target}"));
        if is_there {
            works(&url, "true").await;
        } else {
            fails(&url, "").await;
        }
    }

    let read_only = several(
        &hosts,
        &format!(
            "{full}&target_session_attrs=read-only&options=-c%20default_transaction_read_only=on"
        ),
    );

    works(&read_only, "true").await;
    let wrong = several(&hosts, &full).replace("p%40ss", "wrong");

    fails(&wrong, "password authentication failed").await;
}
