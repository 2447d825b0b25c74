//! Mutations whose functions cannot be called.

use super::{Finding, Severity};
use crate::graphql::functions;
use svc_core::schema::Model;
use svc_postgres::Database;

/// The mutations whose functions are missing, do not take their arguments or may not be called.
pub(super) fn broken_functions(model: &Model, database: &Database) -> Vec<Finding> {
    let called = functions(model)
        .filter_map(|(field, _, spec)| Some((field, database.function_fault(&spec)?, spec)));
    let broken = called.map(|(field, cause, spec)| Finding {
        severity: Severity::Fault,
        source: spec.name,
        field: format!("Mutation.{}", field.name),
        cause,
        remedy: "make a function that takes the arguments of the mutation in their order, and let the role of the \
                 service call it, or name another: `#[svc::mutation(function = \"…\")]`"
            .to_owned(),
    });

    broken.collect()
}
