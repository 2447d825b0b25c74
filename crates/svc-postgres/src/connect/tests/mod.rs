//! Database URLs, with and without libpq's environment variables.

mod secrets;

#[cfg(feature = "tls")]
use tokio_postgres::config::SslNegotiation;

use super::url::BadUrl;
use super::*;

fn parse(url: &str) -> ConnectConfig {
    ConnectConfig::parse(url, &|_| None).unwrap()
}

fn refused(url: &str) -> String {
    ConnectConfig::parse(url, &|_| None)
        .unwrap_err()
        .to_string()
}

fn with(url: &str, variables: &[(&str, &str)]) -> Result<ConnectConfig, BadUrl> {
    let get = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    ConnectConfig::parse(url, &get)
}

fn hosts(config: &ConnectConfig) -> Vec<(&str, u16)> {
    config
        .hosts
        .iter()
        .map(|host| (host.name.as_deref().unwrap_or_default(), host.port))
        .collect()
}

#[test]
fn a_tcp_url_is_parsed() {
    let config =
        parse("postgresql://me%2Fyou:p%40s+s%2F1@db.example:5433/na%20me?application_name=a%26b");
    assert_eq!(
        (config.user.as_str(), config.database.as_deref()),
        ("me/you", Some("na me"))
    );
    assert_eq!(
        config.password.as_deref(),
        Some("p@s+s/1"),
        "`+` is not a space"
    );

    assert_eq!(hosts(&config), [("db.example", 5433)]);
    assert_eq!(config.application_name.as_deref(), Some("a&b"));

    assert_eq!(
        parse("postgres://me@[::1]/name").hosts[0].name.as_deref(),
        Some("::1")
    );
}

#[test]
fn passwords_may_have_the_characters_that_libpq_accepts() {
    for (text, password) in [
        ("a:b", "a:b"),
        ("a#b", "a#b"),
        ("a[b]", "a[b]"),
        ("a%25%3F", "a%?"),
        ("a&=b", "a&=b"),
    ] {
        assert_eq!(
            parse(&format!("postgres://me:{text}@host/db"))
                .password
                .as_deref(),
            Some(password)
        );
        assert_eq!(
            parse(&format!(
                "postgres://me@host/db?password={}",
                text.replace('&', "%26")
            ))
            .password
            .as_deref(),
            Some(password)
        );
    }
}

#[test]
fn a_socket_url_is_parsed() {
    for url in [
        "postgres:///name?host=/run/pg&port=6000&user=me",
        "postgres://me@%2Frun%2Fpg:6000/name",
    ] {
        let config = parse(url);
        assert_eq!(config.hosts[0].folder(), Some(Path::new("/run/pg")));
        assert_eq!(
            (config.hosts[0].port, config.tls_mode(&config.hosts[0])),
            (6000, TlsMode::Disable)
        );
    }

    let both = parse("postgres://me@host:1/name?host=/run/pg&port=2");
    assert_eq!(
        hosts(&both),
        [("/run/pg", 2)],
        "a parameter replaces what stands before it"
    );
}

#[test]
fn several_hosts_are_parsed() {
    assert_eq!(
        hosts(&parse("postgres://me@a:1,b,[::1]:3/db")),
        [("a", 1), ("b", 5432), ("::1", 3)]
    );
    assert_eq!(
        hosts(&parse("postgres://me@/db?host=a,b&port=7")),
        [("a", 7), ("b", 7)]
    );
    let config =
        parse("postgres://me@a,b/db?hostaddr=127.0.0.1,::1&target_session_attrs=read-write");
    assert_eq!(config.hosts[1].address, Some("::1".parse().unwrap()));
    assert_eq!(config.session, SessionTarget::ReadWrite);
    assert_eq!(
        refused("postgres://me@a,b/db?port=1,2,3"),
        "its parameter `port` has 3 parts, and there are 2 hosts"
    );
    assert_eq!(
        refused("postgres://me@a,b/db?hostaddr=::1"),
        "its parameter `hostaddr` has 1 parts, and there are 2 hosts"
    );

    assert_eq!(
        refused("postgres://me@a:70000/db"),
        "its parameter `port` must be a number from 1 to 65535"
    );
}

#[test]
fn timeouts_and_options_are_parsed() {
    let config = parse(
        "postgres://me@h/db?connect_timeout=3&tcp_user_timeout=1500&keepalives=0&keepalives_count=4&options=-c%20a.b=c\
         &options[search_path]=a\\,%20b",
    );
    assert_eq!(config.connect_timeout, Some(Duration::from_secs(3)));
    assert_eq!(
        config.socket.tcp_user_timeout,
        Some(Duration::from_millis(1500))
    );
    assert_eq!(
        (config.socket.keepalives, config.socket.keepalives_count),
        (Some(false), Some(4))
    );
    assert_eq!(config.options, r"-c a.b=c -c search_path=a\\,\ b");
    assert_eq!(
        parse("postgres://me@h/db?connect_timeout=0").connect_timeout,
        Some(Duration::ZERO)
    );
    assert_eq!(parse("postgres://me@h/db").connect_timeout, None);

    assert_eq!(
        refused("postgres://me@h/db?keepalives_idle=soon"),
        "its parameter `keepalives_idle` must be a whole number"
    );
}

