//! Tests of the gate through the router, with test policies.

mod decisions;
mod filters;
mod questions;
mod schema;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::Service as _;

use crate::{AppOptions, create_svc_app};
use svc_core::Error;
use svc_engine::authz::{AuthorizationDecision, AuthorizationRequest, Authorizer};
use svc_engine::sql::Filter;

/// The rule of the test policy for a field.
#[derive(Clone)]
enum Rule {
    Allow,
    Where(Filter),
    Deny,
    Fail(fn() -> Error),
    Panic,
    Never,
}

/// The recorded requests, as text.
type Asked = Arc<Mutex<Vec<String>>>;

/// A policy with a rule for each field; other fields are allowed.
struct Rules {
    rules: Vec<(&'static str, Rule)>,
    asked: Asked,
}

impl Authorizer for Rules {
    async fn authorize_operation(
        &self,
        request: AuthorizationRequest,
    ) -> Result<AuthorizationDecision, Error> {
        self.asked.lock().unwrap().push(questions::shown(&request));
        let rule = self
            .rules
            .iter()
            .find(|(field, _)| *field == request.operation_name())
            .map(|(_, rule)| rule);

        let rule = rule.cloned().unwrap_or(Rule::Allow);
        tokio::task::yield_now().await;

        match rule {
            Rule::Allow => Ok(AuthorizationDecision::allow()),
            Rule::Where(filter) => Ok(AuthorizationDecision::allow_where(filter)),
            Rule::Deny => Ok(AuthorizationDecision::deny()),
            Rule::Fail(error) => Err(error()),
            Rule::Panic => panic!("a broken policy"),
            Rule::Never => std::future::pending().await,
        }
    }
}

/// A service with a policy.
struct Guarded {
    router: Router,
    asked: Asked,
}

impl Guarded {
    async fn new(options: AppOptions, rules: Vec<(&'static str, Rule)>) -> Self {
        let asked = Asked::default();
        let policy = Rules {
            rules,
            asked: asked.clone(),
        };

        let options = options
            .authorizer(policy)
            .authorization_timeout(Duration::from_millis(200));

        Self {
            router: create_svc_app(options).await.unwrap(),
            asked,
        }
    }

    async fn send(&self, request: Request<Body>) -> Value {
        let response = self.router.clone().call(request).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }

    async fn post_to(&self, path: &str, body: Value) -> Value {
        let request = Request::post(path).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap())
            .await
    }

    async fn ask(&self, query: &str) -> Value {
        self.post_to("/graphql", json!({ "query": query })).await
    }

    /// The requests recorded since the last call.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn codes(answer: &Value) -> Vec<&str> {
    let errors = answer["errors"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    errors
        .iter()
        .filter_map(|error| error["extensions"]["code"].as_str())
        .collect()
}
