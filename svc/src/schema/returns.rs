//! Return types of resolvers, and of functions without a body.

use super::{Derived, Output, Registry, Shape, SvcType, TypeKey, TypeRef};
use crate::Error;
use crate::db::{Aggregate, Connection, Find, FindOne};
use crate::engine::{Completed, Outcome};

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
        Ok(Completed::Find(self.into_spec()))
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
        Ok(Completed::Find(self.into_spec()))
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
        Ok(Completed::Connection(self.into_spec()))
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
        Ok(Completed::Aggregate(self.into_spec()))
    }
}

/// The return type of a function without a body: `Vec<T>`, `Option<T>`, `T`, `Connection<T>` or `Aggregate<T>`.
#[diagnostic::on_unimplemented(
    message = "a function without a body cannot return `{Self}`",
    label = "not rows of a view",
    note = "return `Vec<T>`, `Option<T>`, `T`, `Connection<T>` or `Aggregate<T>` of an `#[svc_type(sql_source = \"v_…\")]`, or give the function a body"
)]
pub trait PlannedReturn {
    /// The number of rows.
    const SHAPE: Shape;

    /// Registers the row's type.
    fn row(registry: &mut Registry) -> TypeKey;

    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;
}

impl<T: SvcType> PlannedReturn for T {
    const SHAPE: Shape = Shape::One;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
}

impl<T: SvcType> PlannedReturn for Option<T> {
    const SHAPE: Shape = Shape::Optional;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
}

impl<T: SvcType> PlannedReturn for Vec<T> {
    const SHAPE: Shape = Shape::List;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).list()
    }
}

impl<T: SvcType + 'static> PlannedReturn for Connection<T> {
    const SHAPE: Shape = Shape::Connection;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        TypeRef::named(registry.derived::<Self>(Derived::Connection, T::register))
    }
}

impl<T: SvcType + 'static> PlannedReturn for Aggregate<T> {
    const SHAPE: Shape = Shape::Aggregate;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        TypeRef::named(registry.derived::<Self>(Derived::Aggregate, T::register))
    }
}
