//! Return values of resolvers.

use std::any::{Any, TypeId};
use std::sync::Arc;

use super::{ObjectMeta, Registry, TypeKey, TypeRef};

/// A value that a field can return.
///
/// Implemented for the scalars, for `Option`, `Vec`, references and boxes of them, and by
/// [`svc_type`](macro@svc_macros::svc_type), [`svc_enum`](macro@svc_macros::svc_enum),
/// [`svc_interface`](macro@svc_macros::svc_interface), [`svc_union`](macro@svc_macros::svc_union)
/// and [`svc_scalar`](macro@svc_macros::svc_scalar).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a GraphQL output type",
    label = "a field cannot answer with this type",
    note = "put `#[svc_type]` on a struct, `#[svc_enum]`, `#[svc_union]` or `#[svc_interface]` on an enum, \
            or `#[svc_scalar]` on an `impl ScalarType`",
    note = "`One<T>` and `Many<T>` are fields with `#[relation]`; a function returns the rows, such as `Result<Find<T>>`"
)]
pub trait Output: Send + Sync {
    /// Returns the GraphQL type, and registers it.
    fn type_ref(registry: &mut Registry) -> TypeRef
    where
        Self: Sized;

    /// Returns the value for traversal by the engine.
    fn resolve(&self) -> Resolved<'_>;
}

/// One step of traversing a value.
#[derive(Clone, Copy)]
pub enum Resolved<'a> {
    /// `null`.
    Null,
    /// `Int`, and integers within its range.
    Int(i64),
    /// `Float`.
    Float(f64),
    /// `Boolean`.
    Boolean(bool),
    /// `String`, `ID`, or any scalar whose JSON form is this text.
    Str(&'a str),
    /// The GraphQL name of an enum value.
    Enum(&'static str),
    /// A scalar that serializes itself.
    Scalar(&'a dyn WriteScalar),
    /// A list.
    List(&'a dyn Items),
    /// An object.
    Object(&'a dyn Object),
    /// The key at the start of a relation.
    Key(Option<&'a str>),
    /// A failed value: reported as a field error at this position.
    Failed(&'a crate::Error),
}

/// A scalar that writes its JSON form.
pub trait WriteScalar: Send + Sync {
    /// Appends one JSON value to `out`.
    ///
    /// # Errors
    /// Returns a message for the client if the value has no JSON form.
    fn write(&self, out: &mut Vec<u8>) -> Result<(), String>;
}

/// The elements of a list.
pub trait Items: Send + Sync {
    /// The number of elements.
    fn len(&self) -> usize;

    /// The element at `index`, which must be less than [`len`](Self::len).
    fn get(&self, index: usize) -> Resolved<'_>;

    /// Whether the list is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A struct with `#[svc_type]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a GraphQL object type",
    label = "not an object type",
    note = "put `#[svc_type]` on the struct"
)]
pub trait Object: Output {
    /// The struct's metadata.
    fn meta() -> &'static ObjectMeta
    where
        Self: Sized;

    /// The value of the stored field at `index` in [`ObjectMeta::fields`].
    fn field(&self, index: usize) -> Resolved<'_>;

    /// The receiver for computed fields.
    fn as_any(&self) -> &dyn Any;

    /// Returns the type of this struct.
    fn rust_type(&self) -> TypeId;

    /// The object for traversal by the engine.
    #[doc(hidden)]
    fn as_object(&self) -> &dyn Object
    where
        Self: Sized,
    {
        self
    }

    /// Registers the type.
    #[doc(hidden)]
    fn key(registry: &mut Registry) -> TypeKey
    where
        Self: Sized;

    /// Reads a row.
    ///
    /// # Errors
    /// If the row violates its declared type.
    #[doc(hidden)]
    fn read(value: crate::schema::ExactJson) -> Result<Self, super::StoredError>
    where
        Self: Sized;

    /// Whether this is the type's name in GraphQL.
    #[doc(hidden)]
    fn is_named(type_name: &str) -> bool
    where
        Self: Sized,
    {
        let element = &Self::meta().element;
        type_name == element.name.unwrap_or(element.rust)
    }
}

/// A type with rows: an object, interface or union.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an svc type",
    label = "not a type with rows",
    note = "put `#[svc_type(sql_source = \"v_…\")]` on a struct, or `#[svc_interface]` or `#[svc_union]` on an enum of such structs"
)]
pub trait SvcType: Output + super::FromStored + 'static {
    /// The view or table with the rows.
    const SOURCE: Option<&'static str>;

    /// The members, if this is the result of a mutation.
    #[doc(hidden)]
    const RESULT: Option<&'static super::ResultMeta> = None;

    /// Registers the type.
    fn register(registry: &mut Registry) -> TypeKey;
}

/// An interface with `T` as a member.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an interface with `{T}` as a member",
    label = "add the variant `{T}({T})` to its enum",
    note = "an interface is an enum of its members with `#[svc_interface(fields(…))]`; \
            `implements` on a member says so once more, for the reader"
)]
pub trait InterfaceOf<T>: SvcType {
    /// Registers the interface.
    fn interface(registry: &mut Registry) -> TypeKey {
        Self::register(registry)
    }
}

impl<T: Output> Output for Option<T> {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
    fn resolve(&self) -> Resolved<'_> {
        self.as_ref().map_or(Resolved::Null, T::resolve)
    }
}

macro_rules! list {
    ($({$($generics:tt)*} $ty:ty),*) => {$(
        impl<$($generics)*> Output for $ty {
            fn type_ref(registry: &mut Registry) -> TypeRef {
                T::type_ref(registry).list()
            }
            fn resolve(&self) -> Resolved<'_> {
                Resolved::List(self)
            }
        }
        impl<$($generics)*> Items for $ty {
            fn len(&self) -> usize {
                <[T]>::len(self)
            }
            fn get(&self, index: usize) -> Resolved<'_> {
                self[index].resolve()
            }
        }
    )*};
}

list!({T: Output} Vec<T>, {T: Output, const N: usize} [T; N], {T: Output} &[T]);

macro_rules! pointer {
    ($($ty:ty),*) => {$(
        impl<T: Output> Output for $ty {
            fn type_ref(registry: &mut Registry) -> TypeRef {
                T::type_ref(registry)
            }
            fn resolve(&self) -> Resolved<'_> {
                T::resolve(self)
            }
        }
    )*};
}

pointer!(&T, Box<T>, Arc<T>);

impl std::fmt::Debug for Resolved<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Boolean(value) => value.fmt(f),
            Self::Str(value) => value.fmt(f),
            Self::Enum(value) => f.write_str(value),
            Self::Scalar(_) => f.write_str("Scalar"),
            Self::List(items) => write!(f, "List({})", items.len()),
            Self::Object(_) => f.write_str("Object"),
            Self::Key(key) => write!(f, "Key({key:?})"),
            Self::Failed(error) => write!(f, "Failed({error})"),
        }
    }
}

/// Returns the row type that a root field accesses.
pub fn touched<T: SvcType>() -> TypeId {
    TypeId::of::<T>()
}
