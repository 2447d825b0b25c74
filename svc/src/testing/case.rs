//! Cases of the matrix, and principals.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apollo_compiler::ast;
use axum::http::request;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::timeout;

use svc_core::Result;

/// The time between two events that the subscription reports.
const BETWEEN_EVENTS: Duration = Duration::from_millis(50);
/// The maximum wait for a first response.
const PATIENCE: Duration = Duration::from_secs(10);

/// A principal: a kind of client, identified by its headers.
pub(super) struct Principal {
    pub(super) name: String,
    pub(super) headers: Vec<(String, String)>,
}

/// Triggers an event.
type Happen = Arc<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// A document that selects one operation or field.
#[derive(Clone)]
#[must_use = "a case is part of a matrix"]
pub struct Case {
    pub(super) coordinate: String,
    pub(super) document: String,
    pub(super) variables: Value,
    pub(super) document_id: Option<String>,
    event: Option<Happen>,
}

impl Case {
    /// Creates a case for the operation or the field with this coordinate, such as `Query.posts`,
    /// `Mutation.createPost` or `User.email`. The document for a field selects nothing else, so
    /// that the verdict is the field's.
    pub fn new(coordinate: impl Into<String>, document: impl Into<String>) -> Self {
        let (coordinate, document) = (coordinate.into(), document.into());
        Self {
            coordinate,
            document,
            variables: json!({}),
            document_id: None,
            event: None,
        }
    }

    /// Sets the variables.
    pub fn variables(mut self, variables: Value) -> Self {
        self.variables = variables;
        self
    }

    /// Sets the name of the registered operation with this document, which is then tested as well.
    pub fn document_id(mut self, name: impl Into<String>) -> Self {
        self.document_id = Some(name.into());
        self
    }

    /// Sets a function that triggers an event for the subscription. It is called repeatedly until
    /// the first response arrives, as a client cannot see when the service starts listening; so it
    /// should cause the same response each time. A subscription whose function sends events by
    /// itself needs none.
    pub fn event<F>(mut self, happen: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.event = Some(Arc::new(move || happen().boxed()));
        self
    }

    /// Whether the document is a subscription.
    pub(super) fn is_subscription(&self) -> bool {
        // A case may contain an invalid document, whose kind is read as far as it can be parsed.
        let parsed = ast::Document::parse(self.document.as_str(), "case")
            .unwrap_or_else(|invalid| invalid.partial);
        parsed
            .definitions
            .iter()
            .any(|definition| match definition {
                ast::Definition::OperationDefinition(operation) => {
                    operation.operation_type == ast::OperationType::Subscription
                }
                _ => false,
            })
    }

    /// Waits for the first response while triggering events; `None` if there is none.
    pub(super) async fn first(
        &self,
        answer: impl Future<Output = Result<Value>>,
    ) -> Result<Option<Value>> {
        let mut answer = pin!(answer);
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            // Through `as_mut`, the time-out ends only this wait and not the request.
            if let Ok(answer) = timeout(BETWEEN_EVENTS, answer.as_mut()).await {
                return answer.map(Some);
            }
            if let Some(happen) = &self.event {
                happen().await?;
            }
        }

        Ok(None)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("coordinate", &self.coordinate)
            .field("document", &self.document)
            .field("variables", &self.variables)
            .field("document_id", &self.document_id)
            .finish_non_exhaustive()
    }
}

impl Principal {
    /// Starts a request with the principal's headers.
    pub(super) fn request(&self, method: &str, uri: &str) -> request::Builder {
        let request = axum::http::Request::builder().method(method).uri(uri);
        self.headers.iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may contain tokens.
        f.debug_struct("Principal")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
