//! Runs operations: the only path from a document to a response.

mod access;
mod awaited;
mod by_statement;
mod cached_response;
mod choose;
mod hooks;
mod join;
pub(super) mod metrics;
mod prepared;
mod report;
pub(super) mod root_field;
mod scope;
mod size;
#[cfg(any(svc_unadmitted = "calls", svc_unadmitted = "literals"))]
mod unadmitted;

pub use access::Challenge;
pub use cached_response::ResponseCache;
pub use cached_response::ResponseKeys;
pub use hooks::{Answered, Hook};
pub use hooks::{Answering, Hooks};
pub(super) use prepared::Prepared;
pub(super) use report::{record_errors, record_late, record_refused, report};

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use self::join::joined;
pub(super) use self::join::only;
use self::metrics::{Begun, count_errors};
use self::size::AnswerSize;
use crate::authz::{Gate, RowPolicies};
use crate::graphql::coerce::SentVariables;
use crate::graphql::context::{ExecutionContext, Growth};
use crate::graphql::document::persisted::{Hash, PersistedQueries};
use crate::graphql::document::{DocumentCache, DocumentId};
use crate::graphql::find::PlannedReads;
use crate::graphql::mutate::{Mutations, effects_when_late, one_of_each_first};
use crate::graphql::operations::OperationRegistry;
use crate::graphql::plan::{Admission, CostMeter, Plan, PlanField};
use crate::graphql::response::{Explanation, Response, ResponseBudget, ShownErrors};
use crate::request::{
    Context, ErrorBehavior, Held, PreparedOperation, RequestDataMakers, RequestParts, RequestScope,
    SessionVariables,
};
use crate::shared_state::{RequestDeadlines, SharedState};
use svc_core::Error;
use svc_core::schema::OperationKind;
use svc_core::task::boxed::{boxed_rare, boxed_unmoved};
use svc_core::trace::OpenSpan;
use svc_postgres::EffectLog;

/// A GraphQL request.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// The document; empty when only its hash is sent.
    pub query: Cow<'a, str>,
    /// The hash of a persisted query.
    pub persisted: Option<Hash>,
    /// The name of a registered operation or of a persisted document.
    pub document_id: Option<DocumentId>,
    pub variables: SentVariables,
    pub operation_name: Option<String>,
    /// The effect of an error on the values around it.
    pub on_error: ErrorBehavior,
    /// Whether the client requests an explanation of the execution.
    pub explain: bool,
}

impl Request<'_> {
    /// The same request, without borrowed data.
    #[cfg(feature = "websocket")]
    pub fn into_owned(self) -> Request<'static> {
        Request {
            query: self.query.into_owned().into(),
            ..self
        }
    }
}

/// Whether clients may send registered operations only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisteredOnly {
    /// They may send any document.
    Off,
    /// They may send any document, and the log reports the documents that would be rejected.
    Tried,
    /// Any other document is rejected.
    Enforced,
}

/// Everything needed to execute operations.
pub struct Engine {
    pub app: Arc<SharedState>,
    pub request_data: Arc<RequestDataMakers>,
    pub session_variables: Arc<SessionVariables>,
    pub development: bool,
    pub introspection: bool,
    /// `None` without authentication.
    #[cfg(feature = "auth")]
    pub authentication: Option<svc_auth::Authentication>,
    pub gate: Gate,
    /// The row policies; `None` if there are none.
    pub row_policies: Option<Arc<RowPolicies>>,
    /// Whether authorizers or row policies may hold on to requests.
    pub shares_requests: bool,
    /// The parts that the program adds to the keys of cached responses.
    pub response_keys: ResponseKeys,
    /// Whether any fields have their own access rules.
    pub decides_fields: bool,
    pub hooks: Hooks,
    pub documents: DocumentCache,
    /// `None` if clients may not send hashes.
    pub persisted: Option<PersistedQueries>,
    pub operations: OperationRegistry,
    pub registered_only: RegisteredOnly,
}

impl Engine {
    /// Executes a request. Not an `async fn`, which would move the request once more.
    pub fn run(
        &self,
        mut request: Request<'_>,
        parts: RequestParts,
    ) -> impl Future<Output = Response> + Send {
        let allowed = parts.allowed;

        async move {
            #[cfg(feature = "redis")]
            self.learn(&request).await;
            let begun = Begun::now();
            match self.prepare(&mut request, allowed) {
                Ok(mut prepared) => match prepared.span() {
                    None => {
                        // Pinned here, because it is large to move.
                        let running = pin!(self.run_prepared(&mut prepared, parts, begun));
                        running.await
                    }
                    Some(span) => {
                        boxed_rare(|| self.run_in_span(span, prepared, parts, begun)).await
                    }
                },
                Err(response) => {
                    record_refused(&self.app, &parts, &response);
                    metrics::counted_refusal(response)
                }
            }
        }
    }

    /// Executes a prepared query or mutation in its own span.
    async fn run_in_span(
        &self,
        span: OpenSpan,
        mut prepared: Prepared,
        parts: RequestParts,
        begun: Begun,
    ) -> Response {
        let running = self.run_prepared(&mut prepared, parts, begun);
        let response = span.around(running).await;
        metrics::end_span(&span, &response);
        response
    }