#[cfg(feature = "tls")]
#[test]
fn sslmode_means_the_same_as_in_libpq() {
    let root = "&sslrootcert=/ca.pem";
    for (query, mode, verify) in [
        ("", TlsMode::Prefer, Verify::Nothing),
        ("sslmode=disable", TlsMode::Disable, Verify::Nothing),
        (
            "sslmode=prefer&sslrootcert=/ca.pem",
            TlsMode::Prefer,
            Verify::Nothing,
        ),
        ("sslmode=require", TlsMode::Require, Verify::Nothing),
        ("ssl=true", TlsMode::Require, Verify::Nothing),
        (
            "sslmode=require&sslrootcert=/ca.pem",
            TlsMode::Require,
            Verify::Authority,
        ),
        (
            "sslmode=verify-ca&sslrootcert=/ca.pem",
            TlsMode::Require,
            Verify::Authority,
        ),
        (
            "sslmode=verify-full&sslrootcert=/ca.pem",
            TlsMode::Require,
            Verify::Name,
        ),
        ("sslmode=verify-full", TlsMode::Require, Verify::Name),
        (
            "sslmode=verify-full&sslrootcert=system",
            TlsMode::Require,
            Verify::Name,
        ),
        ("sslrootcert=system", TlsMode::Require, Verify::Name),
    ] {
        let tls = parse(&format!("postgres://me@h/db?{query}")).tls;
        assert_eq!((tls.mode, tls.verify), (mode, verify), "{query}");
        assert_eq!(
            tls.root.is_some(),
            query.ends_with(root.trim_start_matches('&')),
            "{query}"
        );
    }

    for (query, why) in [
        (
            "sslmode=verify-ca",
            "cannot be verify-ca without sslrootcert",
        ),
        (
            "sslmode=verify-ca&sslrootcert=system",
            "must be verify-full with sslrootcert=system",
        ),
        (
            "sslmode=require&sslrootcert=system",
            "must be verify-full with sslrootcert=system",
        ),
        (
            "sslmode=allow",
            "must be one of disable, prefer, require, verify-ca, verify-full",
        ),
        (
            "sslnegotiation=direct",
            "can be direct with sslmode=require",
        ),
        ("sslmode=require&sslcert=/c.pem", "give sslkey"),
        ("sslmode=require&sslkey=/k.pem", "give sslcert"),
        ("channel_binding=require", "cannot be require"),
        (
            "ssl_max_protocol_version=TLSv1.1",
            "must leave TLSv1.2 or TLSv1.3",
        ),
    ] {
        let message = refused(&format!("postgres://me@h/db?{query}"));
        assert!(message.contains(why), "{query}: {message}");
    }

    let direct = parse("postgres://me@h/db?sslmode=require&sslnegotiation=direct").tls;

    assert_eq!(direct.negotiation, SslNegotiation::Direct);
}

#[test]
fn unknown_and_unsupported_parameters_are_refused_by_name() {
    let message = refused("postgres://me@h/db?sslmod=require");
    assert!(
        message
            .starts_with("its parameter `sslmod` is not known; known are host, hostaddr, port, "),
        "{message}"
    );

    for (query, why) in [
        (
            "sslpassword=hunter2",
            "its parameter `sslpassword` is not supported: keys that are encrypted are not read",
        ),
        (
            "sslcrl=/crl.pem",
            "its parameter `sslcrl` is not supported: revocation lists are not read",
        ),
        (
            "require_auth=scram-sha-256",
            "its parameter `require_auth` is not supported",
        ),
        (
            "service=prod",
            "its parameter `service` is not supported: service files are not read",
        ),
        (
            "gssencmode=require",
            "its parameter `gssencmode` must be disable or prefer, or be left out",
        ),
    ] {
        let message = refused(&format!("postgres://me@h/db?{query}"));
        assert!(
            message.starts_with(why) && !message.contains("hunter2"),
            "{message}"
        );
    }

    for query in [
        "gssencmode=prefer",
        "sslcompression=0",
        "client_encoding=UTF8",
        "sslsni=1",
        "sslmode=",
        "replication=false",
    ] {
        parse(&format!("postgres://me@h/db?{query}"));
    }
}

