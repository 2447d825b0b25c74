//! A client of a service in a test, without a network connection.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue};

use super::service::TestService;
use crate::AppOptions;
use svc_core::Result;

/// A client of a service in a test. Its requests are processed like those over the network, except
/// for the connection itself.
///
/// ```
/// use svc::prelude::*;
/// use svc::serde_json::json;
/// use svc::testing::Client;
///
/// #[svc::query]
/// fn greeting(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// # async fn example() -> svc::Result<()> {
/// # let database = svc::testing::Database::create(&svc::testing::Setup::new()).await?;
/// let client = Client::new(database.options().queries(queries![greeting])).await?;
/// let answer = client.query("query ($name: String!) { greeting(name: $name) }").variables(json!({ "name": "Ada" })).await;
/// assert_eq!(answer.data()["greeting"], "Hello, Ada!");
///
/// let answer = client.query("{ greeting }").await;
/// assert_eq!(answer.code(), "GRAPHQL_VALIDATION_FAILED");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    pub(super) service: Arc<TestService>,
    pub(super) router: Router,
    pub(super) headers: HeaderMap,
    pub(super) extensions: Extensions,
}

impl Client {
    /// Creates the application with these options, and a client for it.
    ///
    /// # Errors
    /// Fails if a setting or the schema cannot be used.
    pub async fn new(options: AppOptions) -> Result<Self> {
        let service = TestService::start(options).await?;
        let (headers, extensions) = (HeaderMap::new(), Extensions::new());
        Ok(Self {
            router: service.router(),
            service: Arc::new(service),
            headers,
            extensions,
        })
    }

    /// Returns a client of the same service whose requests have this header.
    ///
    /// # Panics
    /// Panics if the header is invalid.
    #[track_caller]
    pub fn with_header(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.insert_header(name, value);
        client
    }

    /// Returns a client of the same service whose requests have this value in their extensions, as
    /// if a layer around the endpoint had added it.
    pub fn with_extension<T: Any + Clone + Send + Sync>(&self, value: T) -> Self {
        let mut client = self.clone();
        client.extensions.insert(value);
        client
    }

    /// Returns a client of the same service whose requests are authenticated as this user, without
    /// a token.
    #[cfg(feature = "auth")]
    pub fn as_user(&self, user: svc_auth::UserContext) -> Self {
        self.with_extension(user)
    }

    /// Adds layers and routes around the service, as the program does. Subscriptions bypass them.
    #[must_use]
    pub fn wrapped(mut self, wrap: impl FnOnce(Router) -> Router) -> Self {
        self.router = wrap(self.router);
        self
    }

    /// Returns the router, for arbitrary requests.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    #[track_caller]
    pub(super) fn insert_header(&mut self, name: &str, value: &str) {
        match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(value)) => drop(self.headers.insert(name, value)),
            _ => panic!("`{name}` is not a valid header, or its value is not"),
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers may contain tokens.
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
