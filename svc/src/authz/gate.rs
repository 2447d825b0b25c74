//! The gate that every root field passes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::policy::{Decision, Policy};
use super::{Admission, Question};
use crate::schema::OperationKind;
use crate::sql::{Filter, RowFilter};
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
    pub(crate) async fn admit<'f, F: Sync>(
        &self,
        field: &'f F,
        question: &dyn Question,
    ) -> Result<Admission<'f, F>, Error> {
        match self {
            Self::Open => Ok(Admission::new(field, None)),
            Self::Guarded(policy, limit) => {
                let row_filter = ask(&**policy, *limit, question).boxed().await?;
                Ok(Admission::new(field, row_filter))
            }
        }
    }
}

/// Asks a policy; gives the filter for the rows of the field, where not all may be read.
async fn ask(policy: &dyn Policy, limit: Duration, question: &dyn Question) -> Result<Option<Arc<RowFilter>>, Error> {
    let decide = async { policy.decide(question).await };
    let decided = match tokio::time::timeout(limit, AssertUnwindSafe(decide).catch_unwind()).await {
        Ok(Ok(decided)) => decided,
        Ok(Err(panic)) => Err(Error::internal(format!("the policy panicked: {}", crate::panic::message(&*panic)))),
        Err(_) => Err(Error::internal(format!("the policy took longer than {limit:?}"))),
    };
    match decided {
        Ok(Decision::Allow) => Ok(None),
        Ok(Decision::AllowWhere(filter)) => row_filter(question, filter),
        Ok(Decision::Deny) => Err(denied(question)),
        Err(error) if error.is_masked() => Err(denied(question).with_source(error.chain())),
        Err(error) => Err(error),
    }
}

/// The filter for the rows of a query. What a mutation does cannot be filtered; its policy decides about the whole.
fn row_filter(question: &dyn Question, filter: Filter) -> Result<Option<Arc<RowFilter>>, Error> {
    if question.kind() == OperationKind::Mutation {
        tracing::warn!(field = question.coordinate(), "a policy gave a filter for a mutation, which has none");
        return Ok(None);
    }
    match question.row() {
        Some(row) => Ok(Some(Arc::new(RowFilter { row, filter }))),
        // A filter is never lost.
        None => Err(denied(question).with_source("the policy gave a filter, and the field has no rows of a view")),
    }
}

fn denied(question: &dyn Question) -> Error {
    Error::new(ErrorCode::Forbidden, format!("`{}` is not allowed", question.field()))
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Open => "Open",
            Self::Guarded(..) => "Guarded",
        })
    }
}
