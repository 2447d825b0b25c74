//! A running service, as seen by anonymous clients.

use std::time::Duration;

use reqwest::{Client, Method, Response};
use serde_json::json;

use super::finding::Finding;
use crate::failure::{Failure, Result};

/// An origin that no service can intend to allow.
const ORIGIN: &str = "https://svc-doctor.invalid";

const PATIENCE: Duration = Duration::from_secs(10);

/// Checks the service at a URL.
pub(super) async fn look(url: &str) -> Result<Vec<Finding>> {
    // Without an installed provider, reqwest cannot choose a cryptography implementation;
    // installing a second one is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(PATIENCE).build();
    let client = client.map_err(|error| Failure::new(format!("cannot make requests: {error}")))?;
    let asked = client
        .post(url)
        .json(&json!({ "query": "{ __schema { queryType { name } } }" }))
        .send()
        .await;

    let Ok(answer) = asked else {
        let fix = "is it the GraphQL endpoint, with /graphql, and is the service running?";
        return Ok(vec![Finding::problem(
            "service",
            format!("{url} does not respond"),
            fix,
        )]);
    };

    let mut findings = vec![Finding::ok("service", format!("{url} responds"))];
    findings.push(introspection(answer).await);
    let preflight = client
        .request(Method::OPTIONS, url)
        // RFC 2606 reserves `.invalid`, so no page can have this origin.
        .header("origin", ORIGIN)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type");

    if let Ok(answer) = preflight.send().await {
        findings.push(cors(&answer));
    }

    if url.starts_with("http://") && !url.contains("//127.0.0.1") && !url.contains("//localhost") {
        let fix = "put it behind a proxy with HTTPS";
        findings.push(Finding::problem(
            "service",
            "requests and tokens are not encrypted",
            fix,
        ));
    }

    Ok(findings)
}

async fn introspection(answer: Response) -> Finding {
    let body: serde_json::Value = answer.json().await.unwrap_or_default();
    if body["data"]["__schema"].is_object() {
        let fix = "set SVC_ENVIRONMENT=production and remove SVC_INTROSPECTION";
        Finding::warning("introspection", "anyone may read the schema", fix)
    } else {
        Finding::ok("introspection", "the schema is not exposed")
    }
}

/// Whether pages of other origins may send requests.
fn cors(answer: &Response) -> Finding {
    let header = |name: &str| {
        answer
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };

    // Fetch standard: with cookies, browsers accept only the origin itself, not `*`.
    let with_cookies = header("access-control-allow-credentials") == Some("true");
    match header("access-control-allow-origin") {
        Some(ORIGIN) if with_cookies => {
            let fix = "list the intended origins in the CORS layer, and no others";
            Finding::problem(
                "cors",
                "pages of every origin may send requests with their visitors' cookies",
                fix,
            )
        }
        Some(ORIGIN | "*") => {
            let fix = "list the intended origins, unless the API is public";
            Finding::warning("cors", "pages of every origin may send requests", fix)
        }
        _ => Finding::ok("cors", "pages of other origins may not send requests"),
    }
}
