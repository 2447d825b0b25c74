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

#[cfg(feature = "tls")]
#[test]
fn what_is_shown_has_no_secret() {
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
    ] {
        assert_eq!(ConnectConfig::shown(url), shown);
    }

    let key = "-----BEGIN%20PRIVATE%20KEY-----hunter2";
    let config = parse(&format!(
        "postgres://me:hunter2@h/db?options=-c%20a.b=hunter2&sslcert={key}&sslkey={key}"
    ));

    assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
}
