//! Headers for caches between the service and its clients.

use svc::ResponseCache;
use svc::prelude::*;
use svc::{ResponseCacheConfig, db::SessionVariables};
use svc_tests::{App, Reply};

use super::service::{database, options, serve, title, uncached_options};

const POSTS: &str = "/graphql?query=%7Bposts(id:1)%7Btitle%7D%7D";

async fn get(app: &App, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = app.request("GET", path);
    app.send(headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    }))
    .await
}

fn header<'a>(reply: &'a Reply, name: &str) -> &'a str {
    reply
        .headers
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_public_response_is_revalidated_by_its_etag() {
    let database = database().await;
    let app = serve(options(&database)).await;
    for _ in 0..2 {
        let reply = get(&app, POSTS, &[]).await;
        assert_eq!(
            (reply.status, header(&reply, "cache-control")),
            (200, "public, no-cache")
        );
        assert_eq!(
            header(&reply, "vary"),
            "Accept, Authorization, Cookie, Origin"
        );
    }
    let first = get(&app, POSTS, &[]).await;
    let etag = header(&first, "etag").to_owned();
    for known in [
        etag.clone(),
        format!("\"x\", {etag}"),
        etag.trim_start_matches("W/").to_owned(),
        "*".to_owned(),
    ] {
        let again = get(&app, POSTS, &[("if-none-match", &known)]).await;
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{known}");
        assert_eq!(again.request_id().len(), 32, "{known}");
        assert_eq!(header(&again, "etag"), etag);
        assert_eq!(header(&again, "cache-control"), "public, no-cache");
    }
    app.query(r#"mutation { rename(id: 1, title: "new") }"#)
        .await
        .data();
    let changed = get(&app, POSTS, &[("if-none-match", &etag)]).await;
    assert_eq!(
        (changed.status, changed.data()["posts"][0]["title"].as_str()),
        (200, Some("new"))
    );
    assert_ne!(header(&changed, "etag"), etag);
}

/// Caches that support QUERY have its body in their keys.
#[tokio::test]
async fn a_response_to_query_is_revalidated_as_that_to_get() {
    let database = database().await;
    let app = serve(options(&database)).await;
    let query = |known: Option<String>| {
        let request = app
            .request("QUERY", "/graphql")
            .header("content-type", "application/json");
        let request = known.iter().fold(request, |request, known| {
            request.header("if-none-match", known)
        });
        app.send(request.body(r#"{"query":"{posts(id:1){title}}"}"#))
    };
    let first = query(None).await;
    assert_eq!(
        (first.status, header(&first, "cache-control")),
        (200, "public, no-cache")
    );
    let etag = header(&first, "etag").to_owned();
    assert_eq!(etag, header(&get(&app, POSTS, &[]).await, "etag"));
    let again = query(Some(etag)).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    assert_eq!(again.request_id().len(), 32);
}

#[tokio::test]
async fn private_responses_are_not_stored_by_shared_caches() {
    let database = database().await;
    let app = serve(options(&database)).await;
    title(&app).await;
    let private = [
        get(&app, POSTS, &[("x-user", "ada")]).await,
        get(&app, POSTS, &[("x-user", "ada")]).await,
        get(&app, POSTS, &[("cookie", "a=1")]).await,
        get(&app, POSTS, &[("authorization", "Bearer x")]).await,
        get(&app, "/graphql?query=%7Buncached%7Bid%7D%7D", &[]).await,
        get(&app, "/graphql?query=%7Bnope%7D", &[]).await,
        get(
            &app,
            "/graphql?query=%7Bposts(id:%22x%22)%7Btitle%7D%7D",
            &[],
        )
        .await,
        app.query("{ posts(id: 1) { title } }").await,
    ];
    for reply in private {
        assert_eq!(
            header(&reply, "cache-control"),
            "private, no-store",
            "{}",
            reply.text
        );
        assert_eq!(header(&reply, "etag"), "");
    }
    let with_known = get(&app, POSTS, &[("x-user", "ada"), ("if-none-match", "*")]).await;
    assert_eq!(with_known.status, 200);
}

/// With the setting others answer by themselves for as long as the answer holds, unless the service
/// has to decide.
#[tokio::test]
async fn shared_caches_may_store_a_response_for_its_ttl() {
    let database = database().await;
    let max_age = || SvcConfig {
        response_cache: ResponseCacheConfig {
            max_age: true,
            enabled: Some(true),
            ..ResponseCacheConfig::default()
        },
        ..SvcConfig::default()
    };
    let app = serve(
        options(&database)
            .config(max_age())
            .database_url(database.url()),
    )
    .await;
    let reply = get(&app, POSTS, &[]).await;
    let seconds = header(&reply, "cache-control")
        .strip_prefix("public, max-age=")
        .unwrap_or_else(|| panic!("{reply:?}"));
    assert!(
        (400..=600).contains(&seconds.parse::<u32>().unwrap()),
        "{seconds}"
    );
    let variables = SessionVariables::new().header("app.owner", "x-owner");
    let decided = [
        options(&database).authorizer(async |_: AuthorizationRequest| true),
        options(&database).session_variables(variables),
        uncached_options(&database)
            .response_cache(ResponseCache::new().key(|_| Some(String::new()))),
    ];
    for options in decided {
        let app = serve(options.config(max_age()).database_url(database.url())).await;
        assert_eq!(
            header(&get(&app, POSTS, &[]).await, "cache-control"),
            "public, no-cache"
        );
    }
    let by_header = ResponseCache::new().header("accept-language");
    let app = serve(uncached_options(&database).response_cache(by_header)).await;
    assert_eq!(
        header(&get(&app, POSTS, &[]).await, "vary"),
        "Accept, Authorization, Cookie, Origin, accept-language"
    );
}
