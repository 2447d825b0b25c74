//! Return types of resolvers.

use super::{Completed, Outcome, ReturnedQuery};
use crate::Error;
use crate::repository::{Aggregate, Connection, Find, FindOne};
use crate::schema::{Output, PlannedReturn, Registry, SvcType, TypeRef};

/// A resolver's return type: an [`Output`], a query such as [`Find`], or a `Result` of one.
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

impl<T: SvcType> Returns for Find<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).list()
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Find(
            self.into_spec(),
        ))))
    }
}

impl<T: SvcType> Returns for FindOne<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Find(
            self.into_spec(),
        ))))
    }
}

impl<T: SvcType + 'static> Returns for Connection<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        <Self as PlannedReturn>::type_ref(registry)
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Connection(
            self.into_spec(),
        ))))
    }
}

impl<T: SvcType + 'static> Returns for Aggregate<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        <Self as PlannedReturn>::type_ref(registry)
    }
    fn outcome<'a>(self) -> Outcome<'a>
    where
        Self: 'a,
    {
        Ok(Completed::Query(Box::new(ReturnedQuery::Aggregate(
            self.into_spec(),
        ))))
    }
}
