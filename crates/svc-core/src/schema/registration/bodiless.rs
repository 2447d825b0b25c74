//! Return types of functions without a body.

use super::{Output, Registry, Shape, SvcType, TypeKey, TypeRef, WrittenRows};

/// The return type of a function without a body: `Vec<T>`, `Option<T>`, `T`, `Connection<T>` or
/// `Aggregate<T>`.
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

/// The return type of a subscription without a body: `T` or `Option<T>`.
#[diagnostic::on_unimplemented(
    message = "a subscription without a body cannot return `{Self}`",
    label = "not a row of a view",
    note = "an event names one row: return `T`, or `Option<T>` to be told of deleted ones, of an \
            `#[svc_type(sql_source = \"v_…\")]`; or write a body that returns a stream, without the `channel`"
)]
pub trait EventReturn {
    /// Whether events for deleted rows are delivered.
    const SHAPE: Shape;

    /// Registers the row's type.
    fn row(registry: &mut Registry) -> TypeKey;

    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;
}

impl<T: SvcType> EventReturn for T {
    const SHAPE: Shape = Shape::One;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
}

impl<T: SvcType> EventReturn for Option<T> {
    const SHAPE: Shape = Shape::Optional;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
}

/// The return type of a mutation that calls a function of the database: any output type.
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

/// The return type of a field that a function of the database computes: a scalar, an enum, or a
/// list of them.
#[diagnostic::on_unimplemented(
    message = "a field that a function of the database computes cannot return `{Self}`",
    label = "not a value that the function can give",
    note = "return a scalar, an enum, or `Option` or `Vec` of one; an error of the function needs no `Result`"
)]
pub trait RowFunctionReturn {
    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;
}

impl<T: Output> RowFunctionReturn for T {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
}

/// The return type of a mutation that writes rows of a table: rows of a view, or a result that
/// contains some.
#[diagnostic::on_unimplemented(
    message = "a mutation that writes to a table cannot return `{Self}`",
    label = "not rows of a view",
    note = "return `T`, `Option<T>` or `Vec<T>` of an `#[svc_type(sql_source = \"v_…\")]`, or an `#[svc_result]` with one"
)]
pub trait WrittenReturn {
    /// The rows that it contains, according to the type.
    const ROWS: WrittenRows;

    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;
}

const fn written_rows<T: SvcType>(many: bool) -> WrittenRows {
    match (T::RESULT, T::SOURCE) {
        (Some(_), _) if many => WrittenRows::None,
        (Some(_), _) => WrittenRows::InResult,
        (None, None) => WrittenRows::None,
        (None, Some(_)) if many => WrittenRows::List,
        (None, Some(_)) => WrittenRows::One,
    }
}

impl<T: SvcType> WrittenReturn for T {
    const ROWS: WrittenRows = written_rows::<T>(false);
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
}

impl<T: SvcType> WrittenReturn for Option<T> {
    const ROWS: WrittenRows = written_rows::<T>(false);
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
}

impl<T: SvcType> WrittenReturn for Vec<T> {
    const ROWS: WrittenRows = written_rows::<T>(true);
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).list()
    }
}