    /// Executes a prepared query or mutation. Not an `async fn`, which would move its request once
    /// more.
    pub(super) fn run_prepared(
        &self,
        prepared: &mut Prepared,
        parts: RequestParts,
        begun: Begun,
    ) -> impl Future<Output = Response> + Send {
        let (kind, deadlines) = (prepared.plan.kind, self.app.deadlines.as_deref());

        async move {
            let measured = prepared.measured(begun, &parts);
            let spending = if self.hooks.concern(&parts) {
                match self.after_preparing(&parts, prepared).await {
                    Ok(spending) => spending,
                    Err(response) => return measured.answered(response),
                }
            } else {
                None
            };

            // The time limit starts here: time in hooks, such as a lookup in the store of a rate
            // limit, does not count.
            let started = deadlines.map_or(0, RequestDeadlines::start);
            parts.restart(started);
            let mut place = None;
            let scope = if self.request_data.is_empty() {
                self.scope_in(&mut place, parts, &prepared.plan)
            } else {
                match boxed_unmoved(|| self.bounded_scope(parts, &prepared.plan)).await {
                    Ok(scope) => &*place.insert(scope),
                    Err(response) => return measured.answered(response),
                }
            };

            // The execution may replace the plan, and a mutation that is stopped at its deadline
            // still needs it.
            let mutation = (kind == OperationKind::Mutation && deadlines.is_some())
                .then(|| prepared.mutation());

            // Created before the mutation runs, because its drop invalidates cached responses even
            // if this future is cancelled.
            let written = self.written(prepared, scope);
            let explanation = prepared.explanation();
            let response = {
                // Pinned here, because it is large to move.
                let watching = (spending.as_ref(), explanation.as_deref());
                let running = pin!(self.execute(prepared, scope, watching));
                RequestDeadlines::bound_by(deadlines, started, running).await
            };

            if let (Some(written), true) = (written, response.is_some()) {
                written.answered();
            }

            let response = match response {
                Some(response) => response,
                None => self.late_response(scope, mutation),
            };

            measured.record(&response);
            let response = match explanation {
                Some(explanation) => {
                    boxed_rare(|| {
                        explanation.beside(response, &self.app.database, scope.db.session())
                    })
                    .await
                }
                None => response,
            };

            end_spending(spending, response)
        }
    }

    /// Returns the response to an operation that was stopped at its deadline. `mutation` is the
    /// plan of a mutation, whose effects it reports, and whether one statement may execute all of
    /// it.
    #[cold]
    fn late_response(&self, scope: &RequestScope, mutation: Option<(Arc<Plan>, bool)>) -> Response {
        let effects = mutation.and_then(|(plan, is_one)| {
            let ledger = scope.db.ledger.as_deref()?;
            Some(effects_when_late(ledger, &plan, is_one))
        });

        record_late(&self.app, scope.parts());

        Response::late(self.app.request_limit(), &effects.unwrap_or_default())
    }

    /// Notifies the hooks of an operation that is about to run. Returns its spending if a hook
    /// meters it.
    pub(super) async fn after_preparing(
        &self,
        request: &RequestParts,
        prepared: &Prepared,
    ) -> Result<Option<CostMeter>, Response> {
        let (operation, plan) = (prepared.info(), &*prepared.plan);
        let cost = plan.cost(&self.app.model, &self.app.limits, &prepared.variables);
        let (kind, name, complexity) = (operation.kind, &|| operation.name(), cost.complexity);
        let limits = &*plan.root_limits();
        let operation = PreparedOperation {
            request,
            kind,
            name,
            complexity,
            limits,
        };

        self.hooks.after_preparing(operation).await?;

        // A subscription uses everything that it requested over time.
        let metering = request
            .hook
            .as_ref()
            .filter(|own| kind != OperationKind::Subscription && own.is_metering());

        Ok(metering.cloned().map(|metering| {
            let used = plan.root.own_cost() + plan.introspection + cost.asked.sum();
            CostMeter::begin(metering, complexity, used)
        }))
    }

    /// Creates the scope with the request data. Making the data counts toward the time limit of the
    /// request.
    pub(super) async fn bounded_scope(
        &self,
        parts: RequestParts,
        plan: &Plan,
    ) -> Result<RequestScope, Response> {
        let started = parts.started();
        let (db, request) = self.sharing(parts, plan);
        let made = {
            let making = pin!(self.request_data.make(&request));
            match &self.app.deadlines {
                None => Some(making.await),
                Some(deadlines) => deadlines.bound(started, making).await,
            }
        };

        let made = made.ok_or_else(|| {
            record_late(&self.app, request.parts());
            // No field has run yet.
            Response::late(self.app.request_limit(), &[])
        })?;

        made.map_err(|error| Response::failed(&error))?;

        Ok(self.with_session(db, Held::Shared(request), plan))
    }

