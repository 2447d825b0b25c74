//! Scalars of users: whatever implements async-graphql's `ScalarType`. What `#[svc_scalar]` generates runs here.

use async_graphql::{InputType, InputValueError, Pos, ScalarType, Value};

use super::{InputError, StoredError};
use crate::json::{ExactJson, shorten};
use crate::scalar::write_value;

/// The type of files as PostgreSQL would have it: they never get there.
pub(crate) const UPLOAD: &str = "upload";

/// Parses an argument.
///
/// # Errors
/// The scalar's own message.
pub fn parse_scalar<T: ScalarType + InputType>(value: Option<Value>) -> Result<T, InputError> {
    match value {
        None | Some(Value::Null) => Err(InputError::expected(&<T as InputType>::type_name(), value.as_ref())),
        Some(value) => <T as ScalarType>::parse(value).map_err(|error| InputError::new(message(error))),
    }
}

/// Reads a stored value.
///
/// # Errors
/// When the scalar refuses it.
pub fn stored_scalar<T: ScalarType + InputType>(json: ExactJson) -> Result<T, StoredError> {
    let refused = StoredError::new(<T as InputType>::type_name(), &json);
    let value = json.nearest_value().map_err(|_| refused)?;
    let shown = ExactJson::String(value.to_string());
    <T as ScalarType>::parse(value).map_err(|error| StoredError::new(message(error), &shown))
}

/// Appends the scalar's JSON form.
///
/// # Errors
/// When it has none.
pub fn write_scalar<T: ScalarType>(value: &T, out: &mut Vec<u8>) -> Result<(), String> {
    write_value(out, &value.to_value()).map_err(|error| error.0)
}

/// Parses a value and gives its JSON form back.
///
/// # Errors
/// The scalar's own message.
pub fn recode_scalar<T: ScalarType + InputType>(value: Value) -> Result<Value, String> {
    let parsed = <T as ScalarType>::parse(value).map_err(message)?;
    Ok(ScalarType::to_value(&parsed))
}

/// A type whose values threads may share, as all scalars are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stays in one thread, and requests do not",
    label = "a scalar that threads cannot share",
    note = "write `Arc` for `Rc`, and an atomic or a `Mutex` for `Cell` or `RefCell`"
)]
pub trait ThreadSafe {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync> ThreadSafe for T {}

/// The one place where a scalar that stays in one thread is reported.
pub const fn check_scalar<T: ThreadSafe>() {}

/// The scalar's own words, without those that async-graphql puts around them.
fn message<T: InputType>(error: InputValueError<T>) -> String {
    let message = error.into_server_error(Pos::default()).message;
    let name = T::type_name();
    let around = format!(" (occurred while parsing \"{name}\")");
    in_our_words(message.strip_suffix(&around).unwrap_or(&message), &name)
}

/// A message of async-graphql about a value of the scalar `name`, as svc would have it.
fn in_our_words(message: &str, name: &str) -> String {
    if let Some((_, reason)) = message.strip_prefix("Failed to parse \"").and_then(|rest| rest.split_once("\": ")) {
        return reason.to_owned();
    }
    let wrong_kind = message.strip_prefix("Expected input type \"").and_then(|rest| rest.split_once("\", found "));
    let Some((expected, found)) = wrong_kind else { return message.to_owned() };
    let found = shorten(found.strip_suffix('.').unwrap_or(found));
    // A scalar that another one reads for it says what that one expects.
    let expected = if expected == name { "another kind of value" } else { expected };
    format!("expected {expected}, found {found}")
}
