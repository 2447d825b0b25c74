//! Native accounts by settings alone.

use serde_json::{Value, json};
use svc::rate_limit::{RateLimit, RateLimitRule, RateLimiting};
use svc::{SvcConfig, create_svc_app};
use svc_tests::raw::Client;
use svc_tests::{App, Log, Redis, TestDatabase};

use super::client::{
    Held, PASSWORD, assert_accepted, assert_refused, login, post, refresh, register, with,
};
use super::service::{SECRET, database, url_of};
use crate::auth::service::{options, query};

/// The settings of native accounts, with others besides or in their place.
fn config(database: &TestDatabase, more: &[(&str, &str)]) -> SvcConfig {
    let url = url_of(database);
    let native = [
        ("SVC_AUTH_PROVIDER", "native"),
        ("SVC_AUTH_SECRET_KEY", SECRET),
        ("SVC_DATABASE_URL", &url),
    ];
    let find = |list: &[(&str, &str)], name: &str| {
        list.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    svc_tests::secret(SECRET);
    SvcConfig::from_variables(|name| find(more, name).or_else(|| find(&native, name))).unwrap()
}

pub(super) async fn serve(database: &TestDatabase, more: &[(&str, &str)]) -> App {
    App::serve(options().config(config(database, more))).await
}

async fn status(app: &App, path: &str) -> u16 {
    post(
        app,
        path,
        json!({ "username": "ada", "password": PASSWORD }),
    )
    .await
    .status
}

#[tokio::test]
async fn settings_add_the_native_provider_and_its_routes() {
    let database = database().await;
    let app = serve(
        &database,
        &[
            ("SVC_AUTH_ISSUER", "https://id.example"),
            ("SVC_AUTH_AUDIENCE", "shop"),
        ],
    )
    .await;
    let held = register(&app, "ada").await;
    let me = query(&app, &held.access, "{ me }").await.data()["me"].clone();
    assert_eq!(
        (&me["name"], &me["email"]),
        (&json!("ada"), &json!("ada@example.com"))
    );
    let renewed = Held::of(&refresh(&app, &held.refresh).await);
    assert_accepted(&app, &renewed).await;
    // Another instance with the same settings takes the same tokens, and one for others does not.
    assert_accepted(
        &serve(
            &database,
            &[
                ("SVC_AUTH_ISSUER", "https://id.example"),
                ("SVC_AUTH_AUDIENCE", "shop"),
            ],
        )
        .await,
        &renewed,
    )
    .await;
    let other = serve(&database, &[("SVC_AUTH_AUDIENCE", "bank")]).await;
    assert_eq!(
        query(&other, &renewed.access, "{ me }").await.code(),
        "UNAUTHENTICATED"
    );
    assert_eq!(
        with(&app, &renewed.access, "POST", "/auth/logout", Value::Null)
            .await
            .status,
        200
    );
    assert_refused(&app, &renewed).await;
}

#[tokio::test]
async fn the_path_token_lifetimes_and_address_header_are_settings() {
    let log = Log::start();
    let database = database().await;
    let more = [
        ("SVC_ACCOUNTS_PATH", "/api/auth"),
        ("SVC_ACCOUNTS_ACCESS_TOKEN_TTL", "60"),
        ("SVC_ACCOUNTS_REFRESH_TOKEN_TTL", "120"),
        ("SVC_ACCOUNTS_ADDRESS_HEADER", "X-Forwarded-For"),
    ];
    let app = serve(&database, &more).await;
    assert_eq!(status(&app, "/auth/login").await, 404);
    let ada =
        json!({ "username": "ada", "password": PASSWORD, "email": "ada@example.com" }).to_string();
    let request = app
        .request("POST", "/api/auth/register")
        .header("content-type", "application/json")
        .body(ada);
    let reply = app
        .send(request.header("x-forwarded-for", "10.9.8.7, 192.0.2.7"))
        .await;
    assert_eq!(
        (reply.status, &reply.json()["expires_in"]),
        (201, &json!(60)),
        "{}",
        reply.text
    );
    log.has("ip_address=192.0.2.7").await;
    assert!(!log.text().contains("10.9.8.7"), "{}", log.text());
}

/// The statuses of three requests for an account, with these tokens.
async fn three_of_me(app: &App, tokens: [&String; 3]) -> Vec<u16> {
    let mut statuses = Vec::new();
    for token in tokens {
        let reply = with(app, token, "GET", "/auth/me", Value::Null).await;
        statuses.push(reply.status);
    }
    statuses
}

/// Users can share an address. An invalid token counts for its address.
#[tokio::test]
async fn routes_with_a_token_are_rate_limited_per_user() {
    let database = database().await;
    let rule = RateLimitRule::new("/auth/me", RateLimit::requests(2).per_hour());
    let options = options().config(config(&database, &[]));
    let app = App::serve(options.rate_limiting(RateLimiting::new().rules([rule]))).await;
    let (ada, bob) = (register(&app, "ada").await, register(&app, "bob").await);
    for held in [&ada, &bob] {
        assert_eq!(three_of_me(&app, [&held.access; 3]).await, [200, 200, 429]);
    }
    let ended = with(&app, &ada.access, "POST", "/auth/logout", Value::Null).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    let forged = format!("{}x", bob.access);
    let invalid = [&ada.access, &forged, &forged];
    assert_eq!(three_of_me(&app, invalid).await, [401, 401, 429]);
}

/// By the rate limits, which count its user, and not again by the route.
#[tokio::test]
async fn a_token_that_cannot_be_verified_is_looked_up_once() {
    let (log, database) = (Log::start(), database().await);
    let rule = RateLimitRule::new("/auth/me", RateLimit::requests(9).per_hour());
    let options = options().config(config(&database, &[]));
    let app = App::serve(options.rate_limiting(RateLimiting::new().rules([rule]))).await;
    let held = register(&app, "ada").await;
    database
        .execute("DROP FUNCTION svc_auth.revocation(text[], text)")
        .await;
    let reply = with(&app, &held.access, "GET", "/auth/me", Value::Null).await;
    assert_eq!(reply.status, 503, "{}", reply.text);
    let lines = log
        .text()
        .matches("sessions cannot be ended or verified")
        .count();
    assert_eq!(lines, 1, "{}", log.text());
}

/// Begins a request, and waits until its head has been read: a later request has been answered.
async fn begin(app: &App, path: &str, length: usize) -> Client {
    let mut client = Client::open(app.address()).await;
    let head = "host: x\r\ncontent-type: application/json";
    client
        .send(&format!(
            "POST {path} HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n"
        ))
        .await;
    app.get("/health").await;
    client
}

/// They count together with the bodies of the GraphQL endpoint.
#[tokio::test]
async fn the_number_of_bodies_being_read_is_bounded() {
    let (database, body) = (
        database().await,
        json!({ "username": "ada", "password": PASSWORD }).to_string(),
    );
    for (setting, status, error) in [
        (
            "SVC_MAX_BODIES_PER_ADDRESS",
            "HTTP/1.1 429",
            "Rate Limit Exceeded",
        ),
        ("SVC_MAX_BODIES", "HTTP/1.1 503", "service_unavailable"),
    ] {
        let app = serve(&database, &[(setting, "2")]).await;
        let mut slowest = begin(&app, "/auth/login", body.len()).await;
        let _of_the_endpoint = begin(&app, "/graphql", body.len()).await;
        let mut newest = begin(&app, "/auth/login", body.len()).await;
        let answer = slowest.answer().await;
        assert!(
            answer.starts_with(status) && answer.contains(error),
            "{setting}: {answer}"
        );
        assert!(
            answer.to_ascii_lowercase().contains("retry-after: 1\r\n"),
            "{setting}: {answer}"
        );
        newest.send(&body).await;
        let answer = newest.answer().await;
        assert!(
            answer.starts_with("HTTP/1.1 401") && answer.contains("invalid_credentials"),
            "{setting}: {answer}"
        );
    }
}

/// Registers an account as a proxy with these headers would.
async fn register_behind(app: &App, name: &str, headers: &[(&str, &str)]) {
    let body =
        json!({ "username": name, "password": PASSWORD, "email": format!("{name}@example.com") })
            .to_string();
    let request = app
        .request("POST", "/auth/register")
        .header("content-type", "application/json")
        .body(body);
    let request = headers.iter().fold(request, |request, (header, value)| {
        request.header(*header, *value)
    });
    let reply = app.send(request).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
}

#[tokio::test]
async fn attempts_are_counted_for_the_client_named_by_a_trusted_proxy() {
    let log = Log::start();
    let database = database().await;
    let trusted = serve(
        &database,
        &[("SVC_TRUSTED_PROXIES", "127.0.0.0/8, 10.0.0.1")],
    )
    .await;
    register_behind(
        &trusted,
        "ada",
        &[("x-forwarded-for", "192.0.2.66, 192.0.2.11, 10.0.0.1")],
    )
    .await;
    log.has("ip_address=192.0.2.11").await;
    let named = [
        ("SVC_TRUSTED_PROXIES", "127.0.0.1"),
        ("SVC_FORWARDED_HEADER", "x-real-ip"),
    ];
    let headers = [
        ("x-forwarded-for", "192.0.2.67"),
        ("x-real-ip", "192.0.2.12"),
    ];
    register_behind(&serve(&database, &named).await, "bob", &headers).await;
    log.has("ip_address=192.0.2.12").await;
    // From anyone else, the header says nothing.
    let foreign = serve(&database, &[("SVC_TRUSTED_PROXIES", "10.0.0.0/8")]).await;
    register_behind(&foreign, "eve", &[("x-forwarded-for", "192.0.2.68")]).await;
    log.has("ip_address=127.0.0.1").await;
    for forged in ["192.0.2.66", "192.0.2.67", "192.0.2.68"] {
        assert!(!log.text().contains(forged), "{forged}: {}", log.text());
    }
}

#[tokio::test]
async fn production_without_trusted_proxies_is_logged() {
    let database = database().await;
    let production = ("SVC_ENVIRONMENT", "production");
    for (more, is_said) in [
        (vec![production], true),
        (vec![], false),
        (vec![production, ("SVC_TRUSTED_PROXIES", "none")], false),
        (
            vec![production, ("SVC_ACCOUNTS_ADDRESS_HEADER", "x-real-ip")],
            false,
        ),
        (vec![production, ("SVC_AUTH_ENABLED", "false")], false),
    ] {
        let log = Log::start();
        serve(&database, &more).await;
        let lines = log
            .text()
            .matches("failed log-ins and registrations are counted per")
            .count();
        assert_eq!(lines, usize::from(is_said), "{more:?}: {}", log.text());
    }
}

#[tokio::test]
async fn routes_are_absent_without_auth_or_with_a_provider_in_code() {
    let database = database().await;
    let off = serve(&database, &[("SVC_AUTH_ENABLED", "false")]).await;
    assert_eq!(status(&off, "/auth/login").await, 404);
    let in_code = options()
        .config(config(&database, &[]))
        .auth_provider(crate::auth::service::provider());
    assert_eq!(status(&App::serve(in_code).await, "/auth/login").await, 404);
    assert_eq!(
        status(&serve(&database, &[]).await, "/auth/login").await,
        401,
        "the control"
    );
}

#[tokio::test]
async fn invalid_account_settings_prevent_startup() {
    let database = database().await;
    for (name, value, message) in [
        (
            "SVC_AUTH_SECRET_KEY",
            "",
            "SVC_AUTH_SECRET_KEY is \"\"; it must be a secret of at least 32 bytes",
        ),
        (
            "SVC_AUTH_ALGORITHM",
            "RS256",
            "SVC_AUTH_ALGORITHM is \"RS256\"; it must be HS256 or unset",
        ),
        (
            "SVC_AUTH_SECRET_KEY",
            "-----BEGIN PUBLIC KEY-----\nMIIB",
            "choose its algorithm",
        ),
    ] {
        let error = create_svc_app(options().config(config(&database, &[(name, value)])))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(message) && !error.contains("MIIB"),
            "{error}"
        );
    }
    let mut of_code = config(&database, &[]);
    of_code.accounts.path = "auth".to_owned();
    let error = create_svc_app(options().config(of_code))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("SVC_ACCOUNTS_PATH is \"auth\"; it must be a path such as /auth"),
        "{error}"
    );
    let short = [
        ("SVC_AUTH_SECRET_KEY", "hunter2-hunter2"),
        ("SVC_ENVIRONMENT", "production"),
    ];
    let error = create_svc_app(options().config(config(&database, &short)))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("15 bytes") && !error.contains("hunter2"),
        "{error}"
    );
    for (name, value) in [
        ("SVC_ACCOUNTS_PATH", "/graphql"),
        ("SVC_ACCOUNTS_PATH", "/auth/"),
        ("SVC_ACCOUNTS_PATH", "/{path}"),
        ("SVC_ACCOUNTS_ADDRESS_HEADER", "not a header"),
        ("SVC_ACCOUNTS_ACCESS_TOKEN_TTL", "0"),
    ] {
        let get = |asked: &str| (asked == name).then(|| value.to_owned());
        let error = SvcConfig::from_variables(get).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{name} is {value:?}; it must be")),
            "{error}"
        );
    }
}