#[cfg(feature = "tls")]
#[test]
fn the_environment_completes_the_url() {
    let variables = [
        ("PGHOST", "env"),
        ("PGPORT", "6000"),
        ("PGUSER", "someone"),
        ("PGPASSWORD", "hunter2"),
        ("PGDATABASE", "shop"),
        ("PGAPPNAME", "till"),
        ("PGSSLMODE", "require"),
        ("PGOPTIONS", "-c a.b=1"),
        ("PGCONNECT_TIMEOUT", "9"),
    ];

    let config = with("postgres://", &variables).unwrap();
    assert_eq!(config.place(), "someone@env:6000/shop");
    assert_eq!(
        (
            config.password.as_deref(),
            config.application_name.as_deref()
        ),
        (Some("hunter2"), Some("till"))
    );

    assert_eq!(
        (config.tls.mode, config.connect_timeout),
        (TlsMode::Require, Some(Duration::from_secs(9)))
    );
    let config = with(
        "postgres://me:other@h:1/db?options=-c%20c.d=2&sslmode=disable",
        &variables,
    )
    .unwrap();

    assert_eq!(config.place(), "me@h:1/db");
    assert_eq!(
        (config.password.as_deref(), config.options.as_str()),
        (Some("other"), "-c a.b=1 -c c.d=2")
    );
    let message = with("postgres://h", &[("PGREQUIREAUTH", "md5")])
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("the variable PGREQUIREAUTH is not supported: "),
        "{message}"
    );
    let message = with("postgres://h", &[("PGSSLMODE", "verify-ca")])
        .unwrap_err()
        .to_string();

    assert!(
        message.starts_with("the variable PGSSLMODE cannot be verify-ca without sslrootcert"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn passwords_come_from_the_file_that_only_its_owner_reads() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".pgpass");
    std::fs::write(
        &file,
        "# mine\na:5432:shop:me:one\n*:*:shop:me:t\\:wo\nlocalhost:*:*:*:three\n",
    )
    .unwrap();

    let home = home.path().display().to_string();
    let password = |url: &str| with(url, &[("HOME", &home)]).unwrap().password;
    let mode =
        |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();

    mode(0o600);
    assert_eq!(password("postgres://me@a/shop").as_deref(), Some("one"));
    assert_eq!(password("postgres://me@b/shop").as_deref(), Some("t:wo"));
    assert_eq!(
        password("postgres://me@%2Frun%2Fpg/other").as_deref(),
        Some("three")
    );
    assert_eq!(password("postgres://me@b/other"), None);
    assert_eq!(
        password("postgres://me:given@a/shop").as_deref(),
        Some("given")
    );
    let error = with("postgres://me@a,b/shop", &[("HOME", &home)])
        .unwrap_err()
        .to_string();
    assert!(error.contains("different passwords"), "{error}");
    let named = format!("postgres://me@a/shop?passfile={}", file.display());
    assert_eq!(parse(&named).password.as_deref(), Some("one"));
    mode(0o640);

    assert_eq!(password("postgres://me@a/shop"), None);
}

#[cfg(not(feature = "tls"))]
#[test]
fn a_url_that_asks_for_tls_needs_the_feature() {
    for query in [
        "sslmode=require",
        "sslmode=verify-full",
        "sslrootcert=system",
    ] {
        let error = refused(&format!("postgres://me@h/db?{query}"));
        assert!(
            error.contains("needs its feature `tls`"),
            "{query}: {error}"
        );
    }

    let config = parse("postgres://me@h/db?sslmode=prefer");
    assert_eq!(config.tls_mode(&config.hosts[0]), TlsMode::Disable);
}

#[cfg(feature = "sqlx")]
#[test]
fn sqlx_connects_itself_where_its_meaning_is_the_same() {
    for (query, does) in [
        ("", true),
        ("sslmode=require", true),
        ("sslmode=prefer&sslrootcert=/ca.pem", true),
        ("sslmode=verify-full", true),
        ("sslmode=disable&connect_timeout=0", true),
        (
            "host=/run/pg&connect_timeout=3&sslmode=require&sslrootcert=/ca.pem",
            true,
        ),
        ("sslmode=require&sslrootcert=/ca.pem", false),
        ("sslmode=verify-ca&sslrootcert=/ca.pem", false),
        ("sslmode=verify-full&sslrootcert=/ca.pem", false),
        ("sslmode=require&ssl_min_protocol_version=TLSv1.3", false),
        ("sslmode=require&sslnegotiation=direct", false),
        ("connect_timeout=3", false),
        ("tcp_user_timeout=3000", false),
        ("keepalives=0", false),
        ("hostaddr=::1", false),
        ("target_session_attrs=primary", false),
        ("host=a,b", false),
    ] {
        assert_eq!(
            parse(&format!("postgres://me@h/db?{query}")).suits_sqlx(),
            does,
            "{query}"
        );
    }

    let config = parse(
        "postgres://me:p%2F@h:7/db?options=-c%20a.b=c%5C%20d&application_name=x&sslmode=verify-full",
    );
    let options = config.setting("statement_timeout", "30").pool_options(None);
    assert_eq!(
        options.get_options(),
        Some(r"-c a.b=c\ d -c statement_timeout=30")
    );
    assert_eq!(
        (
            options.get_host(),
            options.get_port(),
            options.get_username()
        ),
        ("h", 7, "me")
    );

    assert_eq!(
        (options.get_database(), options.get_application_name()),
        (Some("db"), Some("x"))
    );
}
