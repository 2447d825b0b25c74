//! The ways to an answer.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tower::Service as _;

use super::case::{Case, Principal};
use crate::{Error, Result};

/// A way to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The document in a body.
    Post,
    /// The document in the URL.
    Get,
    /// The endpoint that runs no function of the program.
    Rust,
    /// The hash of a document that was sent before.
    Persisted,
    /// The name of an operation that the program has registered.
    Registered,
}

impl Way {
    pub(super) const ALL: [Self; 5] = [Self::Post, Self::Get, Self::Rust, Self::Persisted, Self::Registered];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST /graphql",
            Self::Get => "GET /graphql",
            Self::Rust => "POST /graphql/rust",
            Self::Persisted => "persisted query",
            Self::Registered => "registered operation",
        }
    }

    /// Whether functions of the program may be passed by, so that a field that is denied refuses the whole document.
    pub(super) fn is_bypass(self) -> bool {
        matches!(self, Self::Rust | Self::Registered)
    }

    /// The answer to a case; `None` where the request was refused before it ran.
    pub(super) async fn ask(self, app: &Router, principal: &Principal, case: &Case) -> Result<Option<Value>> {
        // A text that differs from the registered one is not answered by the operation's own SQL.
        let text = format!("\n{}", case.document);
        let plain = || json!({ "query": text, "variables": case.variables });
        let hash = hex::encode(Sha256::digest(&text));
        let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
        let answer = match self {
            Self::Post => post(app, principal, "/graphql", &plain()).await?,
            Self::Get => get(app, principal, &text, &case.variables).await?,
            Self::Rust => post(app, principal, "/graphql/rust", &plain()).await?,
            Self::Persisted => {
                let known = json!({ "extensions": persisted, "variables": case.variables });
                let answer = post(app, principal, "/graphql", &known).await?;
                if answer["errors"][0]["extensions"]["code"] != "PERSISTED_QUERY_NOT_FOUND" {
                    return Ok(ran(answer));
                }
                let first = json!({ "query": text, "extensions": persisted, "variables": case.variables });
                post(app, principal, "/graphql", &first).await?
            }
            Self::Registered => {
                let Some(id) = &case.document_id else { return Ok(None) };
                post(app, principal, "/graphql", &json!({ "documentId": id, "variables": case.variables })).await?
            }
        };
        Ok(ran(answer))
    }
}

/// The answer of a request that ran: it has data, or null in its place.
fn ran(answer: Value) -> Option<Value> {
    answer.get("data").is_some().then_some(answer)
}

async fn post(app: &Router, principal: &Principal, path: &str, body: &Value) -> Result<Value> {
    let request = principal.request("POST", path).header(header::CONTENT_TYPE, "application/json");
    send(app, request.body(Body::from(body.to_string()))).await
}

async fn get(app: &Router, principal: &Principal, text: &str, variables: &Value) -> Result<Value> {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("query", text)
        .append_pair("variables", &variables.to_string())
        .finish();
    send(app, principal.request("GET", &format!("/graphql?{query}")).body(Body::empty())).await
}

/// The JSON of the answer; null for one that has none, as a path that is not there.
async fn send(app: &Router, request: axum::http::Result<Request<Body>>) -> Result<Value> {
    let request = request.map_err(|error| Error::internal(format!("the principal has a bad header: {error}")))?;
    let response = match app.clone().call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let body = to_bytes(response.into_body(), usize::MAX).await?;
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}
