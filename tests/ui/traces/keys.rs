use svc::prelude::*;
use svc::trace::trace_graphql_operation;

/// A row of a report.
pub struct Line {
    pub text: String,
}

/// The lines of a report.
#[trace_graphql_operation(operation_type = "query", name = "Nightly")]
pub async fn report() -> Result<Vec<Line>> {
    Ok(Vec::new())
}
