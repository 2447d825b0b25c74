//! The settings without effect in a program, because the part that would use them is missing.

use std::time::Duration;

use crate::RateLimitConfig;
use crate::app::AppOptions;
use crate::app::options::{has_unlimited, warn_of_unlimited};
use crate::rate_limit::RateLimiting;
use svc_auth::AuthProviderKind;
use svc_core::schema::OperationKind;
use svc_core::settings::{Group as _, is_set, is_used, tell_unused};
use svc_telemetry::MetricsConfig;
use svc_telemetry::security_log::is_set_up;

const RATE_LIMITS: &str = "SVC_RATE_LIMIT_";
const METRICS: &str = "SVC_METRICS_";
const SQL_COMMENTS: &str = "SVC_TRACING_SQL_COMMENTS";
/// The rate-limit setting that also determines how clients are distinguished, even if nothing
/// limits them.
const IPV6_PREFIX: &str = "SVC_RATE_LIMIT_IPV6_PREFIX";
/// The time for a program with its own server to set up the parts around its application.
const SET_UP: Duration = Duration::from_secs(10);
/// The settings that apply to every provider that verifies tokens.
const OF_TOKENS: [&str; 3] = [
    "SVC_AUTH_TOKEN_SIZE",
    "SVC_AUTH_TOKEN_CACHE_SIZE",
    "SVC_AUTH_TIMEOUT",
];
/// The settings of WebSockets; streams over HTTP do not have them.
const OF_SOCKETS: [&str; 7] = [
    "SVC_SUBSCRIPTION_MAX_OPERATIONS",
    "SVC_SUBSCRIPTION_MAX_MESSAGE_SIZE",
    "SVC_SUBSCRIPTION_MESSAGES_PER_SECOND",
    "SVC_SUBSCRIPTION_INIT_TIMEOUT",
    "SVC_SUBSCRIPTION_IDLE_TIMEOUT",
    "SVC_SUBSCRIPTION_WRITE_TIMEOUT",
    "SVC_SUBSCRIPTION_ORIGINS",
];
/// The settings that switch authentication on or off.
const OF_AUTHENTICATION: [&str; 2] = ["SVC_AUTH_ENABLED", "SVC_AUTH_REQUIRED"];

/// Whether a part that is set up around an application, after its creation, uses the setting.
pub(super) fn is_of_later_part(name: &str) -> bool {
    name != IPV6_PREFIX
        && [RATE_LIMITS, METRICS]
            .iter()
            .any(|part| name.starts_with(part))
}

/// Whether only the server uses the setting, not the application. The application itself limits the
/// time of bodies.
pub(super) fn is_of_the_server(name: &str) -> bool {
    ["SVC_HOST", "SVC_PORT"].contains(&name)
        || name.starts_with("SVC_HTTP") && name != "SVC_HTTP_BODY_TIMEOUT"
}

/// Logs the settings of parts that were not set up around the application by now.
pub(in crate::app) fn note_unused_parts() {
    for name in set_for_later_parts().filter(|name| !is_used(name)) {
        tell_unused(name, why_no_part(name));
    }
    warn_of_unlimited();
}

/// Does the same after a delay, for programs without a [`Server`](crate::Server).
pub(super) fn note_unused_parts_later() {
    if set_for_later_parts().next().is_some() || has_unlimited() {
        tokio::spawn(async {
            tokio::time::sleep(SET_UP).await;
            note_unused_parts();
        });
    }
}

/// The settings of later parts that are set in the environment.
fn set_for_later_parts() -> impl Iterator<Item = &'static str> {
    let names = RateLimitConfig::names()
        .into_iter()
        .chain(MetricsConfig::names());
    names
        .filter(|name| is_of_later_part(name))
        .chain([SQL_COMMENTS])
        .filter(|name| is_set(name))
}

fn why_no_part(name: &str) -> &'static str {
    if name.starts_with(RATE_LIMITS) {
        "the program sets up no rate limits; call `AppOptions::rate_limiting` or `svc::setup_rate_limiting`"
    } else if name.starts_with(METRICS) {
        match cfg!(feature = "metrics") {
            true => "the program sets up no metrics; call `svc::setup_metrics`",
            false => {
                "this build has no metrics; enable the feature `metrics` and call `svc::setup_metrics`"
            }
        }
    } else {
        match cfg!(feature = "tracing-otel") {
            true => "the program sets up no tracing; call `svc::setup_tracing`",
            false => {
                "this build has no tracing; enable the feature `tracing-otel` and call `svc::setup_tracing`"
            }
        }
    }
}

/// Returns the reason why an application does not use a setting; `None` if it uses it. `is_timed`
/// means that something decides about access within a time limit.
pub(super) fn why_unused(name: &str, options: &AppOptions, is_timed: bool) -> Option<&'static str> {
    if name == "SVC_AUTHORIZATION_TIMEOUT" {
        return (!is_timed).then_some("the program has no authorizer and no checks of fields");
    }

    of_accounts(name, options)
        .or_else(|| of_identity_provider(name, options))
        .or_else(|| of_authentication(name, options))
        .or_else(|| of_protection(name, options))
        .or_else(|| of_subscriptions(name, options))
        .or_else(|| of_response_cache(name, options))
        .or_else(|| of_others(name, options))
}