    /// The context for executing an operation.
    pub(super) fn context<'a>(
        &'a self,
        prepared: &'a Prepared,
        scope: &'a RequestScope,
        answer: &'a ResponseBudget,
    ) -> ExecutionContext<'a> {
        ExecutionContext {
            model: &self.app.model,
            limits: &self.app.limits,
            database: &self.app.database,
            variables: &prepared.variables,
            context: Context::new(scope),
            operation: prepared.info(),
            gate: &self.gate,
            on_error: prepared.on_error,
            development: self.development,
            growth: prepared.is_kept.then_some(Growth {
                documents: &self.documents,
                document: &prepared.document,
                plan: &prepared.plan,
            }),
            reads: &PlannedReads,
            careful: false,
            answer,
            spending: None,
            explanation: None,
        }
    }

    async fn execute(
        &self,
        prepared: &mut Prepared,
        scope: &RequestScope,
        (spending, explanation): (Option<&CostMeter>, Option<&Explanation>),
    ) -> Response {
        if self.decides_about(&prepared.plan) {
            boxed_unmoved(|| self.drop_denied(prepared, scope)).await;
        }

        let prepared = &*prepared;
        let answer = ResponseBudget::new(self.app.limits.answer);

        // Changed in place, because it is large to move.
        let mut cx = self.context(prepared, scope, &answer);
        (cx.spending, cx.explanation) = (spending, explanation);

        let response = match self.cacheable(&prepared.plan) {
            Some(kept) => self.kept_answer(&cx, prepared, kept).await,
            None => self.run_fields(&cx, prepared, Vec::new()).await,
        };

        let response = match self.app.limits.show_cost {
            true => self.with_cost(prepared, response),
            false => response,
        };

        match scope.db.ledger.as_deref().and_then(EffectLog::lost) {
            Some(lost) => response.with_effects(lost),
            None => response,
        }
    }

    /// Adds the cost of the operation to its response.
    #[cold]
    fn with_cost(&self, prepared: &Prepared, response: Response) -> Response {
        let (model, limits) = (&self.app.model, &self.app.limits);
        let cost = prepared.plan.cost(model, limits, &prepared.variables);
        response.with_extension("cost", &cost.shown(limits))
    }

    /// Runs the root fields. `decisions` are the decisions already made, in the order of the
    /// fields.
    pub(in crate::graphql) async fn run_fields<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        mut decisions: Vec<Option<Decided<'p>>>,
    ) -> Response {
        let fields = &prepared.plan.root.fields;
        let statement = prepared
            .registered
            .as_ref()
            // The statement would keep the other mutations if the value of one cannot be completed,
            // and the fields below `query` are not admitted yet.
            .filter(|_| !prepared.plan.is_atomic && !prepared.plan.has_query)
            .and_then(|operation| operation.statement());
        let is_query = prepared.plan.kind == OperationKind::Query;
        let (mut value, mut withheld) = match (statement, fields.as_slice()) {
            // A single field does not have to be joined with others.
            (None, [field]) if is_query && cx.on_error != ErrorBehavior::Halt => {
                let value = self
                    .root_field(cx, prepared, field, decisions.pop().flatten())
                    .await;
                (
                    only(field, AnswerSize::default().fit(cx, field, value)),
                    Vec::new(),
                )
            }
            (None, fields) => joined(
                cx,
                fields,
                boxed_unmoved(|| self.by_field(cx, prepared, decisions)).await,
            ),
            (Some(statement), fields) => joined(
                cx,
                fields,
                boxed_unmoved(|| self.by_statement(cx, prepared, statement, decisions)).await,
            ),
        };

        if cx.on_error == ErrorBehavior::Halt {
            withheld.extend(value.halt());
        }

        // Reported before the response cuts errors off, so that operators see all of them.
        report(cx, &mut value.errors, &mut withheld);
        count_errors(&prepared.plan, &value.errors);

        // Each error carries the effect of its mutation, so the limit must not cut off the only
        // error of a field.
        if !is_query && value.errors.len() > self.app.limits.errors {
            value.errors = one_of_each_first(value.errors);
        }

        let limit = self.app.limits.errors;
        let shown = ShownErrors::new(&value.errors, prepared.source(), limit);
        let mut data = value.bytes.ok();
        if !shown.explain_data(cx.answer.has_forced_null()) {
            data = None;
            lose(cx, fields);
        }

        Response::executed(data, &shown)
    }
}

/// Records that the response has no data, and so no effects of mutations.
#[cold]
#[inline(never)]
fn lose(cx: &ExecutionContext<'_>, fields: &[PlanField]) {
    Mutations::new(cx).lose(fields);
}

/// Ends the metering of an operation if a hook meters it, and adds the hook's entry to the
/// response.
fn end_spending(spending: Option<CostMeter>, response: Response) -> Response {
    match spending.and_then(CostMeter::end) {
        Some((key, value)) => response.with_extension(key, &value),
        None => response,
    }
}

/// The gate's decision about a root field.
pub(super) type Decided<'f> = Result<Admission<'f>, Error>;

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("app", &self.app)
            .finish_non_exhaustive()
    }
}
