//! The fields of every result of a mutation; `#[svc_result]` refers to them, so that no result
//! repeats them.

use async_graphql::ID;

use super::MutationError;
use svc_core::schema::{
    ElementMeta, ExactJson, FieldMeta, FromStored, Object, StoredError, StoredFields, TypeFn,
};

const fn field(name: &'static str, description: &'static str, ty: TypeFn) -> FieldMeta {
    FieldMeta::new(ElementMeta::new(name).described(description), name, ty)
}

/// `status` of a success.
pub const SUCCESS_STATUS: FieldMeta = field(
    "status",
    "The outcome, such as `created`.",
    String::field_type,
);
/// `message` of a success.
pub const SUCCESS_MESSAGE: FieldMeta = field(
    "message",
    "A sentence for people.",
    Option::<String>::field_type,
);
/// `updated_fields` of a success.
pub const SUCCESS_UPDATED_FIELDS: FieldMeta = field(
    "updated_fields",
    "The fields that changed, where the function tells.",
    Option::<Vec<String>>::field_type,
);
/// `id` of a success.
pub const SUCCESS_ID: FieldMeta = field(
    "id",
    "The id of what was written.",
    Option::<ID>::field_type,
);
/// `status` of an error.
pub const ERROR_STATUS: FieldMeta = field(
    "status",
    "The mistake, such as `conflict:email_taken`.",
    String::field_type,
);
/// `message` of an error.
pub const ERROR_MESSAGE: FieldMeta = field(
    "message",
    "A sentence for people; an error always has one.",
    Option::<String>::field_type,
);
/// `code` of an error.
pub const ERROR_CODE: FieldMeta = field(
    "code",
    "The kind of error, as an HTTP status: 422, 401, 403, 404, 409, 408 or 500.",
    i32::field_type,
);
/// `errors` of an error.
pub const ERROR_ERRORS: FieldMeta = field(
    "errors",
    "Each thing that is wrong.",
    Vec::<MutationError>::field_type,
);

/// Returns the fields of a success that a resolver makes, in their order.
pub fn success(
    status: impl Into<String>,
) -> (String, Option<String>, Option<Vec<String>>, Option<ID>) {
    (status.into(), None, None, None)
}

/// Returns the fields of an error that a resolver makes, in their order; the code and the list
/// follow from the status.
pub fn error(
    status: impl Into<String>,
    message: impl Into<String>,
) -> (String, Option<String>, i32, Vec<MutationError>) {
    let (status, message) = (status.into(), message.into());
    let (code, errors) = MutationError::of_status(&status, &message);
    (status, Some(message), code, errors)
}

/// Reads a result by its `__typename`.
///
/// # Errors
/// If it is neither member, or breaks the member's type.
pub fn read_result<S: Object, E: Object, R: From<S> + From<E>>(
    value: ExactJson,
) -> Result<R, StoredError> {
    let name = StoredFields::type_name(&value)?;
    if S::is_named(name) {
        return S::read(value).map(R::from);
    }
    if E::is_named(name) {
        return E::read(value).map(R::from);
    }
    Err(StoredError::new("a member of the result", &value))
}