fn of_accounts(name: &str, options: &AppOptions) -> Option<&'static str> {
    if !name.starts_with("SVC_ACCOUNTS_") {
        return None;
    }
    if cfg!(not(feature = "native-auth")) {
        return Some("this build has no accounts; enable the feature `native-auth`");
    }
    let off = "native accounts are off; SVC_AUTH_PROVIDER=native enables them";
    of_chosen_provider(AuthProviderKind::Native, off, options)
}

fn of_identity_provider(name: &str, options: &AppOptions) -> Option<&'static str> {
    if !name.starts_with("SVC_IDP_") {
        return None;
    }

    if cfg!(not(feature = "idp")) {
        return Some("this build has no identity providers; enable the feature `idp`");
    }

    of_chosen_provider(
        AuthProviderKind::Idp,
        "no identity provider is in use; SVC_AUTH_PROVIDER=idp enables it",
        options,
    )
}

/// Returns the reason why the settings of a kind of provider are unused; `off` if another kind is
/// chosen.
fn of_chosen_provider(
    kind: AuthProviderKind,
    off: &'static str,
    options: &AppOptions,
) -> Option<&'static str> {
    if has_own_provider(options) {
        return Some(
            "the program sets up its authentication provider in code, with its own values",
        );
    }
    (options.config.auth.provider != kind).then_some(off)
}

fn of_authentication(name: &str, options: &AppOptions) -> Option<&'static str> {
    let auth = &options.config.auth;
    if name == "SVC_DEV_AUTH_USERNAME" {
        return auth
            .dev_password
            .is_none()
            .then_some("basic authentication is off without SVC_DEV_AUTH_PASSWORD");
    }

    // If authentication is switched off, its settings take effect once it is switched on.
    if !name.starts_with("SVC_AUTH_")
        || OF_AUTHENTICATION.contains(&name)
        || auth.enabled == Some(false)
    {
        return None;
    }

    if cfg!(not(feature = "auth")) {
        return Some("this build has no authentication; enable the feature `auth`");
    }

    let is_of_tokens = OF_TOKENS.contains(&name);

    match (has_own_provider(options), auth.provider) {
        (true, _) if is_of_tokens => None,
        (true, _) => {
            Some("the program sets up its authentication provider in code, with its own values")
        }
        (false, AuthProviderKind::None) if name == "SVC_AUTH_PROVIDER" => None,
        (false, AuthProviderKind::None) if is_of_tokens && has_api_keys(options) => None,
        (false, AuthProviderKind::None) => {
            Some("no provider verifies tokens; set SVC_AUTH_PROVIDER, or call `.auth_provider(…)`")
        }
        (false, kind) => of_provider(name, kind, auth.algorithm.is_symmetric()),
    }
}

/// Returns the reason why the configured provider does not use a setting.
fn of_provider(name: &str, kind: AuthProviderKind, is_symmetric: bool) -> Option<&'static str> {
    let of_keys = [
        "SVC_AUTH_SECRET_KEY",
        "SVC_AUTH_PUBLIC_KEY",
        "SVC_AUTH_ALGORITHM",
    ];

    let of_idp = ["SVC_AUTH_ISSUER", "SVC_AUTH_AUDIENCE"];
    match (kind, name) {
        (AuthProviderKind::Idp, name) if of_keys.contains(&name) || of_idp.contains(&name) => {
            Some("an identity provider has its own settings, which begin with SVC_IDP_")
        }
        (AuthProviderKind::Native, "SVC_AUTH_PUBLIC_KEY") => {
            Some("tokens of native accounts are signed with a secret")
        }
        (AuthProviderKind::Custom, "SVC_AUTH_PUBLIC_KEY") if is_symmetric => {
            Some("SVC_AUTH_ALGORITHM uses a secret, which SVC_AUTH_SECRET_KEY sets")
        }
        (AuthProviderKind::Custom, "SVC_AUTH_SECRET_KEY") if !is_symmetric => {
            Some("SVC_AUTH_ALGORITHM uses a public key, which SVC_AUTH_PUBLIC_KEY sets")
        }
        _ => None,
    }
}

