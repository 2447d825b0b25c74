//! The client that sends spans to a collector over HTTP.

use std::time::Duration;

use axum::http::{Request, Response};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

use crate::tls_client;

/// The maximum size of a collector's response, in bytes.
const MAX_RESPONSE_SIZE: usize = 256 << 10;

/// A client for the thread that exports spans: its requests run in the program's runtime.
#[derive(Debug, Clone)]
pub(super) struct ExportClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    runtime: Handle,
    timeout: Duration,
}

impl ExportClient {
    /// Creates a client whose requests take at most `timeout`.
    ///
    /// # Errors
    /// An error of the certificates, or the absence of a runtime.
    pub(super) fn new(roots: Option<&[u8]>, timeout: Duration) -> Result<Self, String> {
        let config = tls_client::config(roots)?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http()
            .enable_http1()
            .build();

        let runtime = Handle::try_current().map_err(|error| error.to_string())?;
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            runtime,
            timeout,
        })
    }
}

#[async_trait::async_trait]
impl HttpClient for ExportClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, timeout) = (self.client.clone(), self.timeout);
        let sending = async move {
            let (head, body) = client.request(request.map(Full::new)).await?.into_parts();

            // The response is limited, because its size is the collector's choice.
            let body = Limited::new(body, MAX_RESPONSE_SIZE)
                .collect()
                .await?
                .to_bytes();
            Ok(Response::from_parts(head, body))
        };

        // The SDK's thread polls this future without a reactor, which sockets and timers need.
        self.runtime
            .spawn(async move { tokio::time::timeout(timeout, sending).await? })
            .await?
    }
}
