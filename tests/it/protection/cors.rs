//! Pages of other origins read answers where a setting says so.

use svc::ProtectionConfig;
use svc::prelude::*;
use svc_tests::{App, Reply, TestDatabase};

#[svc::query]
fn hello() -> &'static str {
    "world"
}

const SITE: &str = "https://app.example.com";

fn config(protection: ProtectionConfig) -> SvcConfig {
    SvcConfig {
        protection,
        ..SvcConfig::default()
    }
}

fn options(protection: ProtectionConfig) -> AppOptions {
    AppOptions::new()
        .config(config(protection))
        .queries(queries![hello])
}

async fn app(protection: ProtectionConfig) -> App {
    let url = TestDatabase::empty().await;
    App::serve(options(protection).database_url(url)).await
}

async fn preflight(app: &App, origin: &str) -> Reply {
    let request = app.request("OPTIONS", "/graphql").header("origin", origin);
    let request = request.header("access-control-request-method", "POST");
    app.send(request.header(
        "access-control-request-headers",
        "content-type,authorization",
    ))
    .await
}

async fn ask(app: &App, origin: Option<&str>) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = origin
        .iter()
        .fold(request, |request, origin| request.header("origin", *origin));
    app.send(request.body(r#"{"query":"{ hello }"}"#)).await
}

fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.headers.get(name).map(|value| value.to_str().unwrap())
}

const ALLOW_ORIGIN: &str = "access-control-allow-origin";

#[tokio::test]
async fn no_other_origin_reads_answers_by_default() {
    let app = app(ProtectionConfig::default()).await;
    for reply in [preflight(&app, SITE).await, ask(&app, Some(SITE)).await] {
        assert!(
            reply
                .headers
                .keys()
                .all(|name| !name.as_str().starts_with("access-control-")),
            "{reply:?}"
        );
    }
    assert_eq!(preflight(&app, SITE).await.status, 405);
}

#[tokio::test]
async fn only_the_configured_origins_read_responses() {
    let app = app(ProtectionConfig {
        cors_origins: vec![SITE.to_owned(), "http://localhost:3000".to_owned()],
        cors_headers: vec!["x-tenant-id".parse().unwrap()],
        cors_credentials: true,
        ..ProtectionConfig::default()
    })
    .await;
    let allowed = preflight(&app, SITE).await;
    assert_eq!(allowed.status, 200);
    assert_eq!(header(&allowed, ALLOW_ORIGIN), Some(SITE));
    assert_eq!(
        header(&allowed, "access-control-allow-credentials"),
        Some("true")
    );
    assert_eq!(header(&allowed, "access-control-max-age"), Some("7200"));
    let methods = header(&allowed, "access-control-allow-methods").unwrap();
    for method in ["GET", "POST", "QUERY"] {
        assert!(
            methods.split(',').any(|known| known == method),
            "{method} in {methods}"
        );
    }
    let headers = header(&allowed, "access-control-allow-headers").unwrap();
    for name in [
        "content-type",
        "authorization",
        "x-request-id",
        "apollo-require-preflight",
        "x-tenant-id",
    ] {
        assert!(
            headers.split(',').any(|known| known == name),
            "{name} in {headers}"
        );
    }
    let answer = ask(&app, Some("http://localhost:3000")).await;
    assert_eq!(answer.data()["hello"], "world");
    assert_eq!(header(&answer, ALLOW_ORIGIN), Some("http://localhost:3000"));
    assert!(
        header(&answer, "access-control-expose-headers")
            .unwrap()
            .contains("x-request-id")
    );
    let varies = answer
        .headers
        .get_all("vary")
        .iter()
        .any(|vary| vary.to_str().unwrap().contains("origin"));
    assert!(varies, "{answer:?}");
    for foreign in [
        "https://evil.example",
        "https://app.example.com.evil.example",
        "http://app.example.com",
        "null",
    ] {
        assert_eq!(
            header(&preflight(&app, foreign).await, ALLOW_ORIGIN),
            None,
            "{foreign}"
        );
        assert_eq!(
            header(&ask(&app, Some(foreign)).await, ALLOW_ORIGIN),
            None,
            "{foreign}"
        );
    }
    assert_eq!(ask(&app, None).await.data()["hello"], "world");
    // Errors of the request can be read too.
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "text/xml")
        .header("origin", SITE);
    let refused = app.send(request.body("")).await;
    assert_eq!(
        (refused.status, header(&refused, ALLOW_ORIGIN)),
        (415, Some(SITE))
    );
    let get = app
        .send(
            app.request("GET", "/graphql?query=%7Bhello%7D")
                .header("origin", SITE),
        )
        .await;
    assert_eq!(header(&get, ALLOW_ORIGIN), Some(SITE));
}

#[tokio::test]
async fn an_invalid_setting_stops_the_start() {
    for (variables, message) in [
        (
            &[("SVC_CORS_ORIGINS", "https://app.example.com/path")][..],
            "SVC_CORS_ORIGINS is \"https://app.example.com/path\"; it must be a list of origins such as \
             https://app.example.com, separated by commas or as a JSON list",
        ),
        (
            &[("SVC_CORS_HEADERS", "x y")],
            "SVC_CORS_HEADERS is \"x y\"; it must be a list of header names, separated by commas or as a JSON list",
        ),
    ] {
        let get = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(
            SvcConfig::from_variables(get).unwrap_err().to_string(),
            message
        );
    }
    for (origins, message) in [
        (
            "app.example.com",
            "SVC_CORS_ORIGINS is \"app.example.com\"; it must be an origin such as https://app.example.com",
        ),
        (
            "*",
            "SVC_CORS_ORIGINS is \"*\"; it must name the origins where SVC_CORS_CREDENTIALS is on",
        ),
    ] {
        let protection = ProtectionConfig {
            cors_origins: vec![origins.to_owned()],
            cors_credentials: true,
            ..Default::default()
        };
        let error = svc::create_svc_app(options(protection)).await.unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
