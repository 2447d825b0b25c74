//! The settings of connections.

use std::time::Duration;

use svc::{HttpConfig, SvcConfig};

fn read(variables: &[(&str, &str)]) -> Result<HttpConfig, String> {
    let get = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    SvcConfig::from_variables(get)
        .map(|config| config.http)
        .map_err(|error| error.to_string())
}

#[test]
fn the_environment_sets_every_bound() {
    let config = read(&[
        ("SVC_HTTP_MAX_CONNECTIONS", "7"),
        ("SVC_HTTP_HEADER_TIMEOUT", "1"),
        ("SVC_HTTP_BODY_TIMEOUT", "2"),
        ("SVC_HTTP_WRITE_TIMEOUT", "3"),
        ("SVC_HTTP_IDLE_TIMEOUT", "4"),
        ("SVC_HTTP_HALF_CLOSE_TIMEOUT", "6"),
        ("SVC_HTTP_MAX_HEADER_SIZE", "9000"),
        ("SVC_HTTP2_MAX_STREAMS", "5"),
        ("SVC_HTTP2_PING_INTERVAL", "0"),
    ]);
    let expected = HttpConfig {
        max_connections: 7,
        header_timeout: Duration::from_secs(1),
        body_timeout: Duration::from_secs(2),
        write_timeout: Duration::from_secs(3),
        idle_timeout: Duration::from_secs(4),
        half_close_timeout: Duration::from_secs(6),
        max_header_size: 9_000,
        http2_max_streams: 5,
        http2_ping_interval: None,
        ..HttpConfig::default()
    };
    assert_eq!(config, Ok(expected));
    assert_eq!(read(&[]), Ok(HttpConfig::default()));
}

#[test]
fn an_invalid_bound_is_named() {
    for (name, value, message) in [
        (
            "SVC_HTTP_MAX_CONNECTIONS",
            "0",
            "is \"0\"; it must be a number of connections from 1 to 1000000",
        ),
        (
            "SVC_HTTP_IDLE_TIMEOUT",
            "75s",
            "is \"75s\"; it must be a number of seconds from 1 to 86400",
        ),
        (
            "SVC_HTTP_MAX_HEADER_SIZE",
            "100",
            "is \"100\"; it must be a number of bytes from 8192 to 1048576",
        ),
        (
            "SVC_HTTP2_PING_INTERVAL",
            "-1",
            "is \"-1\"; it must be a number of seconds from 0 to 86400",
        ),
    ] {
        assert_eq!(
            read(&[(name, value)]).unwrap_err(),
            format!("{name} {message}")
        );
    }
}
