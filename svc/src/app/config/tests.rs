//! Settings from the environment.

use std::time::Duration;

use super::{DatabaseConfig, Environment, SvcConfig};

fn read(variables: &[(&str, &str)]) -> Result<SvcConfig, String> {
    SvcConfig::from_variables(|name| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    })
    .map_err(|error| error.to_string())
}

#[test]
fn variables_set_the_configuration() {
    let config = read(&[
        ("DATABASE_URL", "postgres://other"),
        ("SVC_DATABASE_URL", "postgres://me@here/db"),
        ("SVC_AUTO_CAMEL_CASE", "True"),
        ("SVC_ENVIRONMENT", "production"),
        ("SVC_DATABASE_POOL_TIMEOUT", "7"),
        ("SVC_HOST", "::1"),
        ("SVC_PORT", ""),
    ])
    .unwrap();

    assert_eq!(
        config.database.url.as_deref(),
        Some("postgres://me@here/db")
    );
    assert!(config.schema.auto_camel_case);
    assert_eq!(
        (config.environment, config.database.pool_timeout),
        (Environment::Production, Duration::from_secs(7))
    );

    assert_eq!(
        (config.http.host.to_string().as_str(), config.http.port),
        ("::1", 8000),
        "an empty variable is not set"
    );
}

#[test]
fn a_bad_value_names_the_variable_and_what_is_allowed() {
    for (name, value, message) in [
        (
            "SVC_AUTO_CAMEL_CASE",
            "maybe",
            "SVC_AUTO_CAMEL_CASE is \"maybe\"; it must be true or false",
        ),
        (
            "SVC_ENVIRONMENT",
            "staging",
            "SVC_ENVIRONMENT is \"staging\"; it must be development or production",
        ),
        (
            "SVC_DATABASE_POOL_TIMEOUT",
            "0",
            "SVC_DATABASE_POOL_TIMEOUT is \"0\"; it must be a number of seconds from 1 to 3600",
        ),
        (
            "SVC_PORT",
            "70000",
            "SVC_PORT is \"70000\"; it must be a port from 0 to 65535",
        ),
        (
            "SVC_HOST",
            "localhost",
            "SVC_HOST is \"localhost\"; it must be an IP address, such as 127.0.0.1, 0.0.0.0 or ::1",
        ),
        (
            "DATABASE_URL",
            "mysql://me:secret@here/db",
            "DATABASE_URL is \"***\"; it must be a URL such as postgres://user:password@localhost:5432/name",
        ),
    ] {
        assert_eq!(read(&[(name, value)]).unwrap_err(), message);
    }
}

#[test]
fn passwords_are_not_shown() {
    for url in [
        "postgres://me:hunter2@h/db",
        "postgres://me@h/db?password=hunter2",
    ] {
        let config = read(&[("DATABASE_URL", url)]).unwrap();
        assert!(
            format!("{config:?}").contains("postgres://me:***@h:5432/db"),
            "{config:?}"
        );
    }

    for url in [
        "postgres://me:hunter2/1@h/db",
        "postgres://me@h/db?sslpassword=hunter2",
        "mysql://me:hunter2@h/db",
    ] {
        let message = read(&[("DATABASE_URL", url)]).unwrap_err();
        assert!(
            message.starts_with("DATABASE_URL is \"***\"; ") && !message.contains("hunter2"),
            "{message}"
        );
        let config = SvcConfig {
            database: DatabaseConfig {
                url: Some(url.to_owned()),
                ..DatabaseConfig::default()
            },
            ..SvcConfig::default()
        };
        assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
    }
}