fn of_protection(name: &str, options: &AppOptions) -> Option<&'static str> {
    let protection = &options.config.protection;
    let (is_without, why) = match name {
        "SVC_CORS_HEADERS" | "SVC_CORS_CREDENTIALS" | "SVC_CORS_MAX_AGE" => (
            protection.cors_origins.is_empty(),
            "no other site may read responses; SVC_CORS_ORIGINS lists allowed sites",
        ),
        "SVC_COMPRESSION" => (
            cfg!(not(feature = "compression")) && protection.compression,
            "this build is without the feature `compression`",
        ),
        "SVC_COMPRESSION_MIN_SIZE" => (
            !protection.compression,
            "responses are not compressed without SVC_COMPRESSION=true",
        ),
        "SVC_SHED_AFTER" | "SVC_MAX_IN_FLIGHT" => {
            (!protection.load_shedding, "SVC_LOAD_SHEDDING is off")
        }
        _ => return None,
    };

    is_without.then_some(why)
}

fn of_subscriptions(name: &str, options: &AppOptions) -> Option<&'static str> {
    if cfg!(not(feature = "websocket")) && OF_SOCKETS.contains(&name) {
        return Some("this build has no WebSockets; enable the feature `websocket`");
    }

    if cfg!(not(feature = "auth")) && name.starts_with("SVC_SUBSCRIPTION_USER_") {
        return Some("this build has no authentication; enable the feature `auth`");
    }

    if !name.starts_with("SVC_EVENTS_") {
        return None;
    }

    let subscribes = |kind: OperationKind| kind == OperationKind::Subscription;
    let has_subscriptions = options
        .operations
        .iter()
        .any(|operation| subscribes(operation.kind));
    if options.event_source.is_some() && name == "SVC_EVENTS_DATABASE_URL" {
        return Some("the program sets its own source of events");
    }

    let listens =
        has_subscriptions || !options.event_channels.is_empty() || options.response_cache.is_some();

    (!listens).then_some("the program has no subscriptions")
}

fn of_response_cache(name: &str, options: &AppOptions) -> Option<&'static str> {
    if !name.starts_with("SVC_RESPONSE_CACHE")
        || options.config.response_cache.enabled == Some(false)
    {
        return None;
    }

    if !options
        .operations
        .iter()
        .any(|operation| operation.rules.cache.is_some())
    {
        return Some(
            "no query declares for how long its responses are cached, such as `#[svc::query(cache = 30)]`",
        );
    }

    let is_on = options
        .config
        .response_cache
        .enabled
        .unwrap_or(options.response_cache.is_some());

    (!is_on).then_some(
        "no responses are cached without SVC_RESPONSE_CACHE=true or `AppOptions::response_cache`",
    )
}

fn of_others(name: &str, options: &AppOptions) -> Option<&'static str> {
    let config = &options.config;
    let (is_without, why) = match name {
        "SVC_REGISTERED_ONLY_MODE" => (
            !config.operations.registered_only,
            "clients may send any document without SVC_REGISTERED_ONLY=true",
        ),
        "SVC_ALLOW_UNBOUND_POLICIES" => (
            options.session_variables.is_empty(),
            "the program sets no session variables",
        ),
        "SVC_FORWARDED_HEADER" => (
            !may_trust_proxies(options),
            "no proxy is trusted; SVC_TRUSTED_PROXIES lists the proxies in front",
        ),
        "SVC_LOG_USERS" => (
            !config.log.requests,
            "requests are not logged without SVC_LOG_REQUESTS=true",
        ),
        "SVC_REDIS_URL" => (
            has_own_redis(options),
            "the program sets its own Redis client",
        ),
        "SVC_SECURITY_LOG_PATH" | "SVC_SECURITY_LOG_STDOUT" => (
            is_set_up(),
            "the program has already set up its security log, with its own values",
        ),
        "SVC_LOG_FORMAT" => (
            cfg!(not(feature = "logging")),
            "this build is without the feature `logging`",
        ),
        name if name.starts_with("SVC_UPLOAD_") => (
            !config.uploads.enabled,
            "uploads are off without SVC_UPLOADS=true",
        ),
        _ => return None,
    };

    is_without.then_some(why)
}

/// Whether the application trusts proxies, or rate limits around it may do so.
fn may_trust_proxies(options: &AppOptions) -> bool {
    let of_application = &options.config.rate_limit;
    of_application.trusts_proxies()
        || options
            .rate_limiting
            .as_ref()
            .is_some_and(RateLimiting::trusts_proxies)
        || of_application.trusted_proxies.is_none() && is_set("SVC_TRUSTED_PROXIES")
}

#[cfg(feature = "auth")]
fn has_own_provider(options: &AppOptions) -> bool {
    options.provider.is_some()
}

#[cfg(not(feature = "auth"))]
fn has_own_provider(_: &AppOptions) -> bool {
    false
}

#[cfg(feature = "auth")]
fn has_api_keys(options: &AppOptions) -> bool {
    options.api_keys.is_some()
}

#[cfg(not(feature = "auth"))]
fn has_api_keys(_: &AppOptions) -> bool {
    false
}

#[cfg(feature = "redis")]
fn has_own_redis(options: &AppOptions) -> bool {
    options.redis.get().is_some()
}

#[cfg(not(feature = "redis"))]
fn has_own_redis(_: &AppOptions) -> bool {
    false
}
