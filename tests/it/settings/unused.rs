//! Settings that nothing uses.

use super::start::{is_program, log_of};

/// Settings of parts that a program may lack, with what would use them.
const OF_MISSING_PARTS: [(&str, &str, &str); 26] = [
    ("SVC_RATE_LIMIT_ENABLED", "true", "svc::setup_rate_limiting"),
    (
        "SVC_RATE_LIMIT_REQUESTS_PER_MINUTE",
        "3",
        "svc::setup_rate_limiting",
    ),
    (
        "SVC_RATE_LIMIT_WHITELIST",
        "10.0.0.1",
        "svc::setup_rate_limiting",
    ),
    ("SVC_METRICS_NAMESPACE", "shop", "svc::setup_metrics"),
    ("SVC_METRICS_ENABLED", "true", "svc::setup_metrics"),
    ("SVC_TRACING_SQL_COMMENTS", "true", "svc::setup_tracing"),
    (
        "SVC_ACCOUNTS_ACCESS_TOKEN_TTL",
        "5",
        "SVC_AUTH_PROVIDER=native",
    ),
    ("SVC_ACCOUNTS_PATH", "/accounts", "SVC_AUTH_PROVIDER=native"),
    (
        "SVC_ACCOUNTS_ADDRESS_HEADER",
        "x-real-ip",
        "SVC_AUTH_PROVIDER=native",
    ),
    (
        "SVC_IDP_DOMAIN",
        "shop.example.com",
        "SVC_AUTH_PROVIDER=idp",
    ),
    (
        "SVC_AUTH_ISSUER",
        "https://shop.example.com",
        "set SVC_AUTH_PROVIDER",
    ),
    (
        "SVC_AUTH_SECRET_KEY",
        "a secret of the tests, longer than 32 bytes",
        "set SVC_AUTH_PROVIDER",
    ),
    ("SVC_AUTH_TIMEOUT", "3", "set SVC_AUTH_PROVIDER"),
    ("SVC_DEV_AUTH_USERNAME", "ada", "SVC_DEV_AUTH_PASSWORD"),
    ("SVC_AUTHORIZATION_TIMEOUT", "3", "no authorizer"),
    ("SVC_FORWARDED_HEADER", "x-real-ip", "SVC_TRUSTED_PROXIES"),
    ("SVC_CORS_MAX_AGE", "60", "SVC_CORS_ORIGINS"),
    ("SVC_COMPRESSION_MIN_SIZE", "64", "SVC_COMPRESSION=true"),
    ("SVC_EVENTS_QUEUE", "7", "no subscriptions"),
    ("SVC_RESPONSE_CACHE", "true", "#[svc::query(cache = 30)]"),
    ("SVC_RESPONSE_CACHE_SIZE", "7", "#[svc::query(cache = 30)]"),
    (
        "SVC_REGISTERED_ONLY_MODE",
        "warn",
        "SVC_REGISTERED_ONLY=true",
    ),
    ("SVC_ALLOW_UNBOUND_POLICIES", "true", "no session variables"),
    ("SVC_LOG_USERS", "true", "SVC_LOG_REQUESTS=true"),
    ("SVC_UPLOAD_MAX_FILES", "3", "SVC_UPLOADS=true"),
    ("SVC_SECURITY_LOG_STDOUT", "false", ""),
];

fn unused(lines: &[String], name: &str) -> Option<String> {
    lines
        .iter()
        .find(|line| line.contains(&format!("{name} is set but unused")))
        .cloned()
}

#[tokio::test]
async fn settings_of_missing_parts_are_named_from_every_source() {
    if is_program().await {
        return;
    }
    let test = "settings::unused::settings_of_missing_parts_are_named_from_every_source";
    let settings = OF_MISSING_PARTS.map(|(name, value, _)| (name, value));
    for way in ["from_env", "config", "code"] {
        let lines = log_of(test, way, &settings);
        for (name, _, why) in OF_MISSING_PARTS.iter().filter(|(.., why)| !why.is_empty()) {
            let line =
                unused(&lines, name).unwrap_or_else(|| panic!("{way}: no {name} in {lines:#?}"));
            assert!(line.contains(why), "{way}: {line}");
        }
        assert_eq!(unused(&lines, "SVC_SECURITY_LOG_STDOUT"), None, "{way}");
    }
}

