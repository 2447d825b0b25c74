//! Values decoded from rows, for typed rows and computed fields.

use std::any::TypeId;
use std::sync::Arc;

use super::{Output, Registry, Resolved, TypeRef};
use crate::exact_json::{ExactJson, Fields};

/// A value that can be stored in a row.
///
/// Typed rows are decoded from the JSON that a client would receive for all stored fields, with the
/// stored names as keys, so that a row has the same meaning in both cases. Numbers keep all their
/// digits.
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

    /// The `#[svc_type]`, or another type with rows, inside the value.
    #[doc(hidden)]
    fn row_type() -> Option<TypeId> {
        None
    }

    /// Decodes the value; an absent key is passed as null.
    ///
    /// # Errors
    /// Returns a [`StoredError`] if the row violates its declared type.
    fn from_stored(value: ExactJson) -> Result<Self, StoredError>;

    // The functions that macros call for a field. They share one trait, so that a type that lacks
    // it is reported once.

    /// The GraphQL type of a field of this type.
    #[doc(hidden)]
    fn field_type(registry: &mut Registry) -> TypeRef {
        Self::type_ref(registry)
    }

    /// Returns the field's value for traversal by the engine.
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

/// The error for a row that violates its declared type.
#[derive(Debug, thiserror::Error)]
#[error("{path}: expected {expected}, found {found}")]
pub struct StoredError {
    path: String,
    expected: String,
    found: String,
}

impl StoredError {
    /// Creates the error for a value that is not the `expected` one.
    pub fn new(expected: impl Into<String>, found: &ExactJson) -> Self {
        Self {
            path: String::new(),
            expected: expected.into(),
            found: crate::exact_json::shorten(&found.to_string()),
        }
    }

    /// Returns the same error with `key` prepended to its path.
    #[must_use]
    pub fn at(mut self, key: &str) -> Self {
        self.path = if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{key}.{}", self.path)
        };
        self
    }
}

impl<T: FromStored> FromStored for Option<T> {
    const IS_LIST: bool = T::IS_LIST;

    fn row_type() -> Option<TypeId> {
        T::row_type()
    }
    fn from_stored(value: ExactJson) -> Result<Self, StoredError> {
        if value.is_null() {
            Ok(None)
        } else {
            T::from_stored(value).map(Some)
        }
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

/// Takes the fields of a stored object one by one, for the code that `#[svc_type]` generates.
#[derive(Debug)]
pub struct StoredFields(Fields);

impl StoredFields {
    /// Takes the fields of `value`.
    ///
    /// # Errors
    /// If `value` is not an object.
    pub fn new(value: ExactJson) -> Result<Self, StoredError> {
        match value {
            ExactJson::Object(fields) => Ok(Self(fields)),
            other => Err(StoredError::new("an object", &other)),
        }
    }

    /// Takes the field with this stored name.
    ///
    /// # Errors
    /// If its value violates the type.
    pub fn take<T: FromStored>(&mut self, stored: &str) -> Result<T, StoredError> {
        T::from_stored(self.0.take(stored).unwrap_or_default()).map_err(|error| error.at(stored))
    }

    /// Returns the value with this stored name, without taking it.
    pub(super) fn get(&self, stored: &str) -> Option<&ExactJson> {
        self.0.get(stored)
    }

    /// Returns the object's `__typename`, which identifies the member of an interface or union.
    ///
    /// # Errors
    /// If it is missing.
    pub fn type_name(value: &ExactJson) -> Result<&str, StoredError> {
        value
            .get("__typename")
            .and_then(ExactJson::as_str)
            .ok_or_else(|| StoredError::new("an object with a `__typename`", value))
    }
}
