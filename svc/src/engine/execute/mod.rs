//! Runs operations: the one way from a document to an answer.

mod by_statement;
mod choose;
mod join;
mod prepared;
pub(super) mod root_field;

pub(super) use prepared::Prepared;

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;

use self::join::{joined, only};
use crate::Error;
use crate::application::{Application, RequestDeadlines};
use crate::authz::{Gate, RowPolicies};
use crate::engine::cache::DocumentCache;
use crate::engine::coerce::SentVariables;
use crate::engine::document_id::DocumentId;
use crate::engine::error_log::log_errors;
use crate::engine::execution_context::{ExecutionContext, Growth};
use crate::engine::find::PlannedReads;
use crate::engine::hooks::{Hooks, PreparedOperation};
use crate::engine::mutations::{effects_when_late, one_of_each_first};
use crate::engine::operations::OperationRegistry;
use crate::engine::persisted::{Hash, PersistedQueries};
use crate::engine::plan::{Admission, Plan};
use crate::engine::response::Response;
use crate::postgres::Ledger;
use crate::request::{Context, RequestDataMakers, RequestParts, RequestScope, SessionVariables};
use crate::schema::OperationKind;

/// A GraphQL request.
#[derive(Debug, Default)]
pub(crate) struct Request<'a> {
    /// The document; empty when only its hash is sent.
    pub(crate) query: Cow<'a, str>,
    /// The hash of a persisted query.
    pub(crate) persisted: Option<Hash>,
    /// The name of a registered operation or of a persisted document.
    pub(crate) document_id: Option<DocumentId>,
    pub(crate) variables: SentVariables,
    pub(crate) operation_name: Option<String>,
}

/// Everything that answers operations.
pub(crate) struct Engine {
    pub(crate) app: Arc<Application>,
    pub(crate) request_data: Arc<RequestDataMakers>,
    pub(crate) session_variables: Arc<SessionVariables>,
    pub(crate) development: bool,
    pub(crate) introspection: bool,
    /// `None` where nothing says who asks.
    #[cfg(feature = "auth")]
    pub(crate) authentication: Option<crate::auth::Authentication>,
    pub(crate) gate: Gate,
    /// The policies about rows; `None` where there are none.
    pub(crate) row_policies: Option<Arc<RowPolicies>>,
    /// Whether authorizers or row policies may keep requests.
    pub(crate) shares_requests: bool,
    /// Whether there are fields that are decided about by themselves.
    pub(crate) decides_fields: bool,
    pub(crate) hooks: Hooks,
    pub(crate) documents: DocumentCache,
    /// None where clients may not send hashes.
    pub(crate) persisted: Option<PersistedQueries>,
    pub(crate) operations: OperationRegistry,
    /// Whether clients may send no other documents.
    pub(crate) registered_only: bool,
}

impl Engine {
    /// Answers a request.
    pub(crate) async fn run(&self, request: Request<'_>, mut parts: RequestParts) -> Response {
        let prepared = match self.prepare(request, parts.allowed) {
            Ok(prepared) => prepared,
            Err(response) => return response,
        };
        if !self.hooks.is_empty()
            && let Err(response) = self.after_preparing(&parts, &prepared).boxed().await
        {
            return response;
        }
        let (kind, deadlines) = (prepared.plan.kind, self.app.deadlines.as_deref());
        let started = deadlines.map_or(0, RequestDeadlines::start);
        parts.started = started;
        let scope = if self.request_data.is_empty() {
            self.scope(parts, kind)
        } else {
            match self.bounded_scope(parts, kind).boxed().await {
                Ok(scope) => scope,
                Err(response) => return response,
            }
        };
        let mutation = (kind == OperationKind::Mutation && deadlines.is_some()).then(|| prepared.mutation());
        // Pinned here, as it is large to be moved.
        let mut running = pin!(self.execute(prepared, &scope));
        let Some(deadlines) = deadlines else { return running.await };
        match deadlines.bound(started, running.as_mut()).await {
            Some(response) => response,
            None => {
                let known = |(plan, is_one): &(Arc<Plan>, bool)| {
                    Some(effects_when_late(scope.db.ledger.as_deref()?, plan, *is_one))
                };
                let effects = mutation.as_ref().and_then(known).unwrap_or_default();
                Response::late(deadlines.limit, &effects)
            }
        }
    }

    async fn after_preparing(&self, request: &RequestParts, prepared: &Prepared) -> Result<(), Response> {
        let operation = prepared.info();
        let cost = prepared.plan.cost(&self.app.model, &self.app.limits, &prepared.variables);
        let (kind, name, complexity) = (operation.kind, operation.name(), cost.complexity);
        self.hooks.after_preparing(PreparedOperation { request, kind, name, complexity }).await
    }

    /// The scope with the request data, which counts for the request's time.
    async fn bounded_scope(&self, parts: RequestParts, kind: OperationKind) -> Result<RequestScope, Response> {
        let started = parts.started;
        let making = pin!(self.scope_with_data(parts, kind));
        let made = match &self.app.deadlines {
            None => making.await,
            // No field has run yet.
            Some(deadlines) => match deadlines.bound(started, making).await {
                Some(made) => made,
                None => return Err(Response::late(deadlines.limit, &[])),
            },
        };
        made.map_err(|error| Response::failed(&error))
    }

    async fn execute(&self, prepared: Prepared, scope: &RequestScope) -> Response {
        let prepared = if self.decides_fields { self.without_denied(prepared, scope).boxed().await } else { prepared };
        let cx = ExecutionContext {
            model: &self.app.model,
            limits: &self.app.limits,
            database: &self.app.database,
            variables: &prepared.variables,
            context: Context::new(scope),
            operation: prepared.info(),
            gate: &self.gate,
            development: self.development,
            growth: prepared.is_kept.then_some(Growth {
                documents: &self.documents,
                document: &prepared.document,
                plan: &prepared.plan,
            }),
            reads: &PlannedReads,
            careful: false,
        };
        let fields = &prepared.plan.root.fields;
        let statement = prepared.registered.as_ref().and_then(|operation| operation.statement());
        let is_query = prepared.plan.kind == OperationKind::Query;
        let mut value = match (statement, fields.as_slice()) {
            // One field needs nobody to join it with others.
            (None, [field]) if is_query => only(field, self.root_field(&cx, &prepared, field, None).await),
            (None, fields) => joined(fields, self.by_field(&cx, &prepared, Vec::new()).boxed().await),
            (Some(statement), fields) => joined(fields, self.by_statement(&cx, &prepared, statement).boxed().await),
        };
        log_errors(&mut value.errors);
        if !is_query && value.errors.len() > self.app.limits.errors {
            value.errors = one_of_each_first(value.errors);
        }
        let response =
            Response::executed(value.bytes.ok(), &value.errors, &prepared.document.text, self.app.limits.errors);
        match scope.db.ledger.as_deref().and_then(Ledger::lost) {
            Some(lost) => response.with_effects(lost),
            None => response,
        }
    }
}

/// The decision of the gate about a root field.
pub(super) type Decided<'f> = Result<Admission<'f>, Error>;

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("app", &self.app).finish_non_exhaustive()
    }
}