/// The database stores none of them.
#[tokio::test]
async fn revocations_are_stored_in_redis_if_its_url_is_set() {
    let (database, mut redis) = (database().await, Redis::new().await);
    let url = redis.url();
    let more = [("SVC_REDIS_URL", url.as_str())];
    let (first, second) = (serve(&database, &more).await, serve(&database, &more).await);
    let held = register(&first, "ada").await;
    let kept = Held::of(&login(&first, "ada", PASSWORD).await);
    assert_eq!(
        with(&first, &held.access, "POST", "/auth/logout", Value::Null)
            .await
            .status,
        200
    );
    for app in [&first, &second] {
        assert_refused(app, &held).await;
        assert_accepted(app, &kept).await;
    }
    let pool = database.pool().await;
    let rows = "SELECT (SELECT count(*) FROM svc_auth.revoked_token) + (SELECT count(*) FROM svc_auth.revoked_subject)";
    assert_eq!(
        svc::sqlx::query_scalar::<_, i64>(rows)
            .fetch_one(&pool)
            .await
            .unwrap(),
        0
    );
    redis.stop();
    assert_eq!(query(&second, &kept.access, "{ open }").await.status, 503);
    assert_eq!(
        with(&second, &kept.access, "GET", "/auth/me", Value::Null)
            .await
            .status,
        503
    );
}

