//! Introspection, by apollo-compiler.

use apollo_compiler::executable::Operation;
use apollo_compiler::introspection;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;

use crate::ErrorCode;
use crate::engine::coerce::Variables;
use crate::engine::document::Document;
use crate::engine::request_error::RequestError;
use crate::schema::Model;

/// Refuses lists that nest in lists, whatever they cost.
pub(crate) fn check_depth(document: &Document, operation: &Operation) -> Result<(), RequestError> {
    introspection::check_max_depth(&document.executable, operation)
        .map_err(|error| RequestError::new(ErrorCode::QueryTooDeep, error.message().to_string()))
}

/// The answers of `__schema` and `__type`, by response key.
pub(crate) fn introspect(
    model: &Model,
    document: &Document,
    operation: &Operation,
    variables: &Variables,
) -> Result<JsonMap, RequestError> {
    let variables: JsonMap = variables
        .iter()
        .filter_map(|(name, value)| Some((name.into(), JsonValue::from(value.clone().into_json().ok()?))))
        .collect();
    let answer = introspection::partial_execute(
        &model.document,
        &model.implementers,
        &document.executable,
        operation,
        Valid::assume_valid_ref(&variables),
    );
    answer
        .map(|answer| answer.data.unwrap_or_default())
        .map_err(|error| RequestError::new(ErrorCode::InternalServerError, error.message().to_string()))
}
