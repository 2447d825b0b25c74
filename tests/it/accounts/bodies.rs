//! Bodies that are not what a route takes.

use std::time::Duration;

use serde_json::{Value, json};
use svc::accounts::{AccountMail, AccountMailer};
use svc_tests::raw::Client;
use svc_tests::{App, Reply};

use super::client::{PASSWORD, login, register};
use super::service::{Service, serve, serve_with};
use crate::http::steadily;

/// A sender that sends nothing, so that there are the routes that need one.
struct Nowhere;

impl AccountMailer for Nowhere {
    async fn send(&self, _: AccountMail) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

/// Names and values of fields, in the order of the documentation.
type Fields = &'static [(&'static str, &'static str)];

/// Every route that takes a body.
const ROUTES: [(&str, &str, Fields); 8] = [
    (
        "POST",
        "/auth/register",
        &[
            ("username", "eve"),
            ("password", PASSWORD),
            ("email", "eve@example.com"),
        ],
    ),
    (
        "POST",
        "/auth/login",
        &[("username", "ada"), ("password", PASSWORD)],
    ),
    ("POST", "/auth/refresh", &[("refresh_token", "x")]),
    (
        "POST",
        "/auth/password",
        &[("current_password", PASSWORD), ("new_password", PASSWORD)],
    ),
    (
        "POST",
        "/auth/password/forgot",
        &[("email", "ada@example.com")],
    ),
    (
        "POST",
        "/auth/password/reset",
        &[("token", "x"), ("password", PASSWORD)],
    ),
    ("POST", "/auth/email/verify", &[("token", "x")]),
    ("DELETE", "/auth/me", &[("password", PASSWORD)]),
];

async fn start() -> (Service, String) {
    let service = serve_with(|factory| {
        let mut limits = svc::accounts::AttemptLimits::default();
        (limits.per_account, limits.per_address) = (10_000, 10_000);
        factory.attempt_limits(limits).mailer(Nowhere)
    })
    .await;
    let access = register(&service.app, "ada").await.access;
    (service, access)
}

/// Changes Ada's password back, and returns an access token of the session after it.
async fn with_old_password(app: &App, password: &str) -> String {
    let access = |reply: &Reply| super::client::Held::of(reply).access;
    let token = access(&login(app, "ada", password).await);
    let body = json!({ "current_password": password, "new_password": PASSWORD }).to_string();
    let reply = send(app, &token, "POST", "/auth/password", body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);

    access(&login(app, "ada", PASSWORD).await)
}

async fn send(app: &App, token: &str, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Reply {
    let request = app
        .request(method, path)
        .bearer_auth(token)
        .header("content-type", "application/json");
    app.send(request.body(body.into())).await
}

fn object(fields: Fields) -> Value {
    fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect()
}

/// Lists of the right values, a list of one object, and every other body that is not one object.
#[tokio::test]
async fn a_body_that_is_not_one_object_is_refused_on_every_route() {
    let (service, access) = start().await;
    for (method, path, fields) in ROUTES {
        let good = object(fields);
        let list = json!(fields.iter().map(|(_, value)| value).collect::<Vec<_>>()).to_string();
        let text = good.to_string();
        let first = format!("{{\"{}\":\"twice\",{}", fields[0].0, &text[1..]);
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bad in [
            list.clone().into_bytes(),
            format!(" \n{list}").into_bytes(),
            json!([good]).to_string().into_bytes(),
            format!("{text}{text}").into_bytes(),
            format!("{text}]").into_bytes(),
            format!("\u{feff}{text}").into_bytes(),
            format!("{{\"body\":{text}}}").into_bytes(),
            text.replace('"', "'").into_bytes(),
            first.into_bytes(),
            utf16,
            json!(text).to_string().into_bytes(),
            b"null".to_vec(),
            b"7".to_vec(),
            b"{}".to_vec(),
            b"".to_vec(),
            b"\xff\xfe".to_vec(),
            format!("{{\"x\":{}", "[".repeat(5_000)).into_bytes(),
        ] {
            let shown = String::from_utf8_lossy(&bad)
                .chars()
                .take(60)
                .collect::<String>();
            let reply = send(&service.app, &access, method, path, bad).await;
            assert_eq!(
                (reply.status, &reply.json()["error"]),
                (400, &json!("bad_request")),
                "{path} {shown}"
            );
            assert!(
                reply.json()["message"]
                    .as_str()
                    .unwrap()
                    .contains("must be a JSON object"),
                "{path} {shown}"
            );
        }
    }
    assert_eq!(
        login(&service.app, "eve", PASSWORD).await.status,
        401,
        "nobody has registered"
    );
    // The controls: what is refused here is refused for its content.
    for (method, path, fields) in ROUTES {
        let access = super::client::Held::of(&login(&service.app, "ada", PASSWORD).await).access;
        let reply = send(
            &service.app,
            &access,
            method,
            path,
            object(fields).to_string(),
        )
        .await;
        assert_ne!(
            reply.json()["error"],
            "bad_request",
            "{path}: {}",
            reply.text
        );
    }
}

/// Fields with characters that PostgreSQL cannot store, and other unusual text: no response says
/// that something is unavailable.
#[tokio::test]
async fn unusual_text_in_a_body_never_causes_a_server_error() {
    let (service, mut access) = start().await;
    let long = "x".repeat(8_000);
    let strange = [
        "\u{0}",
        "a\u{0}b@example.com",
        "' OR 1=1 --",
        "\u{202e}ada",
        "\\",
        "%",
        long.as_str(),
        "\u{fdfa}",
        "\u{10ffff}",
    ];
    for (method, path, fields) in ROUTES {
        for (place, _) in fields {
            for value in strange {
                let mut body = object(fields);
                body[*place] = json!(value);
                let reply = send(&service.app, &access, method, path, body.to_string()).await;
                // A backslash is a name that one may have.
                let is_answered = [200, 201, 202, 400, 401, 409, 422].contains(&reply.status);
                assert!(
                    is_answered,
                    "{path} {place} {value:.20?}: {} {}",
                    reply.status, reply.text
                );
                let is_refused = [400, 401, 422].contains(&reply.status);
                assert!(
                    is_refused || !value.contains('\u{0}'),
                    "{path} {place} {value:?}: {}",
                    reply.text
                );

                if *place == "new_password" && reply.status == 200 {
                    access = with_old_password(&service.app, value).await;
                }
            }
        }
    }
    // Half of a surrogate pair is not a character.
    let body = r#"{"username":"ada","password":"\ud800"}"#;
    assert_eq!(
        send(&service.app, &access, "POST", "/auth/login", body)
            .await
            .status,
        400
    );
    assert_eq!(
        login(&service.app, "ada", PASSWORD).await.status,
        200,
        "the control"
    );
}

#[tokio::test]
async fn a_log_in_refuses_content_types_other_than_json() {
    let (service, _) = start().await;
    let body = json!({ "username": "ada", "password": PASSWORD }).to_string();
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "json",
    ] {
        let request = service
            .app
            .request("POST", "/auth/login")
            .header("content-type", media)
            .body(body.clone());
        assert_eq!(service.app.send(request).await.status, 415, "{media}");
    }
    for media in [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
    ] {
        let request = service
            .app
            .request("POST", "/auth/login")
            .header("content-type", media)
            .body(body.clone());
        assert_eq!(service.app.send(request).await.status, 200, "{media}");
    }
}

/// A refusal that reads no body leaves the connection usable for the next request.
#[tokio::test]
async fn a_connection_stays_open_after_an_unread_body() {
    let service = serve().await;
    for path in ["/auth/logout", "/auth/logout-all"] {
        steadily(Duration::from_millis(500), async |_| {
            let mut client = Client::open(service.app.address()).await;
            for _ in 0..3 {
                let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n");
                client.send(&head).await;
                // Long enough for the head to arrive alone on most machines, and right in either
                // case.
                tokio::time::sleep(Duration::from_millis(20)).await;
                client.send("{}").await;
                let answer = client.answer().await;
                assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
                if answer.to_ascii_lowercase().contains("connection: close") {
                    return Err(answer);
                }
            }
            Ok(())
        })
        .await;
    }
}
