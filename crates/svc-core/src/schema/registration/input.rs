//! Values received from clients.

use async_graphql::{MaybeUndefined, Value};

use super::{Registry, TypeRef};
use crate::exact_json::ExactJson;

/// A value of an argument or an input field.
///
/// Before [`parse`](Self::parse) runs, the engine coerces the value according to the schema:
/// defaults are filled in, required values are present, and the keys of input objects are the Rust
/// names.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a GraphQL input type",
    label = "an argument cannot have this type",
    note = "put `#[svc_input]` on a struct, `#[svc_enum]` on an enum, or `#[svc_scalar]` on an `impl ScalarType`; \
            take the context as `ctx: &Context<'_>`"
)]
pub trait Input: Sized + Send {
    /// Whether a value is a string, which must not be blank in an input object.
    #[doc(hidden)]
    const IS_TEXT: bool = false;

    /// Whether values are lists.
    #[doc(hidden)]
    const IS_LIST: bool = false;

    /// Returns the GraphQL type, and registers it.
    fn type_ref(registry: &mut Registry) -> TypeRef;

    /// Parses a coerced value; `None` means that it is absent.
    ///
    /// # Errors
    /// Returns an [`InputError`] that names the violated rule.
    fn parse(value: Option<Value>) -> Result<Self, InputError>;
}

/// The reason for rejecting a value; the message is shown to the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InputError {
    message: String,
    path: Vec<String>,
}

impl InputError {
    /// Creates an error with a message for the client, which describes the expected value.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            path: Vec::new(),
        }
    }

    /// Creates the error for a value of another type than `expected`.
    pub fn expected(expected: &str, found: Option<&Value>) -> Self {
        match found {
            Some(value) => {
                // JSON with all its digits is stored as bytes.
                let found = if holds_json(value) {
                    ExactJson::of_argument(value.clone()).to_string()
                } else {
                    value.to_string()
                };
                Self::new(format!(
                    "expected {expected}, found {}",
                    crate::exact_json::shorten(&found)
                ))
            }
            None => Self::new(format!("expected {expected}, found nothing")),
        }
    }

    /// Returns the same error with `key` prepended to its path.
    #[must_use]
    pub fn at(mut self, key: impl Into<String>) -> Self {
        // An error passes the inner value first, so the path grows at its front.
        self.path.insert(0, key.into());
        self
    }

    /// Returns the path of the value in the argument, outermost key first.
    pub fn path(&self) -> &[String] {
        &self.path
    }
}

fn holds_json(value: &Value) -> bool {
    match value {
        Value::Binary(_) => true,
        Value::List(items) => items.iter().any(holds_json),
        Value::Object(fields) => fields.values().any(holds_json),
        _ => false,
    }
}

impl<T: Input> Input for Option<T> {
    const IS_TEXT: bool = T::IS_TEXT;
    const IS_LIST: bool = T::IS_LIST;

    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::parse(Some(value)).map(Some),
        }
    }
}

impl<T: Input> Input for Vec<T> {
    const IS_LIST: bool = true;

    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).list()
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            Some(Value::List(items)) => items
                .into_iter()
                .enumerate()
                .map(|(index, item)| {
                    T::parse(Some(item)).map_err(|error| error.at(index.to_string()))
                })
                .collect(),
            other => Err(InputError::expected("a list", other.as_ref())),
        }
    }
}

impl<T: Input> Input for Box<T> {
    const IS_TEXT: bool = T::IS_TEXT;
    const IS_LIST: bool = T::IS_LIST;

    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        T::parse(value).map(Box::new)
    }
}

/// Checks that `T` accepts a coerced value.
///
/// # Errors
/// If the value is rejected.
#[doc(hidden)]
pub fn check_input<T: Input>(value: Option<Value>) -> Result<(), InputError> {
    T::parse(value).map(drop)
}

/// Distinguishes absent from null: an absent value leaves the stored one unchanged, null clears it.
impl<T: Input> Input for MaybeUndefined<T> {
    const IS_TEXT: bool = T::IS_TEXT;

    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry).nullable()
    }
    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            None => Ok(Self::Undefined),
            Some(Value::Null) => Ok(Self::Null),
            Some(value) => T::parse(Some(value)).map(Self::Value),
        }
    }
}

/// Takes the fields of a coerced input object one by one, for the code that `#[svc_input]`
/// generates.
#[derive(Debug)]
pub struct InputFields(indexmap::IndexMap<async_graphql::Name, Value>);

impl InputFields {
    /// Takes the fields of `value`.
    ///
    /// # Errors
    /// If `value` is not an object.
    pub fn new(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            Some(Value::Object(fields)) => Ok(Self(fields)),
            other => Err(InputError::expected("an input object", other.as_ref())),
        }
    }

    /// Takes the field with this Rust name.
    ///
    /// # Errors
    /// If its value is rejected.
    pub fn take<T: Input>(&mut self, rust: &str) -> Result<T, InputError> {
        // Fields are found by their names, so the order of the remaining ones does not matter.
        T::parse(self.0.swap_remove(rust)).map_err(|error| error.at(rust))
    }

    /// Like [`take`](Self::take), but rejects a blank string.
    ///
    /// # Errors
    /// If its value is rejected.
    pub fn take_filled<T: Input>(&mut self, rust: &str) -> Result<T, InputError> {
        match self.0.get(rust) {
            Some(Value::String(text)) if T::IS_TEXT && text.trim().is_empty() => {
                Err(InputError::new("write something; a blank text is not enough").at(rust))
            }
            _ => self.take(rust),
        }
    }

    /// Returns the Rust name of the only field of a `oneOf` object.
    ///
    /// # Errors
    /// If there is not exactly one field.
    pub fn only(&self) -> Result<String, InputError> {
        match self.0.first() {
            Some((name, _)) if self.0.len() == 1 => Ok(name.to_string()),
            _ => Err(InputError::new("expected exactly one field")),
        }
    }
}
