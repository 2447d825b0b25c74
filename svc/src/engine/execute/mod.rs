//! Runs operations: the one way from a document to an answer.

mod by_statement;
mod choose;

use choose::Chosen;
use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use apollo_compiler::executable::Operation;
use apollo_compiler::response::JsonMap;
use futures_util::FutureExt as _;
use futures_util::future::join_all;

use crate::application::{Application, RequestDeadlines};
use crate::authz::Gate;
use crate::engine::cache::DocumentCache;
use crate::engine::coerce::{SentVariables, VariableError, Variables, coerce_variables};
use crate::engine::complete::{CompletedValue, guarded, join_after, key, root_value};
use crate::engine::document::Document;
use crate::engine::document_id::DocumentId;
use crate::engine::error_log::log_errors;
use crate::engine::execution_context::{ExecutionContext, Growth, OperationInfo};
use crate::engine::find::{PlannedReads, write_planned};
use crate::engine::function::write_function;
use crate::engine::hooks::{Hooks, PreparedOperation};
use crate::engine::introspect::{check_depth, introspect};
use crate::engine::location::LineIndex;
use crate::engine::mutations::{Mutations, effects_when_late, one_of_each_first};
use crate::engine::operations::{OperationRegistry, Registered};
use crate::engine::path::Path;
use crate::engine::persisted::{Hash, PersistedQueries};
use crate::engine::plan::{Admission, Plan, PlanField, PlanKind, RootField};
use crate::engine::request_error::RequestError;
use crate::engine::resolver::{Call, Resolver};
use crate::engine::response::{Answer, Response};
use crate::postgres::Ledger;
use crate::repository::Db;
use crate::request::{AllowedOperations, Context, RequestDataMakers, RequestParts, RequestScope, SessionVariables};
use crate::schema::{Code, OperationKind, Run};
use crate::{Error, ErrorCode};

