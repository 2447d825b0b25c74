//! The parts that the descriptions of all elements of a schema share.

use std::future::Future;
use std::pin::Pin;

use crate::schema::{Registry, TypeKey, TypeRef};

/// Names a Rust type's place in the registry, registering it on the way.
pub type TypeFn = fn(&mut Registry) -> TypeRef;

/// Like [`TypeFn`], for the places where only a named type may stand.
pub type KeyFn = fn(&mut Registry) -> TypeKey;

/// The future of one resolver call.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A name, a description and a deprecation: what every element of a schema carries.
#[derive(Debug, Clone, Copy)]
pub struct ElementMeta {
    /// The identifier in the Rust source, without `r#`.
    pub rust: &'static str,
    /// The GraphQL name when the source fixes it; otherwise the naming setting decides.
    pub name: Option<&'static str>,
    /// From the doc comment.
    pub description: Option<&'static str>,
    /// From `#[deprecated]`; an empty reason becomes the specification's default.
    pub deprecated: Option<&'static str>,
}

impl ElementMeta {
    /// Creates an element with nothing but its identifier.
    pub const fn new(rust: &'static str) -> Self {
        Self { rust, name: None, description: None, deprecated: None }
    }

    /// Gives it a fixed GraphQL name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Gives it a description, without the space around it.
    #[must_use]
    pub const fn described(mut self, description: &'static str) -> Self {
        let description = description.trim_ascii();
        self.description = if description.is_empty() { None } else { Some(description) };
        self
    }

    /// Marks it as deprecated for a reason, which may be empty.
    #[must_use]
    pub const fn deprecated(mut self, reason: &'static str) -> Self {
        self.deprecated = Some(reason);
        self
    }
}

/// The place of an item in the program's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// As the compiler names it.
    pub file: &'static str,
    /// Counted from 1.
    pub line: u32,
}

/// Reads a coerced value into its Rust type, to see whether it fits.
pub type Check = fn(Option<async_graphql::Value>) -> Result<(), crate::schema::InputError>;
