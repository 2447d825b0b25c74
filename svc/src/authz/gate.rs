//! The gate that every root field passes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::{
    Admission, AuthorizationDecision, AuthorizationRequest, DynAuthorizer, FieldCheck, FieldQuestion, OperationType,
    OwnAuthorizer, Question, guard,
};
use crate::schema::{Code, Object, OperationKind};
use crate::sql::{Filter, RowFilter};
use crate::{Error, ErrorCode};

/// The gate that every root field passes: nothing runs on a client's behalf without an [`Admission`] from here.
pub(crate) struct Gate {
    /// The authorizer of the application.
    authorizer: Option<Box<dyn DynAuthorizer>>,
    /// The longest that an authorizer may take.
    limit: Duration,
}

impl Gate {
    pub(crate) fn new(authorizer: Option<Box<dyn DynAuthorizer>>, limit: Duration) -> Self {
        Self { authorizer, limit }
    }

    /// Whether an authorizer is asked about all fields.
    pub(crate) fn is_guarded(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Asks for one root field. Where no rule is, it waits for nothing, and makes no future on the heap.
    ///
    /// # Errors
    /// The denial, as the client may see it. An authorizer that fails, panics or takes too long denies.
    pub(crate) async fn admit<'f, F: Sync>(
        &self,
        field: &'f F,
        question: &dyn Question,
    ) -> Result<Admission<'f, F>, Error> {
        let rules = question.rules();
        if !rules.guards.is_empty() {
            guard::check(rules.guards, &question.context(), question.field())?;
        }
        if self.authorizer.is_none() && rules.authorizer.is_none() {
            return Ok(Admission::new(field, None));
        }
        let row_filter = self.decide(question).boxed().await?;
        Ok(Admission::new(field, row_filter))
    }

    /// Asks for a gated field. Without an authorizer nothing but its guards decides.
    ///
    /// # Errors
    /// The denial, as the client may see it; `extensions.field` names the field.
    pub(crate) async fn admit_field(&self, question: &FieldQuestion<'_>) -> Result<(), Error> {
        let decided = match guard::check(question.guards, &question.context, &question.name) {
            Ok(()) => self.ask_for_field(question).await,
            Err(denied) => Err(denied),
        };
        decided.map_err(|error| question.named(error))
    }

    async fn ask_for_field(&self, question: &FieldQuestion<'_>) -> Result<(), Error> {
        let Some(authorizer) = self.authorizer.as_deref().filter(|_| question.is_authorized) else { return Ok(()) };
        let decision = match question.request() {
            Some(request) => self.ask(authorizer, request, &question.name).await,
            None => Err(Refusal::Failed("the request is not shared".to_owned())),
        };
        question.without_filter(decision)
    }

    /// Asks the checks of a field about one object; each must allow.
    ///
    /// # Errors
    /// The denial, as the client may see it; `extensions.field` names the field.
    pub(crate) async fn check_object(
        &self,
        question: &FieldQuestion<'_>,
        checks: &[&'static dyn Code],
        object: &dyn Object,
    ) -> Result<(), Error> {
        for check in checks {
            let decision = match (FieldCheck::of(*check), question.request()) {
                (Some(check), Some(request)) => {
                    self.bounded(async { check.decide(object, request).await }, &question.name).await
                }
                (None, _) => Err(Refusal::Failed("the check of the field is not one".to_owned())),
                (_, None) => Err(Refusal::Failed("the request is not shared".to_owned())),
            };
            question.without_filter(decision).map_err(|error| question.named(error))?;
        }
        Ok(())
    }

    /// Asks the authorizers; gives the filter for the rows of the field, where not all may be read.
    async fn decide(&self, question: &dyn Question) -> Result<Option<Arc<RowFilter>>, Error> {
        let own = match question.rules().authorizer.map(OwnAuthorizer::of) {
            Some(None) => return Err(denied(question).with_source("the authorizer of the field is not one")),
            own => own.flatten(),
        };
        let shared = self.authorizer.as_deref().filter(|_| own.is_none() || question.is_bypass());
        let mut decisions = Vec::with_capacity(1);
        for authorizer in own.into_iter().chain(shared) {
            let asked = self.ask(authorizer, request(question)?, question.field()).await;
            decisions.push(asked.map_err(|refusal| refusal.into_error(ErrorCode::Forbidden, question.field()))?);
        }
        row_filter(question, &decisions)
    }

    /// Asks one authorizer, which allows.
    async fn ask(
        &self,
        authorizer: &dyn DynAuthorizer,
        request: AuthorizationRequest,
        name: &str,
    ) -> Result<AuthorizationDecision, Refusal> {
        self.bounded(async { authorizer.decide(request).await }, name).await
    }

    /// Waits for a decision, which allows, as long as one may take.
    async fn bounded(
        &self,
        decide: impl Future<Output = Result<AuthorizationDecision, Error>>,
        name: &str,
    ) -> Result<AuthorizationDecision, Refusal> {
        match tokio::time::timeout(self.limit, AssertUnwindSafe(decide).catch_unwind()).await {
            Ok(Ok(Ok(decision))) if decision.allowed() => Ok(decision),
            Ok(Ok(Ok(decision))) => Err(Refusal::Denied(denial(&decision, name))),
            Ok(Ok(Err(error))) if error.is_masked() => Err(Refusal::Failed(error.chain())),
            Ok(Ok(Err(error))) => Err(Refusal::Denied(error)),
            Ok(Err(panic)) => {
                Err(Refusal::Failed(format!("the authorizer panicked: {}", crate::panic::message(&*panic))))
            }
            Err(_) => Err(Refusal::Failed(format!("the authorizer took longer than {:?}", self.limit))),
        }
    }
}

