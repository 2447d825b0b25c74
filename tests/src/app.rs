//! Applications that are served, and their answers.

use std::net::SocketAddr;

use serde_json::{Value, json};
use svc::axum::Router;
use svc::{AppOptions, Server, create_svc_app};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::log;

/// A served application.
#[derive(Debug)]
pub struct App {
    address: SocketAddr,
    client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: reqwest::header::HeaderMap,
    /// The body as it came.
    pub text: String,
}

/// An HTTP client.
///
/// Built together with a crate that wants TLS, reqwest asks for a TLS provider even where nothing is encrypted.
pub fn client() -> reqwest::Client {
    // An error means that another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

impl App {
    /// Builds the application and serves it on a free port.
    pub async fn serve(options: AppOptions) -> Self {
        log::capture();
        Self::serve_router(create_svc_app(options).await.expect("the application")).await
    }

    /// Serves a router on a free port.
    pub async fn serve_router(router: Router) -> Self {
        let server = Server::bind(([127, 0, 0, 1], 0)).await.expect("a free port");
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(router, async { stopped.await.unwrap_or_default() }));
        Self { address, client: client(), stop: Some(stop), task }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a document.
    pub async fn query(&self, query: &str) -> Reply {
        self.post(&json!({ "query": query })).await
    }

    /// Sends a document with variables.
    pub async fn query_with(&self, query: &str, variables: Value) -> Reply {
        self.post(&json!({ "query": query, "variables": variables })).await
    }

    /// Sends a JSON body to `/graphql`.
    pub async fn post(&self, body: &Value) -> Reply {
        let request = self.client.post(self.url("/graphql")).header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    /// Fetches a path.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(self.client.get(self.url(path))).await
    }

    /// A request to finish and send.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method.parse().expect("a method"), self.url(path))
    }

    /// Sends a request.
    pub async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Reply { status, headers, text: response.text().await.expect("a body") }
    }

    /// Asks the server to stop.
    pub fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A server that has ended needs no asking.
            let _ = stop.send(());
        }
    }

    /// Waits until the server has ended.
    pub async fn stopped(mut self) {
        self.stop();
        self.task.await.expect("the server's task");
    }
}

impl Reply {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("the body is not JSON: {}", self.text))
    }

    /// `data`; fails when there are errors.
    pub fn data(&self) -> Value {
        let json = self.json();
        assert!(json.get("errors").is_none(), "unexpected errors: {}", self.text);
        json["data"].clone()
    }

    /// The code of the first error.
    pub fn code(&self) -> String {
        let json = self.json();
        json["errors"][0]["extensions"]["code"].as_str().unwrap_or_else(|| panic!("no error: {}", self.text)).to_owned()
    }

    /// The message of the first error.
    pub fn message(&self) -> String {
        let json = self.json();
        json["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("no error: {}", self.text)).to_owned()
    }
}
