//! An issuer whose every answer is scripted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use svc::IdpConfig;
use svc::auth::{IdpProvider, UserContext};
use svc::axum::body::{Body, to_bytes};
use svc::axum::extract::Request;
use svc::axum::http::{Response, header};
use svc::axum::{Router, middleware};
use svc_tests::{App, Reply};

use super::super::service::{options, query};
use super::super::token::claims;

/// The audience of the tests.
pub(super) const API: &str = "https://api.example";

/// An answer of the issuer.
#[derive(Clone)]
pub(super) enum Answer {
    Json(Value),
    Status(u16),
    Text(String),
    Redirect(String),
    /// None ever comes.
    Silence,
}

/// A request that the issuer has got: its path with the query, its `Authorization`, and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) path: String,
    pub(super) authorization: Option<String>,
    pub(super) body: String,
}

/// An issuer on this machine.
pub(super) struct Issuer {
    app: App,
    script: Arc<Script>,
}

#[derive(Default)]
struct Script {
    answers: Mutex<HashMap<String, Answer>>,
    received: Mutex<Vec<Received>>,
}

impl Issuer {
    pub(super) async fn start() -> Self {
        let script = Arc::<Script>::default();
        let shared = script.clone();
        let answering = middleware::from_fn(move |request: Request, _: middleware::Next| {
            let script = shared.clone();
            async move { script.answer(request).await }
        });
        let app = App::serve_router(Router::new().fallback(async || "").layer(answering)).await;
        Self { app, script }
    }

    /// The issuer as tokens name it: the domain with a slash behind it.
    pub(super) fn name(&self) -> String {
        self.app.url("/")
    }

    pub(super) fn url(&self, path: &str) -> String {
        self.app.url(path)
    }

    /// Scripts the answer for a path.
    pub(super) fn answers(&self, path: &str, answer: Answer) {
        self.script
            .answers
            .lock()
            .unwrap()
            .insert(path.to_owned(), answer);
    }

    /// Scripts the key set.
    pub(super) fn publishes(&self, keys: &[&Key]) {
        let keys = keys.iter().map(|key| key.public()).collect::<Vec<_>>();
        self.answers(KEYS, Answer::Json(json!({ "keys": keys })));
    }

    /// The requests for a path.
    pub(super) fn received(&self, path: &str) -> Vec<Received> {
        let received = self.script.received.lock().unwrap();
        received
            .iter()
            .filter(|request| request.path.split('?').next() == Some(path))
            .cloned()
            .collect()
    }

    /// The settings of a provider of this issuer.
    pub(super) fn config(&self) -> IdpConfig {
        IdpConfig {
            domain: Some(self.name()),
            api_identifier: Some(API.to_owned()),
            algorithms: vec![svc::TokenAlgorithm::EdDsa],
            ..IdpConfig::default()
        }
    }

    /// The claims of a token of this issuer, with these in addition; null takes one away.
    pub(super) fn claims(&self, more: Value) -> Value {
        let mut all = json!({ "sub": "auth0|ada", "iss": self.name(), "aud": API });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        claims(all)
    }
}

/// The path of the key set of a domain.
pub(super) const KEYS: &str = "/.well-known/jwks.json";

impl Script {
    async fn answer(&self, request: Request) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let authorization = parts
            .headers
            .get(header::AUTHORIZATION)
            .map(|value| text(value.as_bytes()));
        let body = text(&to_bytes(body, 1 << 20).await.unwrap());
        let path = parts.uri.path().to_owned();
        self.received.lock().unwrap().push(Received {
            path: parts.uri.to_string(),
            authorization,
            body,
        });
        let answer = self.answers.lock().unwrap().get(&path).cloned();
        let response = Response::builder();
        match answer {
            Some(Answer::Json(json)) => response
                .header(header::CONTENT_TYPE, "application/json")
                .body(json.to_string()),
            Some(Answer::Text(text)) => response.body(text),
            Some(Answer::Status(status)) => response.status(status).body(String::new()),
            Some(Answer::Redirect(to)) => response
                .status(302)
                .header(header::LOCATION, to)
                .body(String::new()),
            Some(Answer::Silence) => std::future::pending().await,
            None => response.status(404).body(String::new()),
        }
        .unwrap()
        .map(Body::from)
    }
}

/// A key of the issuer.
pub(super) struct Key {
    pub(super) id: &'static str,
    pair: Ed25519KeyPair,
}

impl Key {
    pub(super) fn new(id: &'static str) -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self {
            id,
            pair: Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap(),
        }
    }

    fn public(&self) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.pair.public_key());
        json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": self.id, "x": x })
    }

    pub(super) fn sign(&self, claims: &Value) -> String {
        self.sign_with(
            &json!({ "alg": "EdDSA", "typ": "JWT", "kid": self.id }),
            claims,
        )
    }

    pub(super) fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let encoded = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
        let signed = format!("{}.{}", encoded(header), encoded(claims));
        format!(
            "{signed}.{}",
            URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()))
        )
    }
}

/// A service of a provider.
pub(super) async fn serve(provider: IdpProvider) -> App {
    App::serve(options().auth_provider(provider)).await
}

/// The user that a service sees; the reason, if there is none.
pub(super) async fn user(app: &App, token: &str) -> Result<UserContext, String> {
    let reply: Reply = query(app, token, "{ me }").await;
    let json = reply.json();
    let error = &json["errors"][0]["extensions"];
    match serde_json::from_value(json["data"]["me"].clone()) {
        Ok(user) => Ok(user),
        Err(_) => Err(error["reason"]
            .as_str()
            .or(error["code"].as_str())
            .unwrap_or_default()
            .to_owned()),
    }
}

/// The refusal of a token.
pub(super) fn invalid<T>() -> Result<T, String> {
    Err("TOKEN_INVALID".to_owned())
}
