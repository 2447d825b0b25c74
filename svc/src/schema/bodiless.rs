//! Return types of functions without a body.

use super::{Output, Registry, Shape, SvcType, TypeKey, TypeRef};

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

/// The return type of a mutation that calls a function of the database: whatever a field can answer with.
#[diagnostic::on_unimplemented(
    message = "a mutation that calls a function cannot return `{Self}`",
    label = "not a type that the function's answer can be read into",
    note = "return an `#[svc_result]`, an `#[svc_type]`, a scalar, or `Option` or `Vec` of one; \
            an error of the function needs no `Result`"
)]
pub trait FunctionReturn {
    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;
}

impl<T: Output> FunctionReturn for T {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
}
