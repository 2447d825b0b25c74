//! Cases of the matrix, and those who ask.

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

use crate::Result;

/// The time between two events of which a subscription is to tell.
const BETWEEN_EVENTS: Duration = Duration::from_millis(50);
/// The longest that a first answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Somebody who asks, with the headers that say so.
pub(super) struct Principal {
    pub(super) name: String,
    pub(super) headers: Vec<(String, String)>,
}

/// Makes an event happen.
type Happen = Arc<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// A document that asks for one operation or field.
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
    /// A document about the operation or the field of this coordinate, such as `Query.posts`, `Mutation.createPost` or
    /// `User.email`. One about a field selects nothing else, so that the verdict is the field's.
    pub fn new(coordinate: impl Into<String>, document: impl Into<String>) -> Self {
        let (coordinate, document) = (coordinate.into(), document.into());
        Self { coordinate, document, variables: json!({}), document_id: None, event: None }
    }

    /// Sets the variables.
    pub fn variables(mut self, variables: Value) -> Self {
        self.variables = variables;
        self
    }

    /// The name of the registered operation that has this document, which is then asked for as well.
    pub fn document_id(mut self, name: impl Into<String>) -> Self {
        self.document_id = Some(name.into());
        self
    }

    /// Makes something happen of which the subscription tells. It is done again and again until the first answer is
    /// there, as a client does not see from when on it listens; so it should give the same answer each time. A
    /// subscription whose function tells something by itself needs no event.
    pub fn event<F>(mut self, happen: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.event = Some(Arc::new(move || happen().boxed()));
        self
    }

    /// Whether the document subscribes.
    pub(super) fn is_subscription(&self) -> bool {
        let parsed = ast::Document::parse(self.document.as_str(), "case").unwrap_or_else(|invalid| invalid.partial);
        parsed.definitions.iter().any(|definition| match definition {
            ast::Definition::OperationDefinition(operation) => {
                operation.operation_type == ast::OperationType::Subscription
            }
            _ => false,
        })
    }

    /// Waits for the first answer, while events happen; `None` where none comes.
    pub(super) async fn first(&self, answer: impl Future<Output = Result<Value>>) -> Result<Option<Value>> {
        let mut answer = pin!(answer);
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
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
    /// A request with its headers.
    pub(super) fn request(&self, method: &str, uri: &str) -> request::Builder {
        let request = axum::http::Request::builder().method(method).uri(uri);
        self.headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may hold tokens.
        f.debug_struct("Principal").field("name", &self.name).finish_non_exhaustive()
    }
}
