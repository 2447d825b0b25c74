use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::Admission;
use super::policy::{Decision, Policy, Question};
use crate::engine::{ExecutionContext, PlanField, RowFilter};
use crate::schema::OperationKind;
use crate::sql::Filter;
use crate::{Error, ErrorCode};

/// The gate that every root field passes: nothing runs on a client's behalf without an [`Admission`] from here.
#[derive(Default)]
pub(crate) enum Gate {
    /// There is no policy, and every field is admitted.
    #[default]
    Open,
    /// A policy decides, and has so much time for it.
    #[cfg_attr(not(test), expect(dead_code, reason = "the policies of applications will be made of it"))]
    Guarded(Box<dyn Policy>, Duration),
}

impl Gate {
    /// Asks for one root field. Without a policy it waits for nothing, and makes no future on the heap.
    ///
    /// # Errors
    /// The denial, as the client may see it. A policy that fails, panics or takes too long denies.
    pub(crate) async fn admit<'f>(
        &self,
        cx: &ExecutionContext<'_>,
        field: &'f PlanField,
    ) -> Result<Admission<'f>, Error> {
        match self {
            Self::Open => Ok(Admission::new(field, None)),
            Self::Guarded(policy, limit) => ask(&**policy, *limit, cx, field).boxed().await,
        }
    }
}

async fn ask<'f>(
    policy: &dyn Policy,
    limit: Duration,
    cx: &ExecutionContext<'_>,
    field: &'f PlanField,
) -> Result<Admission<'f>, Error> {
    let decide = async { policy.decide(Question { cx, field }).await };
    let decided = match tokio::time::timeout(limit, AssertUnwindSafe(decide).catch_unwind()).await {
        Ok(Ok(decided)) => decided,
        Ok(Err(panic)) => Err(Error::internal(format!("the policy panicked: {}", crate::panic::message(&*panic)))),
        Err(_) => Err(Error::internal(format!("the policy took longer than {limit:?}"))),
    };
    match decided {
        Ok(Decision::Allow) => Ok(Admission::new(field, None)),
        Ok(Decision::AllowWhere(filter)) => Ok(Admission::new(field, row_filter(cx, field, filter)?)),
        Ok(Decision::Deny) => Err(denied(field)),
        Err(error) if error.is_masked() => Err(denied(field).with_source(error.chain())),
        Err(error) => Err(error),
    }
}

/// The filter for the rows of a query. What a mutation does cannot be filtered; its policy decides about the whole.
fn row_filter(cx: &ExecutionContext<'_>, field: &PlanField, filter: Filter) -> Result<Option<Arc<RowFilter>>, Error> {
    if cx.operation.kind == OperationKind::Mutation {
        tracing::warn!(field = field.coordinate, "a policy gave a filter for a mutation, which has none");
        return Ok(None);
    }
    match field.root().and_then(|root| root.row()) {
        Some(row) => Ok(Some(Arc::new(RowFilter { row, filter }))),
        // A filter is never lost.
        None => Err(denied(field).with_source("the policy gave a filter, and the field has no rows of a view")),
    }
}

fn denied(field: &PlanField) -> Error {
    Error::new(ErrorCode::Forbidden, format!("`{}` is not allowed", field.name))
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Open => "Open",
            Self::Guarded(..) => "Guarded",
        })
    }
}
