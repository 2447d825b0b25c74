//! Values read back from rows, for typed rows and computed fields.

use std::any::TypeId;
use std::sync::Arc;

use super::{Output, Registry, Resolved, TypeRef};
use crate::json::{ExactJson, Fields};

/// A value that a row can hold.
///
/// Typed rows are read from the same JSON that a client would get for all stored fields, with the stored
/// names as keys, so that a row means the same on either path. Numbers arrive with all their digits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a row",
    label = "not a stored type",
    note = "a field of an `#[svc_type]` is a scalar, an `#[svc_enum]`, another `#[svc_type]`, or `Option` or `Vec` of one; \
            what is computed goes into a method of `#[svc_type] impl …`",
    note = "put `#[relation]` on a field of type `One<T>`, `Option<One<T>>` or `Many<T>`, which leads to rows of another view"
)]
pub trait FromStored: Output + Sized {
    /// Whether the value is a list.
    #[doc(hidden)]
    const IS_LIST: bool = false;

    /// The `#[svc_type]`, or another type with rows, that the value holds.
    #[doc(hidden)]
    fn row_type() -> Option<TypeId> {
        None
    }

    /// Reads the value; an absent key arrives as null.
    ///
    /// # Errors
    /// A [`StoredError`] when the row breaks its declared type.
    fn from_stored(value: ExactJson) -> Result<Self, StoredError>;

    // What the macros call for a field. One trait for all of it, so that a type that lacks it is reported once.

    /// The GraphQL type of a field of this type.
    #[doc(hidden)]
    fn field_type(registry: &mut Registry) -> TypeRef {
        Self::type_ref(registry)
    }

    /// The field's value, as the engine walks it.
    #[doc(hidden)]
    fn field_value(&self) -> Resolved<'_> {
        self.resolve()
    }

    /// Takes the field with this stored name.
    #[doc(hidden)]
    fn take_field(fields: &mut StoredFields, stored: &str) -> Result<Self, StoredError> {
        fields.take(stored)
    }
}

/// A row that breaks its declared type.
#[derive(Debug, thiserror::Error)]
#[error("{path}: expected {expected}, found {found}")]
pub struct StoredError {
    path: String,
    expected: String,
    found: String,
}

impl StoredError {
    /// Creates the error of a value that is not what was `expected`.
    pub fn new(expected: impl Into<String>, found: &ExactJson) -> Self {
        Self { path: String::new(), expected: expected.into(), found: crate::json::shorten(&found.to_string()) }
    }

    /// Returns the same error, one level further out.
    #[must_use]
    pub fn at(mut self, key: &str) -> Self {
        self.path = if self.path.is_empty() { key.to_owned() } else { format!("{key}.{}", self.path) };
        self
    }
}

impl<T: FromStored> FromStored for Option<T> {
    const IS_LIST: bool = T::IS_LIST;

    fn row_type() -> Option<TypeId> {
        T::row_type()
    }
    fn from_stored(value: ExactJson) -> Result<Self, StoredError> {
        if value.is_null() { Ok(None) } else { T::from_stored(value).map(Some) }
    }
}

impl<T: FromStored> FromStored for Vec<T> {
    const IS_LIST: bool = true;

    fn row_type() -> Option<TypeId> {
        T::row_type()
    }
    fn from_stored(value: ExactJson) -> Result<Self, StoredError> {
        let ExactJson::Array(items) = value else {
            return Err(StoredError::new("a list", &value));
        };
        items
            .into_iter()
            .enumerate()
            .map(|(index, item)| T::from_stored(item).map_err(|error| error.at(&index.to_string())))
            .collect()
    }
}

macro_rules! pointer {
    ($($pointer:ident),*) => {$(
        impl<T: FromStored> FromStored for $pointer<T> {
            const IS_LIST: bool = T::IS_LIST;

            fn row_type() -> Option<TypeId> {
                T::row_type()
            }
            fn from_stored(value: ExactJson) -> Result<Self, StoredError> {
                T::from_stored(value).map($pointer::new)
            }
        }
    )*};
}

pointer!(Box, Arc);

/// Takes the fields of a stored object one by one; what `#[svc_type]` generates runs on it.
#[derive(Debug)]
pub struct StoredFields(Fields);

impl StoredFields {
    /// Takes the fields of `value`.
    ///
    /// # Errors
    /// When `value` is not an object.
    pub fn new(value: ExactJson) -> Result<Self, StoredError> {
        match value {
            ExactJson::Object(fields) => Ok(Self(fields)),
            other => Err(StoredError::new("an object", &other)),
        }
    }

    /// Takes the field with this stored name.
    ///
    /// # Errors
    /// When its value breaks the type.
    pub fn take<T: FromStored>(&mut self, stored: &str) -> Result<T, StoredError> {
        T::from_stored(self.0.take(stored).unwrap_or_default()).map_err(|error| error.at(stored))
    }

    /// The value with this stored name, which stays.
    pub(super) fn get(&self, stored: &str) -> Option<&ExactJson> {
        self.0.get(stored)
    }

    /// Returns the object's `__typename`, which tells the members of an interface or union apart.
    ///
    /// # Errors
    /// When it is missing.
    pub fn type_name(value: &ExactJson) -> Result<&str, StoredError> {
        value
            .get("__typename")
            .and_then(ExactJson::as_str)
            .ok_or_else(|| StoredError::new("an object with a `__typename`", value))
    }
}
