//! The question that the gate is asked.

use async_graphql::Value;

use crate::Error;
use crate::request::Context;
use crate::schema::{OperationKind, TypeIndex};

/// A root field that wants to run, with its request and its operation; the engine implements it.
pub(crate) trait Question: Sync {
    /// The request.
    fn context(&self) -> Context<'_>;

    /// The kind of the operation.
    fn kind(&self) -> OperationKind;

    /// The name of the operation in the document.
    fn operation_name(&self) -> Option<&str>;

    /// The SHA-256 of the document's text.
    fn document_hash(&self) -> [u8; 32];

    /// The field's name in the schema.
    fn field(&self) -> &str;

    /// The field with its type, such as `Query.users`.
    fn coordinate(&self) -> &str;

    /// The type of the rows of a view that the field answers with, if it does.
    fn row(&self) -> Option<TypeIndex>;

    /// The coerced arguments under their Rust names; those that are absent are left out.
    ///
    /// # Errors
    /// When a variable leaves a required place empty.
    fn arguments(&self) -> Result<Vec<(&str, Value)>, Error>;

    /// The gated fields whose values the field can tell, as `Type.field` in Rust's names.
    fn gated_fields(&self) -> Vec<String>;
}
