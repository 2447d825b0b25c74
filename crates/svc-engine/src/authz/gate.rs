//! The gate that every root field passes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::{FutureExt as _, poll};

use super::authorizer::Deciding;
use super::{
    AccessCheck, Admission, AuthorizationDecision, AuthorizationRequest, DynAuthorizer,
    FieldAccess, FieldCheck, OwnAuthorizer, guard_check,
};
use crate::sql::{Filter, RowFilter};
use svc_core::error::Denied;
use svc_core::schema::{Code, Object, OperationKind, Resolved};
use svc_core::trace::OpenSpan;
use svc_core::{Error, ErrorCode};

/// The gate that every root field passes: nothing runs on a client's behalf without an
/// [`Admission`] from here.
pub struct Gate {
    /// The authorizer of the application.
    authorizer: Option<Box<dyn DynAuthorizer>>,
    /// The timeout for an authorizer.
    limit: Duration,
}

impl Gate {
    pub fn new(authorizer: Option<Box<dyn DynAuthorizer>>, limit: Duration) -> Self {
        Self { authorizer, limit }
    }

    /// Whether an authorizer decides about all fields.
    pub(crate) fn is_guarded(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Decides about one root field. Without any rules, it never waits and allocates no future.
    ///
    /// # Errors
    /// The denial, as reported to the client. An authorizer that fails, panics or times out denies.
    pub(crate) async fn admit<'f, F: Sync>(
        &self,
        field: &'f F,
        question: &dyn AccessCheck,
    ) -> Result<Admission<'f, F>, Error> {
        let rules = question.rules();
        if !rules.guards.is_empty() {
            let checked = guard_check::check(rules.guards, &question.context(), question.field());
            checked.map_err(|error| error.denied(Denied::ByGuard))?;
        }

        let row_filter = match (self.authorizer.as_deref(), rules.authorizer) {
            (None, None) => None,
            (Some(authorizer), None) => {
                row_filter(question, &[self.ask_about(authorizer, question).await?])?
            }
            // Boxed: few fields have their own authorizer, and the future of the others stays
            // small.
            (_, Some(own)) => self.decide(own, question).boxed().await?,
        };

