//! Scalars of users: implementations of async-graphql's `ScalarType`, and the functions called by
//! the code that `#[svc_scalar]` generates.

use async_graphql::{InputType, InputValueError, Pos, ScalarType, Value};

use super::{InputError, StoredError};
use crate::exact_json::{ExactJson, shorten};
use crate::scalar::write_value;

/// A placeholder for the SQL type of files, which are never sent to PostgreSQL.
pub const UPLOAD: &str = "upload";

/// Parses an argument.
///
/// # Errors
/// Returns the scalar's own message.
pub fn parse_scalar<T: ScalarType + InputType>(value: Option<Value>) -> Result<T, InputError> {
    match value {
        None | Some(Value::Null) => Err(InputError::expected(
            &<T as InputType>::type_name(),
            value.as_ref(),
        )),
        Some(value) => {
            <T as ScalarType>::parse(value).map_err(|error| InputError::new(message(error)))
        }
    }
}

/// Reads a stored value.
///
/// # Errors
/// If the scalar rejects it.
pub fn stored_scalar<T: ScalarType + InputType>(json: ExactJson) -> Result<T, StoredError> {
    let refused = StoredError::new(<T as InputType>::type_name(), &json);
    let value = json.nearest_value().map_err(|_| refused)?;

    // `parse` consumes the value, so its text for an error is made first.
    let shown = ExactJson::String(value.to_string());
    <T as ScalarType>::parse(value).map_err(|error| StoredError::new(message(error), &shown))
}

/// Appends the scalar's JSON form.
///
/// # Errors
/// If the value has no JSON form.
pub fn write_scalar<T: ScalarType>(value: &T, out: &mut Vec<u8>) -> Result<(), String> {
    write_value(out, &value.to_value()).map_err(|error| error.0)
}

/// Parses a value and returns its JSON form.
///
/// # Errors
/// Returns the scalar's own message.
pub fn recode_scalar<T: ScalarType + InputType>(value: Value) -> Result<Value, String> {
    let parsed = <T as ScalarType>::parse(value).map_err(message)?;
    Ok(ScalarType::to_value(&parsed))
}

/// A type whose values can be shared between threads, as required for scalars.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stays in one thread, and requests do not",
    label = "a scalar that threads cannot share",
    note = "write `Arc` for `Rc`, and an atomic or a `Mutex` for `Cell` or `RefCell`"
)]
pub trait ThreadSafe {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync> ThreadSafe for T {}

/// Asserts that a scalar is thread-safe, so that the error is only reported here.
pub const fn check_scalar<T: ThreadSafe>() {}

/// The scalar's own message, without the text that async-graphql adds around it.
fn message<T: InputType>(error: InputValueError<T>) -> String {
    // async-graphql only exposes the message as a part of a server error.
    let message = error.into_server_error(Pos::default()).message;
    let name = T::type_name();
    let around = format!(" (occurred while parsing \"{name}\")");
    in_our_words(message.strip_suffix(&around).unwrap_or(&message), &name)
}

/// Rewords a message of async-graphql about a value of the scalar `name`.
fn in_our_words(message: &str, name: &str) -> String {
    if let Some((_, reason)) = message
        .strip_prefix("Failed to parse \"")
        .and_then(|rest| rest.split_once("\": "))
    {
        return reason.to_owned();
    }

    let wrong_kind = message
        .strip_prefix("Expected input type \"")
        .and_then(|rest| rest.split_once("\", found "));
    let Some((expected, found)) = wrong_kind else {
        return message.to_owned();
    };

    let found = shorten(found.strip_suffix('.').unwrap_or(found));

    // A scalar that delegates to another one reports the other one's expectation.
    let expected = if expected == name {
        "another kind of value"
    } else {
        expected
    };

    format!("expected {expected}, found {found}")
}