/// The owner of the database runs the migration; until then the log names it and the schema.
#[tokio::test]
async fn a_missing_accounts_schema_is_logged() {
    let log = Log::start();
    let database = TestDatabase::new("").await;
    let config = config(&database, &[("SVC_DATABASE_URL", &database.url())]);
    let app = App::serve(options().config(config)).await;
    assert_eq!(login(&app, "ada", PASSWORD).await.status, 503);
    log.has("svc_auth").await;
    log.has("svc::accounts::MIGRATION").await;
}

#[tokio::test]
async fn a_cross_site_browser_request_cannot_log_in() {
    let app = serve(&database().await, &[]).await;
    let from = |site: &'static str| {
        let request = app
            .request("POST", "/auth/login")
            .header("content-type", "application/json");
        request
            .header("cookie", "session=1")
            .header("sec-fetch-site", site)
            .body("{}")
    };
    let reply = app.send(from("cross-site")).await;
    assert_eq!(
        (reply.status, &reply.json()["error"]),
        (403, &json!("csrf_protection_failed")),
        "{}",
        reply.text
    );
    assert_eq!(reply.request_id().len(), 32);
    assert_eq!(
        app.send(from("same-origin")).await.status,
        400,
        "its fields are looked at"
    );
    let form = app
        .request("POST", "/auth/logout")
        .header("content-type", "text/plain")
        .body("");
    assert_eq!(app.send(form).await.status, 403);
}
