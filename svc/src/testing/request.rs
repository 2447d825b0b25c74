//! Requests of a test's client.

use std::any::Any;
use std::future::IntoFuture;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::client::Client;
use super::service::{Subscribed, Subscription};

/// A request of a [`Client`]. It is sent with `.await`.
///
/// ```
/// use svc::serde_json::json;
/// use svc::testing::Client;
///
/// # async fn example(client: Client) {
/// let document = "query ($id: UUID!) { post(id: $id) { title } }";
/// let answer = client.query(document).variable("id", "0b5f37b6-…").header("x-tenant", "north").await;
/// assert_eq!(answer.data()["post"], json!(null));
/// # }
/// ```
#[must_use = "a request is sent by `.await`"]
#[derive(Debug)]
pub struct Request {
    client: Client,
    document: String,
    variables: Map<String, Value>,
    operation: Option<String>,
    extensions: Map<String, Value>,
}

impl Client {
    /// Creates a request with a document, which is sent with `.await`. The document may contain a
    /// mutation as well as a query; [`Request::subscribe`] sends a subscription.
    pub fn query(&self, document: impl Into<String>) -> Request {
        Request::new(self.clone(), document.into())
    }
}

impl Request {
    pub(super) fn new(client: Client, document: String) -> Self {
        Self {
            client,
            document,
            variables: Map::new(),
            operation: None,
            extensions: Map::new(),
        }
    }

    /// Adds the variables of a JSON object.
    ///
    /// # Panics
    /// Panics if it is not an object.
    #[track_caller]
    pub fn variables(mut self, variables: Value) -> Self {
        match variables {
            Value::Object(variables) => self.variables.extend(variables),
            other => {
                panic!("variables are an object, such as `json!({{ \"id\": 1 }})`, and not {other}")
            }
        }
        self
    }

    /// Adds a variable.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Sets the name of the operation to run, if the document contains several.
    pub fn operation_name(mut self, name: impl Into<String>) -> Self {
        self.operation = Some(name.into());
        self
    }

    /// Adds a header.
    ///
    /// # Panics
    /// Panics if the header is invalid.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.client.insert_header(name, value);
        self
    }

    /// Adds a value to the extensions of the HTTP request, as layers around the endpoint do.
    pub fn extension<T: Any + Clone + Send + Sync>(mut self, value: T) -> Self {
        self.client.extensions.insert(value);
        self
    }

    /// Requests an explanation of the request, for [`Answer::statements`] and
    /// `json()["extensions"]["explain"]`.
    pub fn explained(mut self) -> Self {
        self.extensions
            .insert("explain".to_owned(), Value::Bool(true));
        self
    }

    /// Subscribes with the document, on a stream that needs no network.
    ///
    /// # Errors
    /// Returns the response to a request without a stream: a rejected one, a query, or a mutation.
    pub async fn subscribe(self) -> Result<Subscribed, Answer> {
        let Client {
            service,
            headers,
            extensions,
            ..
        } = self.client;

        let subscription =
            Subscription::new(self.document).variables(Value::Object(self.variables));
        let subscribed = service
            .subscribe(subscription.headers(headers).extensions(extensions))
            .await;

        subscribed.map_err(Answer::refused)
    }

    async fn send(self) -> Answer {
        let mut body = json!({ "query": self.document, "variables": self.variables });
        if let Some(operation) = self.operation {
            body["operationName"] = operation.into();
        }

        if !self.extensions.is_empty() {
            body["extensions"] = self.extensions.into();
        }

        let mut request = axum::http::Request::new(Body::from(body.to_string()));
        *request.method_mut() = axum::http::Method::POST;
        *request.uri_mut() = axum::http::Uri::from_static("/graphql");
        *request.headers_mut() = self.client.headers;
        *request.extensions_mut() = self.client.extensions;
        request.headers_mut().insert(
            CONTENT_TYPE,
            axum::http::HeaderValue::from_static("application/json"),
        );

        Answer::of(self.client.router, request).await
    }
}

impl IntoFuture for Request {
    type Output = Answer;
    type IntoFuture = BoxFuture<'static, Answer>;

    fn into_future(self) -> Self::IntoFuture {
        self.send().boxed()
    }
}
