use svc::prelude::*;
use svc::trace::trace_graphql_operation;

/// A row of a report.
pub struct Line {
    pub text: String,
}

/// The lines of a report.
#[trace_graphql_operation("query")]
pub async fn report() -> Result<Vec<Line>> {
    Ok(Vec::new())
}
