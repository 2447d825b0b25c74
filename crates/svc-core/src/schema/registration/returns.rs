//! Return types of resolvers.

use std::any::Any;
use std::fmt;

use super::{Output, Registry, TypeRef};
use crate::Error;

/// The result of a resolver.
pub type Outcome<'a> = Result<Completed<'a>, Error>;

/// The value that a resolver returns.
pub enum Completed<'a> {
    /// A value to walk.
    Value(Box<dyn Output + 'a>),
    /// A query to run.
    Query(Box<dyn Query>),
}

/// A query that a resolver returned, which is opaque to the schema.
pub trait Query: Any + fmt::Debug + Send + Sync {}

impl fmt::Debug for Completed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.resolve().fmt(f),
            Self::Query(query) => query.fmt(f),
        }
    }
}

/// A resolver's return type: an [`Output`], a query such as `Find`, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a resolver cannot return `{Self}`",
    label = "not a GraphQL output type",
    note = "return a scalar, an `#[svc_type]`, an `#[svc_enum]`, `Option` or `Vec` of one, or `Find<T>`",
    note = "or `Result<T, E>` of these, where `E` is `svc::Error` or any `std::error::Error`"
)]
pub trait Returns {
    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;

    /// The call's outcome.
    ///
    /// # Errors
    /// The resolver's own error.
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a;
}

impl<T: Output> Returns for T {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Value(Box::new(self)))
    }
}

impl<T: Returns, E: Into<Error>> Returns for Result<T, E> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        self.map_err(Into::into)?.outcome()
    }
}