        Ok(Admission::new(field, row_filter))
    }

    /// Decides about a gated field. Without an authorizer, only its guards decide.
    ///
    /// # Errors
    /// The denial, as reported to the client; `extensions.field` names the field.
    pub(crate) async fn admit_field(&self, question: &FieldAccess<'_>) -> Result<(), Error> {
        let decided = match guard_check::check(question.guards, &question.context, &question.name) {
            Ok(()) => self.ask_for_field(question).await,
            Err(denied) => Err(denied),
        };
        decided.map_err(|error| question.named(error))
    }

    /// Decides about several gated fields in one call; `None` if the authorizer has to decide about
    /// them one by one.
    pub(crate) async fn admit_fields(
        &self,
        questions: &[FieldAccess<'_>],
    ) -> Option<Vec<Result<(), Error>>> {
        let authorizer = self.authorizer.as_deref()?;
        let mut decided: Vec<_> = questions
            .iter()
            .map(|asked| guard_check::check(asked.guards, &asked.context, &asked.name))
            .collect();
        let is_open = |at: &usize| decided[*at].is_ok() && questions[*at].is_authorized;
        let open: Vec<usize> = (0..questions.len()).filter(is_open).collect();
        if open.is_empty() {
            return None;
        }

        let requests = open
            .iter()
            .map(|at| questions[*at].request())
            .collect::<Option<Vec<_>>>()?;
        let asked =
            AssertUnwindSafe(async { authorizer.decide_batch(requests).await }).catch_unwind();
        let decisions = match tokio::time::timeout(self.limit, asked).await {
            Ok(Ok(decisions)) => decisions?,
            Ok(Err(panic)) => failures(
                &open,
                &format!(
                    "the authorizer panicked: {}",
                    svc_telemetry::panic::message(&*panic)
                ),
            ),
            Err(_) => failures(
                &open,
                &format!("the authorizer took longer than {:?}", self.limit),
            ),
        };

        // Decisions are paired with fields by position: with another number of them, none can be
        // assigned.
        let decisions = match decisions.len() == open.len() {
            true => decisions,
            false => failures(
                &open,
                &format!("{} fields have {} decisions", open.len(), decisions.len()),
            ),
        };

        for (at, decision) in open.into_iter().zip(decisions) {
            decided[at] = questions[at].without_filter(judged(decision, &questions[at].name));
        }

        let named = |(question, decided): (&FieldAccess<'_>, Result<(), Error>)| {
            decided.map_err(|error| question.named(error))
        };

        Some(questions.iter().zip(decided).map(named).collect())
    }

    async fn ask_for_field(&self, question: &FieldAccess<'_>) -> Result<(), Error> {
        let Some(authorizer) = self
            .authorizer
            .as_deref()
            .filter(|_| question.is_authorized)
        else {
            return Ok(());
        };

        let decision = match question.request() {
            Some(request) => self.ask(authorizer, request, &question.name).await,
            None => Err(Refusal::Failed("the request is not shared".to_owned())),
        };

        question.without_filter(decision)
    }

    /// Runs the checks of a field for one object; all of them must allow.
    ///
    /// # Errors
    /// The denial, as reported to the client; `extensions.field` names the field.
    pub(crate) async fn check_object(
        &self,
        question: &FieldAccess<'_>,
        checks: &[&'static dyn Code],
        object: &dyn Object,
    ) -> Result<(), Error> {
        for check in checks {
            let decision = match (FieldCheck::of(*check), question.object_request()) {
                (Some(check), Some(request)) => {
                    self.bounded(
                        async { check.decide(object, request).await },
                        &question.name,
                    )
                    .await
                }
                (None, _) => Err(Refusal::Failed(
                    "the check of the field is not one".to_owned(),
                )),
                (_, None) => Err(Refusal::Failed("the request is not shared".to_owned())),
            };

            question
                .without_filter(decision)
                .map_err(|error| question.named(error))?;
        }

        Ok(())
    }

    /// Calls the authorizer of the field, and also the application's if the field's function is
    /// bypassed. Returns the row filter of the field, if not all rows may be read.
    async fn decide(
        &self,
        own: &'static dyn Code,
        question: &dyn AccessCheck,
    ) -> Result<Option<Arc<RowFilter>>, Error> {
        let unknown = || denied(question).with_source("the authorizer of the field is not one");
        let own = OwnAuthorizer::of(own).ok_or_else(unknown)?;
        let mut decisions = vec![self.ask_about(own, question).await?];
        if let Some(shared) = self.authorizer.as_deref().filter(|_| question.is_bypass()) {
            decisions.push(self.ask_about(shared, question).await?);
        }
        row_filter(question, &decisions)
    }

    /// Calls one authorizer for a root field. Returns the decision if it allows.
    async fn ask_about(
        &self,
        authorizer: &dyn DynAuthorizer,
        question: &dyn AccessCheck,
    ) -> Result<AuthorizationDecision, Error> {
        let name = question.field();

        // A function that is not `async` decides within this call, so `bounded` cannot catch its
        // panic.
        let decided = match catch_unwind(AssertUnwindSafe(|| authorizer.decide_about(question))) {
            Ok(deciding) => match deciding? {
                Deciding::Now(decision) => judged(Ok(decision), name),
                Deciding::Later(deciding) => self.bounded(deciding, name).boxed().await,
            },
            Err(panic) => Err(Refusal::panicked(&*panic)),
        };

        decided.map_err(|refusal| {
            refusal
                .into_error(ErrorCode::Forbidden, name)
                .denied(Denied::ByAuthorizer)
        })
    }

    /// Calls one authorizer. Returns the decision if it allows.
    async fn ask(
        &self,
        authorizer: &dyn DynAuthorizer,
        request: AuthorizationRequest,
        name: &str,
    ) -> Result<AuthorizationDecision, Refusal> {
        self.bounded(async { authorizer.decide(request).await }, name)
            .await
    }

    /// Waits for a decision, up to the timeout. Returns it if it allows.
    async fn bounded(
        &self,
        decide: impl Future<Output = Result<AuthorizationDecision, Error>>,
        name: &str,
    ) -> Result<AuthorizationDecision, Refusal> {
        let span = OpenSpan::step("authorize", Some(("svc.field", name)));
        let decide = async {
            match &span {
                Some(span) => span.around(decide).await,
                None => decide.await,
            }
        };

        let mut deciding = pin!(AssertUnwindSafe(decide).catch_unwind());

        // A decision that is ready at once needs no timer.
        let decided = match poll!(deciding.as_mut()) {
            Poll::Ready(decided) => Ok(decided),
            Poll::Pending => tokio::time::timeout(self.limit, deciding).await,
        };

        match decided {
            Ok(Ok(decision)) => judged(decision, name),
            Ok(Err(panic)) => Err(Refusal::panicked(&*panic)),
            Err(_) => Err(Refusal::Failed(format!(
                "the authorizer took longer than {:?}",
                self.limit
            ))),
        }
    }
}

/// Returns a decision if it allows.
fn judged(
    decision: Result<AuthorizationDecision, Error>,
    name: &str,
) -> Result<AuthorizationDecision, Refusal> {
    match decision {
        Ok(decision) if decision.allowed() => Ok(decision),
        Ok(decision) => Err(Refusal::Denied(denial(&decision, name))),
        // A masked error is not meant for clients: they get a plain denial.
        Err(error) if error.is_masked() => Err(Refusal::Failed(error.chain())),
        Err(error) => Err(Refusal::Denied(error)),
    }
}

/// The same failure for each of the fields.
fn failures(fields: &[usize], why: &str) -> Vec<Result<AuthorizationDecision, Error>> {
    fields
        .iter()
        .map(|_| Err(Error::internal(why.to_owned())))
        .collect()
}

/// Why an authorizer does not allow.
enum Refusal {
    /// It denies, with the error for the client.
    Denied(Error),
    /// It has failed, with the reason for the log.
    Failed(String),
}

impl Refusal {
    fn panicked(panic: &(dyn Any + Send)) -> Self {
        Self::Failed(format!(
            "the authorizer panicked: {}",
            svc_telemetry::panic::message(panic)
        ))
    }

    /// Converts into an error; a failure gets this code.
    fn into_error(self, code: ErrorCode, name: &str) -> Error {
        match self {
            Self::Denied(error) => error,
            Self::Failed(why) => {
                Error::new(code, format!("`{name}` is not allowed")).with_source(why)
            }
        }
    }
}

impl FieldAccess<'_> {
    /// Completes a decision about a field; filters are ignored with a warning.
    fn without_filter(
        &self,
        decision: Result<AuthorizationDecision, Refusal>,
    ) -> Result<(), Error> {
        match decision {
            Ok(decision) if decision.is_filtered() => {
                tracing::warn!(
                    field = self.name,
                    "ignored a filter that an authorizer returned for a field"
                );
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(refusal) => Err(refusal.into_error(ErrorCode::FieldAuthorizationError, &self.name)),
        }
    }

    /// Adds the field's name to the error. A `field` extension set by the application is kept.
    fn named(&self, error: Error) -> Error {
        let error = error.denied(Denied::Field);
        if error.extensions().contains_key("field") {
            error
        } else {
            error.with_extension("field", self.name.clone())
        }
    }
}

/// Builds the filter for the rows that a query reads, or that a mutation by filter writes. Other
/// mutations cannot be filtered, nor can events that a function of the application sends to
/// subscribers; there, the authorizer allows or denies the whole field.
fn row_filter(
    question: &dyn AccessCheck,
    decisions: &[AuthorizationDecision],
) -> Result<Option<Arc<RowFilter>>, Error> {
    if !decisions.iter().any(AuthorizationDecision::is_filtered) {
        return Ok(None);
    }

    if question.kind() == OperationKind::Mutation && !question.selects_written_rows() {
        tracing::warn!(
            field = question.coordinate(),
            "ignored a filter that an authorizer returned for a mutation"
        );
        return Ok(None);
    }

    if question.has_stream() {
        tracing::warn!(
            field = question.coordinate(),
            "an authorizer returned a filter for a subscription with a body, whose events are not filtered"
        );
    }

    let row = question.row();
    let conditions = decisions.iter().map(AuthorizationDecision::row_condition);
    let filter = Filter::All(
        conditions
            .collect::<Result<_, _>>()
            .map_err(|error| denied(question).with_source(error.chain()))?,
    );

    let columns = decisions
        .iter()
        .flat_map(|decision| decision.filters())
        .map(|(column, _)| column.clone())
        .collect();

    Ok(Some(Arc::new(RowFilter::new(row, filter, columns))))
}

/// The error of a denial.
fn denial(decision: &AuthorizationDecision, field: &str) -> Error {
    let message = decision
        .message()
        .map_or_else(|| format!("`{field}` is not allowed"), str::to_owned);
    Error::with_code(
        decision
            .code()
            .unwrap_or(ErrorCode::Forbidden.as_str())
            .to_owned(),
        message,
    )
}

fn denied(question: &dyn AccessCheck) -> Error {
    denied_field(question.field())
}

fn denied_field(field: &str) -> Error {
    denial(&AuthorizationDecision::deny(), field).denied(Denied::ByAuthorizer)
}

/// The denial of a field that ran with a filter but read no rows to apply it to; `None` if the
/// filter was applied. A filter is never ignored.
pub(crate) fn lost_filter(filter: &RowFilter, field: &str) -> Option<Error> {
    filter.is_lost().then(|| lost(field))
}

/// The denial of a field whose function returned rows that it had read without the filter, such as
/// with its own SQL; `None` if the filter was applied. It is decided before the methods of the rows
/// run, as their reads prove nothing.
pub(crate) fn bypassed_filter(
    filter: &RowFilter,
    returned: Resolved<'_>,
    field: &str,
) -> Option<Error> {
    filter.is_bypassed(returned).then(|| lost(field))
}

fn lost(field: &str) -> Error {
    denied_field(field).with_source(
        "the authorizer gave a filter, and the field has read no rows that it applies to",
    )
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("is_guarded", &self.is_guarded())
            .field("limit", &self.limit)
            .finish()
    }
}
