//! The metadata that all elements of a schema share.

use std::future::Future;
use std::pin::Pin;

use crate::schema::{Registry, TypeKey, TypeRef};

/// Returns the reference to a Rust type, registering it if necessary.
pub type TypeFn = fn(&mut Registry) -> TypeRef;

/// Like [`TypeFn`], but only for named types.
pub type KeyFn = fn(&mut Registry) -> TypeKey;

/// The future of one resolver call.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The name, description and deprecation of a schema element.
#[derive(Debug, Clone, Copy)]
pub struct ElementMeta {
    /// The identifier in the Rust source, without `r#`.
    pub rust: &'static str,
    /// The GraphQL name if the source specifies one; otherwise the naming setting applies.
    pub name: Option<&'static str>,
    /// From the doc comment.
    pub description: Option<&'static str>,
    /// From `#[deprecated]`; an empty reason becomes the specification's default.
    pub deprecated: Option<&'static str>,
}

impl ElementMeta {
    /// Creates an element with only an identifier.
    pub const fn new(rust: &'static str) -> Self {
        Self {
            rust,
            name: None,
            description: None,
            deprecated: None,
        }
    }

    /// Sets an explicit GraphQL name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the description, without surrounding whitespace.
    #[must_use]
    pub const fn described(mut self, description: &'static str) -> Self {
        let description = description.trim_ascii();
        self.description = if description.is_empty() {
            None
        } else {
            Some(description)
        };
        self
    }

    /// Marks it as deprecated, with a reason, which may be empty.
    #[must_use]
    pub const fn deprecated(mut self, reason: &'static str) -> Self {
        self.deprecated = Some(reason);
        self
    }
}

/// The location of an item in the program's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The path as reported by the compiler.
    pub file: &'static str,
    /// The line number, starting at 1.
    pub line: u32,
}

/// Parses a coerced value as its Rust type, to check whether it is valid.
pub type Check = fn(Option<async_graphql::Value>) -> Result<(), crate::schema::InputError>;
