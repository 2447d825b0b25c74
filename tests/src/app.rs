//! Applications that are served, and their answers.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use svc::axum::Router;
use svc::{AppOptions, Server, create_svc_app};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::log;
use crate::written::Watch;

/// The longest wait for an answer, for each further part of it, and for the end of a server: longer
/// than any time limit that a test gives a service to answer.
const LONGEST: Duration = Duration::from_secs(700);

/// A served application.
#[derive(Debug)]
pub struct App {
    address: SocketAddr,
    client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
    /// Sees whether a secret is written; `None` once it was asked.
    watch: Option<Watch>,
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
/// Built together with a crate that wants TLS, reqwest asks for a TLS provider even where nothing
/// is encrypted.
pub fn client() -> reqwest::Client {
    // An error means that another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        // Reading the certificates of the system takes longer than most requests.
        .tls_certs_only([])
        .read_timeout(LONGEST)
        .build()
        .expect("a client")
}

impl App {
    /// Builds the application and serves it on a free port.
    pub async fn serve(options: AppOptions) -> Self {
        log::capture();
        let watch = Watch::start();
        Self::serve_watched(
            create_svc_app(options).await.expect("the application"),
            watch,
        )
        .await
    }

    /// Serves a router on a free port.
    pub async fn serve_router(router: Router) -> Self {
        log::capture();
        Self::serve_watched(router, Watch::start()).await
    }

    async fn serve_watched(router: Router, watch: Watch) -> Self {
        let server = Server::bind(([127, 0, 0, 1], 0))
            .await
            .expect("a free port");
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = Some(tokio::spawn(
            server.run(router, async { stopped.await.unwrap_or_default() }),
        ));
        Self {
            address,
            client: client(),
            stop: Some(stop),
            task,
            watch: Some(watch),
        }
    }

    /// The same, of whose log nothing is kept to search it for secrets: it takes memory.
    pub fn unwatched(mut self) -> Self {
        self.watch = None;
        self
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
        self.post(&json!({ "query": query, "variables": variables }))
            .await
    }

    /// Sends a JSON body to `/graphql`.
    pub async fn post(&self, body: &Value) -> Reply {
        let request = self
            .client
            .post(self.url("/graphql"))
            .header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    /// Fetches a path.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(self.client.get(self.url(path))).await
    }

    /// A request to finish and send.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client
            .request(method.parse().expect("a method"), self.url(path))
    }

    /// Sends a request.
    pub async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        let request = request.build().expect("a request");
        if let Some(watch) = &self.watch {
            watch.request(
                request.headers(),
                request.body().and_then(|body| body.as_bytes()),
            );
        }
        let response = self.client.execute(request).await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let reply = Reply {
            status,
            headers,
            text: response.text().await.expect("a body"),
        };
        if let Some(watch) = &self.watch {
            watch.answer(&reply.headers, reply.text.as_bytes());
        }
        reply
    }

    /// The secrets of requests and answers that were written since the server began, by any server
    /// of the tests. It is asked for by itself when a test ends: only a test that has them written
    /// on purpose asks.
    pub fn written_secrets(&mut self) -> Vec<String> {
        self.watch
            .take()
            .map(|watch| watch.leaks())
            .unwrap_or_default()
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
        if let Some(task) = self.task.take() {
            let ended = timeout(LONGEST, task).await.expect("the server still runs");
            ended.expect("the server's task");
        }
    }
}

/// A test whose requests had a secret written fails.
impl Drop for App {
    fn drop(&mut self) {
        let written = self.written_secrets();
        if !std::thread::panicking() {
            assert!(written.is_empty(), "secrets were written: {written:#?}");
        }
    }
}

impl Reply {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|_| panic!("the body is not JSON: {}", self.text))
    }

    /// `data`; fails when there are errors.
    pub fn data(&self) -> Value {
        let json = self.json();
        assert!(
            json.get("errors").is_none(),
            "unexpected errors: {}",
            self.text
        );
        json["data"].clone()
    }

    /// The code of the first error.
    pub fn code(&self) -> String {
        let json = self.json();
        json["errors"][0]["extensions"]["code"]
            .as_str()
            .unwrap_or_else(|| panic!("no error: {}", self.text))
            .to_owned()
    }

    /// The message of the first error.
    pub fn message(&self) -> String {
        let json = self.json();
        json["errors"][0]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("no error: {}", self.text))
            .to_owned()
    }

    /// The identifier of the request; fails unless there is exactly one.
    pub fn request_id(&self) -> &str {
        let mut ids = self.headers.get_all("x-request-id").iter();
        let (Some(id), None) = (ids.next(), ids.next()) else {
            panic!("there is not one identifier: {:?}", self.headers);
        };
        id.to_str().expect("an identifier is text")
    }
}
