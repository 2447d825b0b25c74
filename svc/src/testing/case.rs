//! Cases of the matrix, and those who ask.

use std::fmt;

use axum::http::request;
use serde_json::{Value, json};

/// Somebody who asks, with the headers that say so.
pub(super) struct Principal {
    pub(super) name: String,
    pub(super) headers: Vec<(String, String)>,
}

/// A document that asks for one operation or field.
#[derive(Debug, Clone)]
#[must_use = "a case is part of a matrix"]
pub struct Case {
    pub(super) coordinate: String,
    pub(super) document: String,
    pub(super) variables: Value,
    pub(super) document_id: Option<String>,
}

impl Case {
    /// A document about the operation or the field of this coordinate, such as `Query.posts`, `Mutation.createPost` or
    /// `User.email`. One about a field selects nothing else, so that the verdict is the field's.
    pub fn new(coordinate: impl Into<String>, document: impl Into<String>) -> Self {
        Self { coordinate: coordinate.into(), document: document.into(), variables: json!({}), document_id: None }
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
