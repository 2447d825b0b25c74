//! The real program over HTTP, on an embedded database, with tokens.

use std::process::Command;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use svc::serde_json::{Value, json};
use svc_tests::Program;

use crate::who::{ADA, NORTH, SOUTH};

const SECRET: &str = "a secret of the test's own, with more than 32 bytes";

/// A signed token of a user.
fn token(user: &str, role: &str, tenant: &str) -> String {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let claims = json!({ "sub": user, "roles": [role], "tenant": tenant, "exp": now + 600, "iss": "shop", "aud": "shop" });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!(
        "{}.{}",
        part(&json!({ "alg": "HS256", "typ": "JWT" })),
        part(&claims)
    );

    let signature = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()),
        signed.as_bytes(),
    );

    format!("Bearer {signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

async fn ask(url: &str, headers: &[(&str, &str)], document: &str) -> Value {
    let request = svc_tests::client()
        .post(url)
        .header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    let answer = request
        .body(json!({ "query": document }).to_string())
        .send()
        .await
        .unwrap();

    svc::serde_json::from_str(&answer.text().await.unwrap()).unwrap()
}

#[tokio::test]
async fn the_program_serves_guests_and_users_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_shop"));
    command
        .current_dir(&folder)
        .env("SVC_PORT", "0")
        .env_remove("SVC_DATABASE_URL")
        .env_remove("DATABASE_URL");

    command
        .env("SVC_AUTH_PROVIDER", "custom")
        .env("SVC_AUTH_SECRET_KEY", SECRET);
    command
        .env("SVC_AUTH_ISSUER", "shop")
        .env("SVC_AUTH_AUDIENCE", "shop");

    // Production does not start where policies do not bind the role.
    command.env("SVC_ENVIRONMENT", "production");
    let mut program = Program::start(&mut command);
    let url = program.url();
    let found = async || {
        let answer = ask(
            &url,
            &[("x-tenant-id", NORTH)],
            "{ products { totalCount } }",
        )
        .await;

        if answer["data"]["products"]["totalCount"] == 10 {
            Ok(())
        } else {
            Err(answer.to_string())
        }
    };

    svc_tests::eventually(found).await;

    let search =
        "{ products(where: { search: { websearchQuery: \"flowers\" } }) { nodes { sku } } }";
    let answer = ask(&url, &[("x-tenant-id", NORTH)], search).await;
    assert_eq!(
        answer["data"]["products"]["nodes"],
        json!([{ "sku": "vase" }]),
        "{answer}"
    );

    let answer = ask(
        &url,
        &[("x-tenant-id", SOUTH)],
        "{ shop { name } orders { totalCount } }",
    )
    .await;

    assert_eq!(
        answer,
        json!({ "data": { "shop": { "name": "South Tools" }, "orders": { "totalCount": 0 } } })
    );
    let answer = ask(
        &url,
        &[("x-tenant-id", "' OR true --")],
        "{ shop { name } products { totalCount } }",
    )
    .await;

    assert_eq!(
        answer,
        json!({ "data": { "shop": null, "products": { "totalCount": 0 } } }),
        "a shop that is none"
    );

    let ada = token(ADA, "customer", NORTH);

    // The header of the client's own changes nothing.
    let headers = [("authorization", ada.as_str()), ("x-tenant-id", SOUTH)];
    let answer = ask(
        &url,
        &headers,
        "{ shop { name } me { email } orders { totalCount } }",
    )
    .await;

    assert_eq!(
        answer,
        json!({ "data": {
        "shop": { "name": "North Pottery" }, "me": { "email": "ada@example.org" }, "orders": { "totalCount": 2 },
    } })
    );

    let answer = ask(&url, &headers, "{ product(sku: \"teapot\") { id } }").await;
    let id = answer["data"]["product"]["id"].as_str().unwrap();
    let buy = format!(
        "mutation {{ placeOrder(lines: [{{ productId: \"{id}\", quantity: 6 }}]) {{
        ... on PlaceOrderError {{ code message left }} }} }}"
    );
    let answer = ask(&url, &headers, &buy).await;

    assert_eq!(
        answer["data"]["placeOrder"],
        json!({ "code": 409, "message": "Teapot: 5 left", "left": 5 }),
        "{answer}"
    );
}
