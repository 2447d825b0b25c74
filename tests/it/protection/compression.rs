//! Answers are compressed where a setting says so and they are large enough.

use std::io::Read as _;

use flate2::read::GzDecoder;
use svc::ProtectionConfig;
use svc::prelude::*;
use svc_tests::{App, TestDatabase, client};

#[svc::query]
fn text(length: i32) -> String {
    "svc ".repeat(usize::try_from(length).unwrap() / 4)
}

async fn app(compression: bool) -> App {
    let url = TestDatabase::empty().await;
    let protection = ProtectionConfig {
        compression,
        ..ProtectionConfig::default()
    };
    let config = SvcConfig {
        protection,
        ..SvcConfig::default()
    };
    App::serve(
        AppOptions::new()
            .config(config)
            .database_url(url)
            .queries(queries![text]),
    )
    .await
}

/// The coding of an answer, and its bytes.
async fn ask(app: &App, length: usize, accept: &str) -> (Option<String>, Vec<u8>) {
    let request = client()
        .post(app.url("/graphql"))
        .header("content-type", "application/json");
    let body = format!(r#"{{"query":"{{ text(length: {length}) }}"}}"#);
    let response = request
        .header("accept-encoding", accept)
        .body(body)
        .send()
        .await
        .unwrap();
    let coding = response
        .headers()
        .get("content-encoding")
        .map(|coding| coding.to_str().unwrap().to_owned());
    (coding, response.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn large_answers_are_compressed_as_the_client_prefers() {
    let app = app(true).await;
    for coding in ["gzip", "br", "zstd"] {
        let (found, bytes) = ask(&app, 40_000, coding).await;
        assert_eq!(found.as_deref(), Some(coding));
        assert!(bytes.len() < 4_000, "{coding}: {} bytes", bytes.len());
        if coding == "gzip" {
            let mut text = String::new();
            GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
            assert_eq!(
                text,
                format!("{{\"data\":{{\"text\":\"{}\"}}}}", "svc ".repeat(10_000))
            );
        }
    }
    assert_eq!(ask(&app, 40_000, "identity").await.0, None);
    assert_eq!(ask(&app, 800, "gzip").await.0, None, "small");
    assert_eq!(ask(&app, 1_200, "gzip").await.0.as_deref(), Some("gzip"));
}

#[tokio::test]
async fn nothing_is_compressed_by_default() {
    let app = app(false).await;
    let (coding, bytes) = ask(&app, 40_000, "gzip, br, zstd").await;
    assert_eq!(coding, None);
    assert!(bytes.len() > 40_000);
}
