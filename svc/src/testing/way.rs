//! The transports of the matrix: all ways to run an operation.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::call::answer;
use super::case::{Case, Principal};
#[cfg(feature = "websocket")]
use super::socket;
use super::stream::{self, Format};
use svc_core::Result;

/// A way to run an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The document in a body.
    Post,
    /// The document in the URL.
    Get,
    /// The document in the body of a safe request.
    Query,
    /// The endpoint that runs no function of the program.
    Rust,
    /// The document in a batch.
    Batch,
    /// The document in a body, with a response of server-sent events.
    Events,
    /// The document in a body, with a multipart response.
    Multipart,
    /// The document in a message of a WebSocket.
    #[cfg(feature = "websocket")]
    Socket,
    /// The hash of a document that has been sent before.
    Persisted,
    /// The name of an operation that the program has registered.
    Registered,
}

/// The codes of requests whose operation was not found, so no access decision was made.
const NOT_FOUND: [&str; 5] = [
    "BAD_REQUEST",
    "GRAPHQL_PARSE_FAILED",
    "GRAPHQL_VALIDATION_FAILED",
    "PERSISTED_QUERY_NOT_FOUND",
    "PERSISTED_QUERY_NOT_SUPPORTED",
];

impl Way {
    pub(super) const ALL: &[Self] = &[
        Self::Post,
        Self::Get,
        Self::Query,
        Self::Rust,
        Self::Batch,
        Self::Events,
        Self::Multipart,
        #[cfg(feature = "websocket")]
        Self::Socket,
        Self::Persisted,
        Self::Registered,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST /graphql",
            Self::Get => "GET /graphql",
            Self::Query => "QUERY /graphql",
            Self::Rust => "POST /graphql/rust",
            Self::Batch => "batch",
            Self::Events => "server-sent events",
            Self::Multipart => "multipart response",
            #[cfg(feature = "websocket")]
            Self::Socket => "WebSocket",
            Self::Persisted => "persisted query",
            Self::Registered => "registered operation",
        }
    }

    /// Whether the program's functions may be bypassed, so that a denied field rejects the whole
    /// document. Subscriptions are never run by the SQL of a registered operation.
    pub(super) fn is_bypass(self, case: &Case) -> bool {
        match self {
            Self::Rust => true,
            Self::Registered => !case.is_subscription(),
            _ => false,
        }
    }

    /// Returns the response to a case, the first one for a subscription; `None` if the request was
    /// rejected before it ran.
    pub(super) async fn ask(
        self,
        app: &Router,
        principal: &Principal,
        case: &Case,
    ) -> Result<Option<Value>> {
        let answer = case.first(self.answer(app, principal, case)).await?;
        Ok(answer.filter(|answer| ran(answer, case)))
    }

    async fn answer(self, app: &Router, principal: &Principal, case: &Case) -> Result<Value> {
        // A text that differs from the registered one is not run by the SQL of the registered
        // operation.
        let text = format!("\n{}", case.document);
        let plain = json!({ "query": text, "variables": case.variables });
        match self {
            Self::Post => post(app, principal, "/graphql", &plain).await,
            Self::Get => get(app, principal, &text, &case.variables).await,
            Self::Query => body(app, principal, "QUERY", "/graphql", &plain).await,
            Self::Rust => post(app, principal, "/graphql/rust", &plain).await,
            Self::Batch => {
                let mut answers = post(app, principal, "/graphql", &json!([plain])).await?;
                // If batches are disabled, this is the response to a single request.
                Ok(answers.get_mut(0).map(Value::take).unwrap_or_default())
            }
            Self::Events => stream::first(app, principal, &plain, Format::Events).await,
            Self::Multipart => stream::first(app, principal, &plain, Format::Multipart).await,
            #[cfg(feature = "websocket")]
            Self::Socket => socket::first(app, principal, &plain).await,
            Self::Persisted => {
                let hash = hex::encode(Sha256::digest(&text));
                let persisted = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
                let known = json!({ "extensions": persisted, "variables": case.variables });

                // As clients of automatic persisted queries do, the hash is sent alone first.
                let answer = named(app, principal, case, &known).await?;
                if answer["errors"][0]["extensions"]["code"] != "PERSISTED_QUERY_NOT_FOUND" {
                    return Ok(answer);
                }
                let first =
                    json!({ "query": text, "extensions": persisted, "variables": case.variables });
                named(app, principal, case, &first).await
            }
            Self::Registered => {
                let Some(id) = &case.document_id else {
                    return Ok(Value::Null);
                };
                named(
                    app,
                    principal,
                    case,
                    &json!({ "documentId": id, "variables": case.variables }),
                )
                .await
            }
        }
    }
}

/// Whether the operation ran: the response has data, possibly null. A rejected subscription has no
/// data either, but a code.
fn ran(answer: &Value, case: &Case) -> bool {
    let is_refusal = |answer: &Value| {
        let code = answer["errors"][0]["extensions"]["code"].as_str();
        code.is_some_and(|code| !NOT_FOUND.contains(&code))
    };
    answer.get("data").is_some() || (case.is_subscription() && is_refusal(answer))
}

/// Sends a body that names its document; the response to a subscription is a stream of events.
async fn named(app: &Router, principal: &Principal, case: &Case, body: &Value) -> Result<Value> {
    match case.is_subscription() {
        true => stream::first(app, principal, body, Format::Events).await,
        false => post(app, principal, "/graphql", body).await,
    }
}

async fn post(app: &Router, principal: &Principal, path: &str, json: &Value) -> Result<Value> {
    body(app, principal, "POST", path, json).await
}

/// Sends a JSON body.
async fn body(
    app: &Router,
    principal: &Principal,
    method: &str,
    path: &str,
    json: &Value,
) -> Result<Value> {
    let request = principal
        .request(method, path)
        .header(header::CONTENT_TYPE, "application/json");
    send(app, request.body(Body::from(json.to_string()))).await
}

async fn get(app: &Router, principal: &Principal, text: &str, variables: &Value) -> Result<Value> {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("query", text)
        .append_pair("variables", &variables.to_string())
        .finish();
    send(
        app,
        principal
            .request("GET", &format!("/graphql?{query}"))
            .body(Body::empty()),
    )
    .await
}

/// Returns the JSON of the response; null if it has none, as for a missing route.
async fn send(app: &Router, request: axum::http::Result<Request<Body>>) -> Result<Value> {
    let body = to_bytes(answer(app, request).await?.into_body(), usize::MAX).await?;
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}
