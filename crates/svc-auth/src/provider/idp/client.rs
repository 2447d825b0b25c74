//! The HTTP client for JSON, with limits on time and size.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;

use super::error::FetchError;
use super::{Endpoint, IdpError};
use svc_core::tls_client;

/// The timeout for a response, from connecting to the end of the body.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of a response in bytes.
const MAX_RESPONSE_SIZE: usize = 256 << 10;
/// The maximum number of redirects to follow, all within one origin.
const REDIRECTS: usize = 3;
/// The time after which an idle connection is closed.
const IDLE: Duration = Duration::from_secs(30);

/// A client for other services; cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct HttpClient(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

/// A request to send.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    /// The value of `Authorization`.
    pub(super) authorization: Option<HeaderValue>,
    /// The media type of the body, and the body.
    pub(super) body: Option<(&'static str, &'a str)>,
}

impl HttpClient {
    /// A client that trusts the certificate authorities of a PEM text, or the public ones without
    /// it.
    pub(super) fn new(roots: Option<&[u8]>) -> Result<Self, IdpError> {
        let config = tls_client::config(roots).map_err(IdpError::RootCertificates)?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            // Plain HTTP is for the loopback interface only, which `Endpoint` enforces.
            .https_or_http()
            .enable_http1()
            .build();

        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(8);

        Ok(Self(client.build(connector)))
    }

    /// Fetches the JSON at an address.
    pub(super) async fn get(
        &self,
        endpoint: &Endpoint,
        authorization: Option<HeaderValue>,
    ) -> Result<Value, FetchError> {
        self.ask(
            endpoint,
            &Ask {
                method: Method::GET,
                authorization,
                body: None,
            },
        )
        .await
    }

    /// Sends a request and returns the JSON of the response.
    pub(super) async fn ask(
        &self,
        endpoint: &Endpoint,
        ask: &Ask<'_>,
    ) -> Result<Value, FetchError> {
        let late = |_| FetchError::Late(endpoint.clone(), TIMEOUT.as_secs());
        tokio::time::timeout(TIMEOUT, self.follow(endpoint, ask))
            .await
            .map_err(late)?
    }

    async fn follow(&self, endpoint: &Endpoint, ask: &Ask<'_>) -> Result<Value, FetchError> {
        let mut at = endpoint.clone();
        for _ in 0..=REDIRECTS {
            let request = request(&at, ask)
                .map_err(|error| FetchError::Unreachable(at.clone(), error.into()))?;
            let response = self.0.request(request).await;
            let response =
                response.map_err(|error| FetchError::Unreachable(at.clone(), error.into()))?;
            let status = response.status();

            if status == StatusCode::OK {
                let body = Limited::new(response.into_body(), MAX_RESPONSE_SIZE)
                    .collect()
                    .await;
                let body = body.map_err(|error| match error.is::<LengthLimitError>() {
                    true => FetchError::Long(at.clone(), MAX_RESPONSE_SIZE),
                    false => FetchError::Unreachable(at.clone(), error),
                })?;
                let json = serde_json::from_slice(&body.to_bytes());
                return json.map_err(|_| FetchError::Unexpected(at, "JSON"));
            }

            // POST bodies contain secrets, so they are never sent to a redirect target.
            if !status.is_redirection() || ask.method != Method::GET {
                return Err(FetchError::Status(at, status.as_u16()));
            }

            let location = response
                .headers()
                .get(header::LOCATION)
                .and_then(|location| location.to_str().ok());

            // `Authorization` is sent again, which is safe as the target has the same origin.
            at = location
                .and_then(|location| at.redirected(location))
                .ok_or(FetchError::Redirect(at))?;
        }

        Err(FetchError::Redirect(at))
    }
}

fn request(at: &Endpoint, ask: &Ask<'_>) -> axum::http::Result<Request<Full<Bytes>>> {
    let mut request = Request::builder()
        .method(&ask.method)
        .uri(at.uri())
        .header(header::ACCEPT, "application/json");
    request = request.header(
        header::USER_AGENT,
        concat!("svc/", env!("CARGO_PKG_VERSION")),
    );
    if let Some(authorization) = &ask.authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }

    if let Some((media, _)) = ask.body {
        request = request.header(header::CONTENT_TYPE, media);
    }

    request.body(
        ask.body
            .map(|(_, body)| Bytes::copy_from_slice(body.as_bytes()))
            .unwrap_or_default()
            .into(),
    )
}
