//! Passwords are never shown.

use super::{ConnectConfig, parse, refused};

/// Each of these URLs contains a password `hunter2…`, in an invalid form.
#[test]
fn no_malformed_url_shows_its_password() {
    for url in [
        "postgres://me:hunter2/x@host/db",
        "postgres://me:hunter2?x@host/db",
        "postgres://me:hunter2?x=y@host/db",
        "postgres://me:1?hunter2=y@host/db",
        "postgres://me:1/hunter2@host/db",
        "postgres://me:hunter2@x@host/db",
        "postgres://me:x@hunter2/y@host/db",
        "postgres://me:x@h?hunter2=y@host/db",
        "postgres://me:hunter2%x@host/db",
        "postgres://me:hunter2%@host/db",
        "postgres://me:hunter2%00@host/db",
        "postgres://me:hunter2%ff@host/db",
        "postgres://me:hunter2 x@host/db",
        "postgres://me:hunter2\n@host/db",
        "postgres://me:hunter2",
        "postgres://me:hunter2/db",
        "postgres://me@host:hunter2/db",
        "postgres://me:x@[hunter2/db",
        "postgres://me@host/db?password=hunter2&x",
        "postgres://me@host/db?password=hunter2&x=y",
        "postgres://me@host/db?password=hunter2&password",
        "postgres://me@host/db?password=hunter2%",
        "postgres://me@host/db?sslpassword=hunter2",
        "postgres://me@host/db?sslkey=-----BEGIN%20hunter2",
        "postgres://me@host/db?sslmode=hunter2",
        "postgres://me@host/db?oauth_client_secret=hunter2",
        "mysql://me:hunter2@host/db",
        "me:hunter2@host/db",
        "host=h password=hunter2",
        "postgres:me:hunter2@host/db",
        "jdbc:postgresql://host/db?password=hunter2",
    ] {
        let message = refused(url);
        assert!(!message.contains("hunter2"), "{url}: {message}");
        assert_eq!(ConnectConfig::shown(url), "***", "{url}");
    }

    for url in [
        "postgres://me:hunter2/x@host/db",
        "postgres://me:1/hunter2@host/db",
        "postgres://me:1?x=hunter2@host/db",
    ] {
        let message = refused(url);
        assert!(message.contains("write `/` as %2F"), "{message}");
    }

    assert!(
        refused("postgres://me:a%x@host/db").contains("in the password, a `%` is not followed")
    );
    assert!(refused("postgres://me:a b@host/db").contains("write a space as %20"));

    assert!(refused("postgres://me:a@b@host/db").contains("%40"));
}

/// A password with any special characters around its text, without escapes.
#[test]
fn no_unescaped_password_is_shown() {
    const PIECES: &[&str] = &[
        "", "@", "/", "?", ":", "=", "&", "#", "%", "%40", ",", "[", "?user=", "?dbname=",
    ];

    let pairs = || {
        PIECES
            .iter()
            .flat_map(|first| PIECES.iter().map(move |second| format!("{first}{second}")))
    };

    for before in pairs() {
        for after in pairs() {
            let url = format!("postgres://me:{before}hunter2{after}@host/db");
            let shown = ConnectConfig::shown(&url);
            assert!(!shown.contains("hunter2"), "{url}: {shown}");

            if let Err(error) = ConnectConfig::parse(&url, &|_| None) {
                assert!(!error.to_string().contains("hunter2"), "{url}: {error}");
            }
        }
    }
}

#[cfg(feature = "tls")]
#[test]
fn displayed_urls_have_no_secrets() {
    for (url, shown) in [
        (
            "postgres://me:hunter2@host:5432/db?sslmode=require",
            "postgres://me:***@host:5432/db",
        ),
        (
            "postgres://me@host/db?password=hunter2",
            "postgres://me:***@host:5432/db",
        ),
        ("postgres://me@a,b:1/db", "postgres://me@a:5432,b:1/db"),
        (
            "postgres://me%40corp:hunter2@host/db",
            "postgres://me@corp:***@host:5432/db",
        ),
        (
            "postgres://me:hunter2@host/a%40b",
            "postgres://me:***@host:5432/***",
        ),
        (
            "postgres://me:hunter2%40x@host/db",
            "postgres://me:***@host:5432/db",
        ),
        (
            "postgres://me%3Ahunter2@host/db",
            "postgres://me:***@host:5432/db",
        ),
        (
            "postgres://me@host/db%3Fpassword%3Dhunter2",
            "postgres://me@host:5432/***",
        ),
        (
            "postgres://me%3Ahunter2%40host%2Fdb?user=me",
            "postgres://me@***/",
        ),
        ("postgres://me:x@h?application_name=hunter2@host/db", "***"),
        ("postgres://me:x@h?user=hunter2@host/db", "***"),
        ("postgres://me:x@h?dbname=hunter2@host/db", "***"),
    ] {
        assert_eq!(ConnectConfig::shown(url), shown);
    }

    let key = "-----BEGIN%20PRIVATE%20KEY-----hunter2";
    let config = parse(&format!(
        "postgres://me:hunter2@h/db?options=-c%20a.b=hunter2&sslcert={key}&sslkey={key}"
    ));

    assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
}
