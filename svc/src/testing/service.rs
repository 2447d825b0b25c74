//! A service in a test, whose subscriptions are driven without a network connection.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::http::{Extensions, HeaderMap, Request};
use futures_util::{Stream, StreamExt};
use serde_json::{Value, json};

use crate::AppOptions;
use crate::http::{HttpState, read_request};
use svc_core::{Error, Result};
use svc_engine::graphql::ResponseStream;
use svc_engine::request::{RequestParts, Transport};
use svc_telemetry::security_log::{SecurityLogConfig, init_security_logger};

/// A service in a test. Its subscriptions are processed like those over the network, except for the
/// connection itself.
///
/// ```no_run
/// use svc::futures_util::stream;
/// use svc::prelude::*;
/// use svc::testing::{Subscription, TestService};
///
/// #[svc::query]
/// fn hello() -> &'static str {
///     "world"
/// }
///
/// #[svc::subscription]
/// fn countdown(from: i32) -> impl Stream<Item = i32> {
///     stream::iter((0..=from).rev())
/// }
///
/// # async fn example() -> svc::Result<()> {
/// let options = AppOptions::from_env()?.queries(queries![hello]).subscriptions(subscriptions![countdown]);
/// let service = TestService::start(options).await?;
/// let mut answers = service.subscribe(Subscription::new("subscription { countdown(from: 3) }")).await.unwrap();
/// assert_eq!(answers.next().await.unwrap()["data"]["countdown"], 3);
/// # Ok(())
/// # }
/// ```
pub struct TestService {
    router: Router,
    state: Arc<HttpState>,
}

/// A request for a subscription.
#[derive(Debug)]
#[must_use = "give it to `TestService::subscribe`"]
pub struct Subscription {
    document: String,
    variables: Value,
    request: Request<()>,
}

/// The responses of a subscription. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscribed(ResponseStream);

impl TestService {
    /// Creates the application with these options. Security events are written to a file only if
    /// the options name one.
    ///
    /// # Errors
    /// Fails if a setting or the schema cannot be used.
    pub async fn start(options: AppOptions) -> Result<Self> {
        if *options.security_log() == SecurityLogConfig::default() {
            init_security_logger(SecurityLogConfig {
                path: None,
                stdout: false,
            });
        }
        let (router, state) = crate::app::assemble(options.quiet()).await?;
        Ok(Self { router, state })
    }

    /// Returns the router, for requests over HTTP to the same service.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Starts a subscription.
    ///
    /// # Errors
    /// Returns the response to a request without a stream: a rejected one, a query, or a mutation.
    pub async fn subscribe(&self, subscription: Subscription) -> Result<Subscribed, Value> {
        let body = json!({ "query": subscription.document, "variables": subscription.variables });
        let body = body.to_string();
        let request = read_request(body.as_bytes()).map_err(|refused| shown(&refused))?;
        let (parts, ()) = subscription.request.into_parts();
        let mut parts = RequestParts::of_http(parts, Transport::WebSocket);
        let begun = self.state.engine.begin(&mut parts).await;

        begun.map_err(|refused| shown(&refused.response.body))?;
        let answers = self.state.engine.subscribe(request, parts).await;

        answers
            .map(Subscribed)
            .map_err(|response| shown(&response.body))
    }
}

impl Subscription {
    /// Creates a request with a document.
    pub fn new(document: impl Into<String>) -> Self {
        Self {
            document: document.into(),
            variables: json!({}),
            request: Request::new(()),
        }
    }

    /// Sets the variables.
    pub fn variables(mut self, variables: Value) -> Self {
        self.variables = variables;
        self
    }

    /// Adds a header.
    ///
    /// # Errors
    /// Fails if the header is invalid.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self> {
        let bad = || {
            Error::internal(format!(
                "`{name}` is not a valid header, or its value is not"
            ))
        };

        let name = axum::http::HeaderName::try_from(name).map_err(|_| bad())?;
        self.request
            .headers_mut()
            .insert(name, value.parse().map_err(|_| bad())?);

        Ok(self)
    }

    /// Replaces all headers.
    pub(super) fn headers(mut self, headers: HeaderMap) -> Self {
        *self.request.headers_mut() = headers;
        self
    }

    /// Replaces all extensions.
    pub(super) fn extensions(mut self, extensions: Extensions) -> Self {
        *self.request.extensions_mut() = extensions;
        self
    }

    /// Adds a value to the extensions, as layers around the endpoint do.
    pub fn extension<T: Any + Clone + Send + Sync>(mut self, value: T) -> Self {
        self.request.extensions_mut().insert(value);
        self
    }
}

impl Subscribed {
    /// Waits for the next response; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        StreamExt::next(self).await
    }
}

impl Stream for Subscribed {
    type Item = Value;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Value>> {
        Pin::new(&mut self.0)
            .poll_next(cx)
            .map(|next| next.map(|response| shown(&response.body)))
    }
}

/// Parses the JSON of a response.
fn shown(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

impl std::fmt::Debug for TestService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestService").finish_non_exhaustive()
    }
}