/// About how long a response key is, with what stands around it.
const KEY: usize = 32;

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
    /// Whether an authorizer may keep requests.
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

    fn prepare(&self, request: Request<'_>, allowed: AllowedOperations) -> Result<Prepared, Response> {
        let one = |error: RequestError| Response::refused(&[error]);
        self.app.limits.check_variables(&request.variables).map_err(one)?;
        let chosen = self.choose(&request).map_err(|errors| Response::refused(&errors))?;
        let Chosen { document, operation: registered } = chosen;
        let (operation, info) = document.operation(request.operation_name.as_deref()).map_err(one)?;
        if allowed == AllowedOperations::Queries && !operation.is_query() {
            let error =
                RequestError::new(ErrorCode::BadRequest, "only queries can be sent with GET; send mutations with POST");
            return Err(Response { answer: Answer::MethodNotAllowed, ..Response::refused(&[error]) });
        }
        let variables =
            coerce_variables(&self.app.model.types, &info.variables, request.variables, self.app.limits.errors)
                .map_err(|errors| refused_variables(&document, errors))?;
        let planned = document.plan(&self.app.model, &self.app.limits, operation, &variables).map_err(one)?;
        let plan = planned.plan();
        let has_sql = registered.as_ref().is_some_and(|operation| operation.sql.is_some());
        let code = if allowed == AllowedOperations::WithoutCode { plan.needs_code().map(code_refused) } else { None };
        if let Some(message) = code.as_ref().filter(|_| !has_sql) {
            return Err(one(RequestError::new(ErrorCode::BadRequest, message)));
        }
        let introspection = self.check(&document, operation, plan, &variables).and_then(|()| {
            if plan.introspects {
                introspect(&self.app.model, &document, operation, &variables)
            } else {
                Ok(JsonMap::new())
            }
        });
        let introspection = introspection.map_err(one)?;
        let (plan, is_kept) = self.documents.keep(&document, planned);
        Ok(Prepared {
            document,
            plan,
            is_kept,
            operation_name: request.operation_name,
            variables,
            introspection,
            registered,
            code,
        })
    }

    fn check(
        &self,
        document: &Document,
        operation: &Operation,
        plan: &Plan,
        variables: &Variables,
    ) -> Result<(), RequestError> {
        if plan.introspects && !self.introspection {
            return Err(RequestError::new(ErrorCode::GraphqlValidationFailed, "introspection is switched off"));
        }
        if plan.introspects {
            check_depth(document, operation)?;
        }
        plan.check(&self.app.model, &self.app.limits, variables)
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

    /// Answers the root fields one by one. `decisions` are those that were taken already, in the order of the fields.
    pub(super) async fn by_field<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        decisions: Vec<Option<Decided<'p>>>,
    ) -> Vec<CompletedValue> {
        let decisions = decisions.into_iter().chain(std::iter::repeat_with(|| None));
        let fields = prepared.plan.root.fields.iter().zip(decisions);
        if prepared.plan.kind == OperationKind::Mutation {
            self.in_order(cx, prepared, fields).await
        } else {
            join_all(fields.map(|(field, decided)| self.root_field(cx, prepared, field, decided))).await
        }
    }

    /// Decides about all root fields of an operation with a statement of its own before one runs; `None` for those that nobody decides about.
    pub(super) async fn decide<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
    ) -> Vec<Option<Decided<'p>>> {
        let mut decisions = Vec::with_capacity(prepared.plan.root.fields.len());
        for field in &prepared.plan.root.fields {
            decisions.push(match field.kind {
                PlanKind::Root(_) => Some(self.admit(cx, field, true).await),
                _ => None,
            });
        }
        decisions
    }

    /// Fields one after the other, as mutations run; after a null that reaches the root the rest does not run.
    async fn in_order<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        fields: impl Iterator<Item = (&'p PlanField, Option<Decided<'p>>)>,
    ) -> Vec<CompletedValue> {
        let mut mutations = Mutations::new(cx);
        for (field, decided) in fields {
            mutations.begin();
            let value = self.root_field(cx, prepared, field, decided).await;
            if mutations.end(field, value) {
                mutations.lose(&prepared.plan.root.fields);
                break;
            }
        }
        mutations.into_completed()
    }

    pub(super) async fn root_field<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        field: &'p PlanField,
        decided: Option<Decided<'p>>,
    ) -> CompletedValue {
        let root = Path::Root;
        let path = root.key(&field.key);
        let run = pin!(async {
            let run = std::panic::AssertUnwindSafe(self.admit_and_run(cx, prepared, field, decided, &path));
            run.catch_unwind().await.unwrap_or_else(|panic| {
                let error = Error::internal(format!("the field panicked: {}", crate::panic::message(&*panic)));
                CompletedValue::failed(cx, &error, field, &path)
            })
        });
        if self.hooks.is_empty() {
            return run.await;
        }
        self.hooks.around_field(cx.context, field, run.boxed()).await
    }

    async fn admit_and_run<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        field: &'p PlanField,
        decided: Option<Decided<'p>>,
        path: &Path<'_>,
    ) -> CompletedValue {
        if let PlanKind::Typename = field.kind {
            // The name of a root type tells nothing that a document does not say itself.
            return CompletedValue::walk(cx, |_, out| {
                crate::json::write_text(out, &prepared.plan.root.type_name);
                Ok(())
            });
        }
        let decided = match decided {
            Some(decided) => decided,
            None => self.admit(cx, field, false).await,
        };
        let admission = match decided {
            Ok(admission) => admission,
            Err(denied) => return CompletedValue::failed(cx, &denied, field, path),
        };
        let Some(row_filter) = admission.row_filter() else { return run(cx, prepared, &admission, path).await };
        let db = Db { row_filter: Some(row_filter.clone()), ..cx.context.db().clone() };
        run(&cx.with_db(&db), prepared, &admission, path).boxed().await
    }
}

/// Runs a root field that was admitted.
async fn run(
    cx: &ExecutionContext<'_>,
    prepared: &Prepared,
    admission: &Admission<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    let field = admission.field();
    let Some((run, row)) = RootField::of(admission) else { return introspected(cx, prepared, admission) };
    if let Some(message) = &prepared.code {
        return CompletedValue::failed(cx, &Error::new(ErrorCode::BadRequest, message.clone()), field, path);
    }
    if let (Run::Planned(planned), Some(row)) = (run, row) {
        return write_planned(cx, admission, planned, row, path).await;
    }
    let call = match cx.call(admission) {
        Ok(call) => call,
        Err(error) => return CompletedValue::failed(cx, &error, field, path),
    };
    match run {
        Run::Function(function) => write_function(cx, admission, function, path).boxed().await,
        Run::Planned(_) => CompletedValue::failed(cx, &Error::internal("a planned field has no rows"), field, path),
        Run::Code(code) => resolve(cx, admission, code, call, path).boxed().await,
    }
}

