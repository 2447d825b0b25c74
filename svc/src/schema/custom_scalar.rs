//! Scalars of users: whatever implements async-graphql's `ScalarType`. What `#[svc_scalar]` generates runs here.

use async_graphql::{InputType, InputValueError, Pos, ScalarType, Value};

use super::{InputError, StoredError};
use crate::json::ExactJson;
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

/// The scalar's own words, without those that async-graphql puts before them.
fn message<T: InputType>(error: InputValueError<T>) -> String {
    let message = error.into_server_error(Pos::default()).message;
    let prefix = format!("Failed to parse \"{}\": ", T::type_name());
    message.strip_prefix(&prefix).map(str::to_owned).unwrap_or(message)
}
