//! What apollo's parser lets through.

use apollo_compiler::ast::{Definition, Document};

use crate::ErrorCode;
use crate::engine::request_error::RequestError;

/// Refuses documents that declare types.
pub(crate) fn syntax(document: &Document, _: &str) -> Result<(), RequestError> {
    let executable = |definition: &Definition| {
        matches!(definition, Definition::OperationDefinition(_) | Definition::FragmentDefinition(_))
    };
    if document.definitions.iter().all(executable) {
        Ok(())
    } else {
        Err(RequestError::new(ErrorCode::GraphqlValidationFailed, "a request can hold operations and fragments only"))
    }
}
