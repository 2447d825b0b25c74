//! Values that clients send.

use async_graphql::{MaybeUndefined, Value};

use super::{Registry, TypeRef};
use crate::json::ExactJson;

/// A value that an argument or an input field can have.
///
/// By the time [`parse`](Self::parse) runs, the engine has coerced the value by the schema: defaults are
/// filled in, required values are there, and the keys of input objects are the Rust names.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a GraphQL input type",
    label = "an argument cannot have this type",
    note = "put `#[svc_input]` on a struct, `#[svc_enum]` on an enum, or `#[svc_scalar]` on an `impl ScalarType`; \
            take the context as `ctx: &Context<'_>`"
)]
pub trait Input: Sized + Send {
    /// Whether a value is a text, which may not be blank in an input object.
    #[doc(hidden)]
    const IS_TEXT: bool = false;

    /// Whether values are lists.
    #[doc(hidden)]
    const IS_LIST: bool = false;

    /// The GraphQL type, registered on the way.
    fn type_ref(registry: &mut Registry) -> TypeRef;

    /// Reads a coerced value; `None` is an absent one.
    ///
    /// # Errors
    /// An [`InputError`] that names the rule the value breaks.
    fn parse(value: Option<Value>) -> Result<Self, InputError>;
}

/// The reason for which a value is refused; the text is for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InputError {
    message: String,
    path: Vec<String>,
}

impl InputError {
    /// Creates an error whose message tells the client what is expected.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), path: Vec::new() }
    }

    /// Creates the error of a value that has another type than `expected`.
    pub fn expected(expected: &str, found: Option<&Value>) -> Self {
        match found {
            Some(value) => {
                // JSON with all its digits is kept as bytes.
                let found = if holds_json(value) {
                    ExactJson::of_argument(value.clone()).to_string()
                } else {
                    value.to_string()
                };
                Self::new(format!("expected {expected}, found {}", crate::json::shorten(&found)))
            }
            None => Self::new(format!("expected {expected}, found nothing")),
        }
    }

    /// Returns the same error, one level further out.
    #[must_use]
    pub fn at(mut self, key: impl Into<String>) -> Self {
        self.path.insert(0, key.into());
        self
    }

    /// Returns the place of the value in the argument, outermost key first.
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
                .map(|(index, item)| T::parse(Some(item)).map_err(|error| error.at(index.to_string())))
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

/// Whether `T` takes a coerced value.
///
/// # Errors
/// When the value is refused.
#[doc(hidden)]
pub fn check_input<T: Input>(value: Option<Value>) -> Result<(), InputError> {
    T::parse(value).map(drop)
}

/// Tells absent from null: absent leaves, null clears.
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

/// Takes the fields of a coerced input object one by one; what `#[svc_input]` generates runs on it.
#[derive(Debug)]
pub struct InputFields(indexmap::IndexMap<async_graphql::Name, Value>);

impl InputFields {
    /// Takes the fields of `value`.
    ///
    /// # Errors
    /// When `value` is not an object.
    pub fn new(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            Some(Value::Object(fields)) => Ok(Self(fields)),
            other => Err(InputError::expected("an input object", other.as_ref())),
        }
    }

    /// Takes the field with this Rust name.
    ///
    /// # Errors
    /// When its value is refused.
    pub fn take<T: Input>(&mut self, rust: &str) -> Result<T, InputError> {
        T::parse(self.0.swap_remove(rust)).map_err(|error| error.at(rust))
    }

    /// Like [`take`](Self::take), but a text may not be blank.
    ///
    /// # Errors
    /// When its value is refused.
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
    /// When there is not exactly one field.
    pub fn only(&self) -> Result<String, InputError> {
        match self.0.first() {
            Some((name, _)) if self.0.len() == 1 => Ok(name.to_string()),
            _ => Err(InputError::new("expected exactly one field")),
        }
    }
}