#[tokio::test]
async fn misspelled_settings_are_named_from_every_source() {
    if is_program().await {
        return;
    }
    let test = "settings::unused::misspelled_settings_are_named_from_every_source";
    for way in ["from_env", "config", "code"] {
        let lines = log_of(test, way, &[("SVC_LIMIT_DEPTHS", "3")]);
        let named = "SVC_LIMIT_DEPTHS is not a setting of svc; did you mean SVC_LIMIT_DEPTH?";
        assert_eq!(
            lines.iter().filter(|line| line.contains(named)).count(),
            1,
            "{way}: {lines:#?}"
        );
    }
}

#[tokio::test]
async fn settings_that_have_an_effect_are_not_named() {
    if is_program().await {
        return;
    }
    let test = "settings::unused::settings_that_have_an_effect_are_not_named";
    let settings = [
        ("SVC_LIMIT_DEPTH", "7"),
        ("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "3"),
        ("SVC_RATE_LIMIT_IPV6_PREFIX", "48"),
        ("SVC_TRUSTED_PROXIES", "[\"10.0.0.0/8\"]"),
        ("SVC_FORWARDED_HEADER", "x-real-ip"),
        ("SVC_AUTHORIZATION_TIMEOUT", "9"),
        ("SVC_METRICS_NAMESPACE", "shop"),
        ("SVC_CORS_ORIGINS", "https://a.example.com"),
        ("SVC_CORS_MAX_AGE", "60"),
        ("SVC_HTTP_BODY_TIMEOUT", "9"),
        ("SVC_QUERY_TIMEOUT", "9"),
        ("SVC_LOG_FORMAT", "text"),
        ("SVC_PG_BIN", "/nowhere"),
    ];
    let lines = log_of(test, "parts", &settings);
    let named = ["is set but unused", "has no effect", "not a setting"];
    assert!(
        !lines
            .iter()
            .any(|line| named.iter().any(|named| line.contains(named))),
        "{lines:#?}"
    );
}

#[tokio::test]
async fn an_unused_bucket_size_is_named() {
    if is_program().await {
        return;
    }
    let test = "settings::unused::an_unused_bucket_size_is_named";
    for (way, is_named) in [("parts", true), ("buckets", false)] {
        let lines = log_of(test, way, &[("SVC_RATE_LIMIT_BURST_SIZE", "7")]);
        assert_eq!(
            unused(&lines, "SVC_RATE_LIMIT_BURST_SIZE").is_some(),
            is_named,
            "{way}: {lines:#?}"
        );
    }
}

/// The program gives rate limits of its own, and no settings at all.
#[tokio::test]
async fn settings_that_the_program_overrides_are_named() {
    if is_program().await {
        return;
    }
    let test = "settings::unused::settings_that_the_program_overrides_are_named";
    let lines = log_of(
        test,
        "own limits",
        &[
            ("SVC_RATE_LIMIT_REQUESTS_PER_MINUTE", "3"),
            ("SVC_PORT", "1"),
        ],
    );
    let limits = "SVC_RATE_LIMIT_REQUESTS_PER_MINUTE is set but has no effect on rate limits";
    assert!(lines.iter().any(|line| line.contains(limits)), "{lines:#?}");
    let port = "SVC_PORT is set but has no effect: the program overrides it";
    assert!(lines.iter().any(|line| line.contains(port)), "{lines:#?}");
    let lines = log_of(test, "code", &[("SVC_LIMIT_DEPTH", "3")]);
    let depth = "SVC_LIMIT_DEPTH is set but has no effect: the program overrides it";
    assert!(lines.iter().any(|line| line.contains(depth)), "{lines:#?}");
}