/// Runs the resolver of a root field.
async fn resolve(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    code: &'static dyn Code,
    call: Call<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    let outcome = match Resolver::of(code) {
        Resolver::Sync(resolve) => resolve(call),
        Resolver::Async(resolve) => guarded(resolve(call)).await,
    };
    root_value(cx, admission, cx.noted(outcome), path).await
}

/// The answer of `__schema` or `__type`, which was made with the operation.
pub(super) fn introspected(
    cx: &ExecutionContext<'_>,
    prepared: &Prepared,
    admission: &Admission<'_>,
) -> CompletedValue {
    CompletedValue::walk(cx, |_, out| {
        let answer = prepared.introspection.get(admission.field().key.as_str());
        out.extend_from_slice(answer.map_or_else(|| "null".to_owned(), ToString::to_string).as_bytes());
        Ok(())
    })
}

/// The answer of a single root field, in the body.
fn only(field: &PlanField, value: CompletedValue) -> CompletedValue {
    let mut head = Response::begin(KEY);
    head.push(b'{');
    key(&mut head, 0, field);
    value.between(&head, b'}')
}

/// The answers of root fields, in the body.
fn joined(fields: &[PlanField], mut completed: Vec<CompletedValue>) -> CompletedValue {
    if let (1, [field]) = (completed.len(), fields) {
        return only(field, completed.remove(0));
    }
    let write = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
        key(out, index, &fields[index]);
        out.extend_from_slice(bytes);
    };
    let size = completed.iter().flat_map(|value| &value.bytes).map(|bytes| bytes.len() + KEY).sum();
    join_after(Response::begin(size), completed, write, *b"{}")
}

fn refused_variables(document: &Document, errors: Vec<VariableError>) -> Response {
    let lines = LineIndex::new(&document.text);
    let errors = errors.into_iter().map(|error| {
        let location = error.offset.map(|offset| lines.locate(offset));
        RequestError::new(ErrorCode::BadUserInput, error.message).at(location)
    });
    Response::refused(&errors.collect::<Vec<_>>())
}

/// Returns the message for a field that runs a function of the program, where none may run.
fn code_refused(coordinate: &str) -> String {
    format!(
        "`{coordinate}` runs a function of the program, which this endpoint does not; send the operation to /graphql"
    )
}

/// The decision of the gate about a root field.
pub(super) type Decided<'f> = Result<Admission<'f>, Error>;

/// A request that may run.
pub(super) struct Prepared {
    document: Arc<Document>,
    pub(super) plan: Arc<Plan>,
    /// Whether the plan is kept for later requests.
    is_kept: bool,
    operation_name: Option<String>,
    pub(super) variables: Variables,
    introspection: JsonMap,
    registered: Option<Arc<Registered>>,
    /// The reason why only its statement may answer it.
    pub(super) code: Option<String>,
}

impl Prepared {
    /// Whether a statement of the program's own may answer it.
    pub(super) fn has_statement(&self) -> bool {
        self.registered.as_ref().is_some_and(|operation| operation.sql.is_some())
    }

    /// The same with another plan, which is for this request alone.
    pub(super) fn with_plan(self, plan: Arc<Plan>) -> Self {
        Self { plan, is_kept: false, ..self }
    }

    /// The plan of a mutation, and whether all of it is one statement.
    fn mutation(&self) -> (Arc<Plan>, bool) {
        (self.plan.clone(), self.has_statement())
    }

    fn info(&self) -> OperationInfo<'_> {
        let requested = self.operation_name.as_deref();
        OperationInfo { kind: self.plan.kind, document: &self.document, requested }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("app", &self.app).finish_non_exhaustive()
    }
}
