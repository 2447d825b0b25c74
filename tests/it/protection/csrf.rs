//! Requests that another site has a browser send are refused.

use std::sync::atomic::{AtomicU32, Ordering};

use svc::ProtectionConfig;
use svc::prelude::*;
use svc_tests::{App, Log, Reply, TestDatabase};

/// The times that the mutation has run.
#[derive(Default)]
struct Bumps(AtomicU32);

#[svc::query]
fn hello() -> &'static str {
    "world"
}

#[svc::query]
fn bumps(ctx: &Context<'_>) -> Result<u32> {
    Ok(ctx.data::<Bumps>()?.0.load(Ordering::SeqCst))
}

#[svc::mutation]
fn bump(ctx: &Context<'_>) -> Result<u32> {
    Ok(ctx.data::<Bumps>()?.0.fetch_add(1, Ordering::SeqCst))
}

const SITE: &str = "https://app.example.com";

async fn app(protection: ProtectionConfig) -> App {
    let url = TestDatabase::empty().await;
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    let options = AppOptions::new().config(config).database_url(url);
    App::serve(
        options
            .data(Bumps::default())
            .queries(queries![hello, bumps])
            .mutations(mutations![bump]),
    )
    .await
}

/// Sends the mutation as JSON, with these headers.
async fn mutate(app: &App, headers: &[(&str, &str)]) -> Reply {
    let request = app
        .request("POST", "/graphql")
        .header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    app.send(request.body(r#"{"query":"mutation { bump }"}"#))
        .await
}

/// Sends the query by QUERY, with these headers.
async fn ask_in_body(app: &App, headers: &[(&str, &str)]) -> Reply {
    let request = app
        .request("QUERY", "/graphql")
        .header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    app.send(request.body(r#"{"query":"{ hello }"}"#)).await
}

/// Sends the query by GET, with these headers.
async fn ask(app: &App, headers: &[(&str, &str)]) -> Reply {
    let request = app.request("GET", "/graphql?query=%7Bhello%7D");
    app.send(headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    }))
    .await
}

fn is_refused(reply: &Reply) -> bool {
    reply.status == 403 && reply.code() == "CSRF_PROTECTION_FAILED"
}

#[tokio::test]
async fn media_types_of_forms_are_refused_and_run_nothing() {
    let log = Log::start();
    let app = app(ProtectionConfig::default()).await;
    for media in [
        "text/plain",
        "Text/Plain; charset=utf-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        let post = || {
            app.request("POST", "/graphql")
                .header("content-type", media)
                .body(r#"{"query":"mutation { bump }"}"#)
        };
        let reply = app.send(post()).await;
        assert!(
            is_refused(&reply),
            "{media}: {} {}",
            reply.status,
            reply.text
        );
        assert!(
            is_refused(
                &app.send(post().header("apollo-require-preflight", ""))
                    .await
            ),
            "{media}: an empty header"
        );
        // A browser has asked for permission: what is left is that it is not JSON.
        let reply = app
            .send(post().header("apollo-require-preflight", "1"))
            .await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (415, "BAD_REQUEST"),
            "{media}"
        );
    }
    log.has("svc::security: event_type=\"csrf.form\"").await;
    assert_eq!(app.query("{ bumps }").await.data()["bumps"], 0);
}

#[tokio::test]
async fn credentials_that_browsers_add_do_not_count_from_another_site() {
    let app = app(ProtectionConfig::default()).await;
    let own = app.url("");
    let cookie = ("cookie", "session=1");
    let password = ("authorization", "Basic YTpi");
    for foreign in [
        &[("origin", SITE)][..],
        &[("origin", "null")],
        &[("origin", "http://127.0.0.1:1")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        // What a browser says of the site counts, as `Host` may be a proxy's.
        &[("sec-fetch-site", "cross-site"), ("origin", own.as_str())],
        &[("origin", own.as_str()), ("origin", SITE)],
    ] {
        for credentials in [cookie, password] {
            let headers = [foreign, &[credentials]].concat();
            let reply = mutate(&app, &headers).await;
            assert!(
                is_refused(&reply),
                "{headers:?}: {} {}",
                reply.status,
                reply.text
            );
            assert!(is_refused(&ask(&app, &headers).await), "{headers:?}");
            assert!(
                is_refused(&ask_in_body(&app, &headers).await),
                "{headers:?}"
            );
        }
        assert_eq!(
            mutate(&app, foreign).await.status,
            200,
            "{foreign:?}: without credentials nobody is acted for"
        );
    }
    for known in [
        &[][..],
        &[("origin", own.as_str())],
        &[
            ("sec-fetch-site", "same-origin"),
            ("origin", "https://behind.a.proxy"),
        ],
        &[("sec-fetch-site", "none")],
    ] {
        assert_eq!(
            mutate(&app, &[known, &[cookie]].concat()).await.status,
            200,
            "{known:?}"
        );
    }
}

#[tokio::test]
async fn cross_site_links_forms_and_images_are_refused() {
    let app = app(ProtectionConfig::default()).await;
    for mode in ["navigate", "no-cors"] {
        let reply = ask(
            &app,
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)],
        )
        .await;
        assert!(is_refused(&reply), "{mode}: {}", reply.text);
        assert_eq!(
            ask(
                &app,
                &[("sec-fetch-site", "none"), ("sec-fetch-mode", mode)]
            )
            .await
            .status,
            200,
            "typed by hand"
        );
    }
    let script = ask(
        &app,
        &[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "cors"),
            ("origin", SITE),
        ],
    )
    .await;
    assert_eq!(
        script.status, 200,
        "the browser lets no script read it: {}",
        script.text
    );
    assert!(!script.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn sites_can_be_trusted_and_the_protection_switched_off() {
    let from_site = [
        ("origin", SITE),
        ("sec-fetch-site", "cross-site"),
        ("cookie", "session=1"),
    ];
    let trusting = app(ProtectionConfig {
        cors_origins: vec![SITE.to_owned()],
        cors_credentials: true,
        ..Default::default()
    })
    .await;
    assert_eq!(mutate(&trusting, &from_site).await.status, 200);
    let other = [
        ("origin", "https://evil.example"),
        from_site[1],
        from_site[2],
    ];
    assert!(is_refused(&mutate(&trusting, &other).await));

    let any = app(ProtectionConfig {
        cors_origins: vec!["*".to_owned()],
        ..Default::default()
    })
    .await;
    assert!(
        is_refused(&mutate(&any, &from_site).await),
        "any site may read, and none act for a user"
    );

    let off = app(ProtectionConfig {
        csrf: false,
        ..Default::default()
    })
    .await;
    assert_eq!(mutate(&off, &other).await.status, 200);
    let form = off
        .request("POST", "/graphql")
        .header("content-type", "text/plain")
        .body("{}");
    assert_eq!(off.send(form).await.status, 415);
}