/// The reason for which an authorizer does not allow.
enum Refusal {
    /// It denies, with what clients are told.
    Denied(Error),
    /// It has failed, with what the log is told.
    Failed(String),
}

impl Refusal {
    /// The error; `code` is that of a failure.
    fn into_error(self, code: ErrorCode, name: &str) -> Error {
        match self {
            Self::Denied(error) => error,
            Self::Failed(why) => Error::new(code, format!("`{name}` is not allowed")).with_source(why),
        }
    }
}

impl FieldQuestion<'_> {
    /// The end of a decision about a field, whose filters count for nothing.
    fn without_filter(&self, decision: Result<AuthorizationDecision, Refusal>) -> Result<(), Error> {
        match decision {
            Ok(decision) if decision.is_filtered() => {
                tracing::warn!(field = self.name, "a filter was given for a field, which has none");
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(refusal) => Err(refusal.into_error(ErrorCode::FieldAuthorizationError, &self.name)),
        }
    }

    /// The error with the field's name. What the application says of its own errors stays as it is.
    fn named(&self, error: Error) -> Error {
        if error.extensions().contains_key("field") { error } else { error.with_extension("field", self.name.clone()) }
    }
}

/// The request as authorizers get it.
fn request(question: &dyn Question) -> Result<AuthorizationRequest, Error> {
    let scope = question.shared().ok_or_else(|| denied(question).with_source("the request is not shared"))?;
    let arguments = question.arguments()?.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(AuthorizationRequest {
        scope,
        operation_type: OperationType::from(question.kind()),
        operation_name: question.field().to_owned(),
        arguments,
    })
}

/// The filter for the rows of a query. What a mutation does cannot be filtered; its authorizer decides about the whole.
fn row_filter(question: &dyn Question, decisions: &[AuthorizationDecision]) -> Result<Option<Arc<RowFilter>>, Error> {
    if !decisions.iter().any(AuthorizationDecision::is_filtered) {
        return Ok(None);
    }
    if question.kind() == OperationKind::Mutation {
        tracing::warn!(field = question.coordinate(), "an authorizer gave a filter for a mutation, which has none");
        return Ok(None);
    }
    // A filter is never lost.
    let no_rows = || denied(question).with_source("the authorizer gave a filter, and the field has no rows of a view");
    let row = question.row().ok_or_else(no_rows)?;
    let conditions = decisions.iter().map(AuthorizationDecision::row_condition);
    let filter =
        Filter::All(conditions.collect::<Result<_, _>>().map_err(|error| denied(question).with_source(error.chain()))?);
    let columns = decisions.iter().flat_map(|decision| decision.filters()).map(|(column, _)| column.clone()).collect();
    Ok(Some(Arc::new(RowFilter { row, filter, columns })))
}

/// The error of a denial.
fn denial(decision: &AuthorizationDecision, field: &str) -> Error {
    let message = decision.message().map_or_else(|| format!("`{field}` is not allowed"), str::to_owned);
    Error::with_code(decision.code().unwrap_or(ErrorCode::Forbidden.as_str()).to_owned(), message)
}

fn denied(question: &dyn Question) -> Error {
    denial(&AuthorizationDecision::deny(), question.field())
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("is_guarded", &self.is_guarded()).field("limit", &self.limit).finish()
    }
}
