//! What `#[svc_result]` and mutations without a body leave behind.

use crate::schema::{Output, Registry, TypeRef};

/// The members of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMeta {
    /// Of a status that means success.
    pub success: ResultMember,
    /// Of every other.
    pub error: ResultMember,
}

/// A member of a mutation's result.
#[derive(Debug, Clone, Copy)]
pub struct ResultMember {
    /// Its GraphQL name.
    pub name: &'static str,
    /// The Rust name of the field that holds the entity.
    pub entity: Option<&'static str>,
}

/// The return type of a mutation that calls a function of the database: whatever a field can answer with.
#[diagnostic::on_unimplemented(
    message = "a mutation that calls a function cannot return `{Self}`",
    label = "not a type that the function's answer can be read into",
    note = "return an `#[svc_result]`, an `#[svc_type]`, a scalar, or `Option` or `Vec` of one; \
            an error of the function needs no `Result`"
)]
pub trait FunctionReturn {
    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;
}

impl<T: Output> FunctionReturn for T {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        T::type_ref(registry)
    }
}
