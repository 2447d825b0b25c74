//! Return types of resolvers.

use std::any::Any;
use std::fmt;

use super::{Output, Registry, TypeRef};
use crate::Error;

/// The result of a resolver.
pub type Outcome<'a> = Result<Completed<'a>, Error>;

/// The result of a batch method: an outcome for each object, in their order, or the error of the
/// whole call.
pub type Outcomes<'a> = Result<Vec<Outcome<'a>>, Error>;

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

/// A batch method's return type: a `Vec` with a value for each object, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a batch method cannot return `{Self}`",
    label = "not a value for each object",
    note = "return `Vec<T>` or `Result<Vec<T>, E>`, with a value for each object, in their order",
    note = "a value may fail alone: `Vec<Result<T, E>>`"
)]
pub trait ReturnsBatch {
    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;

    /// The outcomes of the call, one for each object.
    ///
    /// # Errors
    /// The method's own error, which is that of each object.
    fn outcomes<'a>(self) -> Outcomes<'a>
    where
        Self: 'a;
}

impl<T: Returns> ReturnsBatch for Vec<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
    fn outcomes<'a>(self) -> Outcomes<'a>
    where
        Self: 'a,
    {
        Ok(self.into_iter().map(Returns::outcome).collect())
    }
}

impl<T: Returns, E: Into<Error>> ReturnsBatch for Result<Vec<T>, E> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
    fn outcomes<'a>(self) -> Outcomes<'a>
    where
        Self: 'a,
    {
        self.map_err(Into::into)?.outcomes()
    }
}
