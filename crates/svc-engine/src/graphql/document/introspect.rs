//! Introspection, by apollo-compiler.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Operation;
use apollo_compiler::introspection;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;

use crate::graphql::coerce::Variables;
use crate::graphql::document::{Document, one_of};
use crate::graphql::error::RequestError;
use svc_core::schema::Model;
use svc_core::{Error, ErrorCode};

/// Rejects lists that are nested in lists, regardless of their cost.
pub(crate) fn check_depth(document: &Document, operation: &Operation) -> Result<(), RequestError> {
    introspection::check_max_depth(&document.executable, operation)
        .map_err(|error| RequestError::new(ErrorCode::QueryTooDeep, error.message().to_string()))
}

/// The results of `__schema` and `__type`, by response key.
pub(crate) fn introspect(
    model: &Model,
    document: &Document,
    operation: &Operation,
    variables: &Variables,
) -> Result<JsonMap, Error> {
    let variables: JsonMap = variables
        .iter()
        .filter_map(|(name, value)| {
            Some((
                name.into(),
                JsonValue::from(value.clone().into_json().ok()?),
            ))
        })
        .collect();

    let answer = if one_of::is_asked(&document.text) {
        let marked = Valid::assume_valid(one_of::marked(&model.document, &document.executable));
        let operation = marked.operations.get(operation.name.as_deref());
        let answer = operation.map(|operation| run(model, &marked, operation, &variables));
        answer
            .unwrap_or_else(|_| Ok(JsonMap::new()))
            .map(|answer| one_of::answered(&model.document, answer))
    } else {
        run(model, &document.executable, operation, &variables)
    };

    answer.map_err(|error| Error::internal(format!("introspection failed: {}", error.message())))
}

fn run(
    model: &Model,
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    variables: &JsonMap,
) -> Result<JsonMap, apollo_compiler::request::RequestError> {
    let variables = Valid::assume_valid_ref(variables);
    let answer = introspection::partial_execute(
        &model.document,
        &model.implementers,
        document,
        operation,
        variables,
    )?;

    Ok(answer.data.unwrap_or_default())
}
