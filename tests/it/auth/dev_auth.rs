//! A password in front of `/graphql`, for services that are not public yet.

use serde_json::json;
use svc::SvcConfig;
use svc_tests::{App, Reply, chromium, node, run_beside};

use super::service::{options, provider};
use super::token::{USER, token};

const PASSWORD: &str = "correct: horse, ünïcode";

async fn serve(more: &[(&str, &str)]) -> App {
    let all = [
        &[
            ("SVC_DEV_AUTH_PASSWORD", PASSWORD),
            ("SVC_ENABLE_RUST_ENDPOINT", "true"),
        ],
        more,
    ]
    .concat();
    let get = |name: &str| {
        all.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let mut config = SvcConfig::from_variables(get).unwrap();
    assert!(!format!("{config:?}").contains("horse"));
    config.database.url = Some("postgres://nobody@127.0.0.1:1/nothing".to_owned());
    App::serve(options().config(config).auth_provider(provider())).await
}

const QUERY: &str = r#"{"query":"{ open }"}"#;

fn refused(reply: &Reply) {
    assert_eq!(
        (reply.status, &reply.headers["www-authenticate"]),
        (
            401,
            &"Basic realm=\"svc\", charset=\"UTF-8\"".parse().unwrap()
        )
    );
    assert!(
        !reply.headers.contains_key("set-cookie") && !reply.text.contains("open"),
        "{}",
        reply.text
    );
}

#[tokio::test]
async fn every_method_and_path_of_graphql_requires_the_password() {
    let app = serve(&[]).await;
    for method in ["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        for path in [
            "/graphql",
            "/graphql?query={open}",
            "/graphql/rust",
            "/graphql/assets/graphiql.js",
        ] {
            let request = app
                .request(method, path)
                .header("content-type", "application/json")
                .body(QUERY);
            let reply = app.send(request).await;
            assert_eq!(reply.status, 401, "{method} {path}");
            assert!(
                reply.headers.contains_key("www-authenticate"),
                "{method} {path}"
            );
        }
    }
    refused(
        &app.send(app.request("GET", "/graphql").header("accept", "text/html"))
            .await,
    );
    // The upgrade to a WebSocket, wherever that leads.
    let upgrade = app
        .request("GET", "/graphql")
        .header("connection", "upgrade")
        .header("upgrade", "websocket");
    refused(
        &app.send(upgrade.header("sec-websocket-version", "13"))
            .await,
    );
    assert_eq!(app.get("/health").await.status, 200);
    let with = app
        .request("PUT", "/graphql")
        .basic_auth("admin", Some(PASSWORD));
    assert_eq!(app.send(with).await.status, 405);
}

#[tokio::test]
async fn password_guesses_are_rate_limited_per_address() {
    let app = serve(&[]).await;
    let ask = |password: &str| {
        app.request("GET", "/graphql?query={open}")
            .basic_auth("admin", Some(password))
    };
    for number in 0..30 {
        refused(&app.send(ask(&format!("guess {number}"))).await);
    }
    for password in ["guess 30", PASSWORD] {
        let reply = app.send(ask(password)).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (429, "RATE_LIMITED"),
            "{password}"
        );
        assert!(
            reply.headers["retry-after"]
                .to_str()
                .unwrap()
                .parse::<u64>()
                .unwrap()
                <= 61
        );
    }
    // A browser that asks without a password guesses nothing.
    refused(&app.send(app.request("GET", "/graphql?query={open}")).await);
}

#[tokio::test]
async fn only_the_right_name_and_password_are_accepted() {
    let app = serve(&[]).await;
    let ask = |name: &str, password: &str| {
        app.request("GET", "/graphql?query={open}")
            .basic_auth(name, Some(password))
    };
    assert_eq!(
        app.send(ask("admin", PASSWORD)).await.data(),
        json!({ "open": true })
    );
    for (name, password) in [
        ("admin", ""),
        ("admin", "correct"),
        ("admin", "correct: horse, ünïcode "),
        ("Admin", PASSWORD),
        ("", PASSWORD),
        ("admin:correct", " horse, ünïcode "),
    ] {
        refused(&app.send(ask(name, password)).await);
    }
    for header in [
        "Basic",
        "Basic ",
        "Basic !",
        "Bearer YWRtaW46",
        "admin",
        "Basic YWRtaW4=",
    ] {
        refused(
            &app.send(
                app.request("GET", "/graphql?query={open}")
                    .header("authorization", header),
            )
            .await,
        );
    }
    let twice = ask("admin", PASSWORD).header("authorization", "Bearer x");
    refused(&app.send(twice).await);
    let named = serve(&[
        ("SVC_DEV_AUTH_USERNAME", "eve"),
        ("SVC_ENVIRONMENT", "production"),
    ])
    .await;
    let request = named.request("GET", "/graphql?query={open}");
    assert_eq!(
        named
            .send(request.basic_auth("eve", Some(PASSWORD)))
            .await
            .data(),
        json!({ "open": true })
    );
    refused(
        &named
            .send(
                named
                    .request("GET", "/graphql?query={open}")
                    .basic_auth("admin", Some(PASSWORD)),
            )
            .await,
    );
}

/// A request has one `Authorization`, which GraphiQL needs for a token.
#[tokio::test]
async fn the_page_sets_a_cookie_that_replaces_the_password() {
    let app = serve(&[]).await;
    let page = app
        .request("GET", "/graphql")
        .header("accept", "text/html")
        .basic_auth("admin", Some(PASSWORD));
    let cookie = app.send(page).await.headers["set-cookie"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let ask = |cookie: &str| {
        app.request("GET", "/graphql?query={user_id}")
            .header("cookie", cookie.to_owned())
    };
    let held = token(json!({}));
    assert_eq!(
        app.send(ask(cookie).bearer_auth(&held)).await.data(),
        json!({ "user_id": USER })
    );
    assert_eq!(
        app.send(ask(&format!("a=b; {cookie}"))).await.data(),
        json!({ "user_id": null })
    );
    for bad in [
        "svc_dev_auth=",
        "svc_dev_auth",
        &cookie[..cookie.len() - 1],
        &cookie.replace("svc_", "x_"),
    ] {
        refused(&app.send(ask(bad).bearer_auth(&held)).await);
    }
    // Programs that ask with the password get none.
    let query = app
        .request("GET", "/graphql?query={open}")
        .basic_auth("admin", Some(PASSWORD));
    assert!(!app.send(query).await.headers.contains_key("set-cookie"));
    // Nor do they have another service's.
    let other = serve(&[]).await;
    refused(
        &other
            .send(
                other
                    .request("GET", "/graphql?query={open}")
                    .header("cookie", cookie),
            )
            .await,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn graphiql_works_with_the_password_and_a_token() {
    let app = serve(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = node("graphiql.mjs");
    command
        .arg(app.url("/graphql"))
        .arg(folder.path().join("graphiql.png"))
        .env("CHROMIUM", chromium());
    command
        .env("HTTP_USER", format!("admin:{PASSWORD}"))
        .env("QUERY", "{ user_id }")
        .env("EXPECT", USER);
    command.env(
        "HEADERS",
        json!({ "Authorization": format!("Bearer {}", token(json!({}))) }).to_string(),
    );
    // A browser takes long beside other tests.
    command.env("TIMEOUT_MS", "120000");
    let output = run_beside(command).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
