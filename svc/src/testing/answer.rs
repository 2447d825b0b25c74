//! Responses to a test's client.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::Service as _;

/// A response to a [`Client`](super::Client). If a test reads a part that is missing, the test
/// fails with the whole response in the message.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    /// Null if the body is not JSON.
    body: Value,
    text: String,
}

impl Answer {
    /// Sends a request and waits for the whole response.
    pub(super) async fn of(mut router: Router, request: Request<Body>) -> Self {
        let response = match router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };

        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX)
            .await
            .unwrap_or_else(|error| panic!("the answer breaks off: {error}"));
        let text = String::from_utf8_lossy(&body).into_owned();
        let body = serde_json::from_slice(&body).unwrap_or_default();

        Self {
            status: parts.status,
            headers: parts.headers,
            body,
            text,
        }
    }

    /// Creates the response to a subscription that was rejected.
    pub(super) fn refused(body: Value) -> Self {
        let text = body.to_string();
        Self {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body,
            text,
        }
    }

    /// Returns the data of a response without errors.
    ///
    /// # Panics
    /// Panics if the response has errors, or no data.
    #[track_caller]
    pub fn data(&self) -> &Value {
        let data = self.body.get("data").filter(|_| self.errors().is_empty());
        data.unwrap_or_else(|| panic!("the answer is not data alone: {}", self.text))
    }

    /// Deserializes the data of a response without errors into a type of the test.
    ///
    /// # Panics
    /// Panics if the response has errors, or its data does not match the type.
    #[track_caller]
    pub fn read<T: DeserializeOwned>(&self) -> T {
        T::deserialize(self.data())
            .unwrap_or_else(|error| panic!("the data cannot be read: {error}: {}", self.text))
    }

    /// Returns the errors, possibly none.
    pub fn errors(&self) -> &[Value] {
        self.body["errors"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Returns the code of the first error.
    ///
    /// # Panics
    /// Panics if there is no error with a code.
    #[track_caller]
    pub fn code(&self) -> &str {
        self.of_error(&self.body["errors"][0]["extensions"]["code"])
    }

    /// Returns the message of the first error.
    ///
    /// # Panics
    /// Panics if there is no error.
    #[track_caller]
    pub fn message(&self) -> &str {
        self.of_error(&self.body["errors"][0]["message"])
    }

    #[track_caller]
    fn of_error<'v>(&self, text: &'v Value) -> &'v str {
        text.as_str()
            .unwrap_or_else(|| panic!("the answer has no such error: {}", self.text))
    }

    /// Returns the texts of the statements that were run for the request, in the order of its root
    /// fields.
    ///
    /// # Panics
    /// Panics if the response does not contain them:
    /// [`Request::explained`](super::Request::explained) was not called, or the service runs as in
    /// production.
    #[track_caller]
    pub fn statements(&self) -> Vec<&str> {
        let told = self.body["extensions"]["explain"].as_array();
        let told =
            told.unwrap_or_else(|| panic!("ask by `.explained()`, in development: {}", self.text));
        let statements = told
            .iter()
            .filter_map(|field| field["statements"].as_array())
            .flatten();

        statements
            .filter_map(|statement| statement["text"].as_str())
            .collect()
    }

    /// Returns the whole body; null if it is not JSON.
    pub fn json(&self) -> &Value {
        &self.body
    }

    /// Returns the body as text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}
