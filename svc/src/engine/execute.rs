//! Runs operations: the one way from a document to an answer.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use apollo_compiler::executable::Operation;
use apollo_compiler::response::JsonMap;
use axum::http::HeaderMap;
use futures_util::FutureExt as _;
use futures_util::future::join_all;

use super::application::Application;
use super::cache::DocumentCache;
use super::coerce::{SentVariables, VariableError, Variables, coerce_variables};
use super::complete::{Piece, guarded, join_after, key, root_value};
use super::context::{Context, RequestScope};
use super::deadline::RequestDeadlines;
use super::document::Document;
use super::env::{Env, Growth};
use super::error_log::log_errors;
use super::find::write_planned;
use super::function::write_function;
use super::introspect::{check_depth, introspect};
use super::location::LineIndex;
use super::mutations::{Mutations, one_of_each_first};
use super::operations::{Chosen, DocumentId, OperationRegistry, Registered};
use super::path::Path;
use super::persisted::{Hash, PersistedQueries};
use super::plan::{Plan, PlanField, PlanKind};
use super::request_error::RequestError;
use super::response::{Answer, Response};
use crate::authz::Gate;
use crate::db::{Db, SessionVariables};
use crate::mutation::Ledger;
use crate::schema::{OperationKind, Run};
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
    /// What a registered operation, or a persisted query, is called.
    pub(crate) document_id: Option<DocumentId>,
    pub(crate) variables: SentVariables,
    pub(crate) operation_name: Option<String>,
}

/// What the transport may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Methods {
    /// Queries and mutations.
    All,
    /// GET changes nothing.
    QueriesOnly,
    /// What needs no function of the program.
    PlannedOnly,
}

/// Everything that answers operations.
pub(crate) struct Engine {
    pub(crate) app: Arc<Application>,
    pub(crate) session_variables: SessionVariables,
    pub(crate) development: bool,
    pub(crate) introspection: bool,
    pub(crate) gate: Gate,
    /// `None` where requests may take as long as they like.
    pub(crate) deadlines: Option<Arc<RequestDeadlines>>,
    pub(crate) documents: DocumentCache,
    /// None where clients may not send hashes.
    pub(crate) persisted: Option<PersistedQueries>,
    pub(crate) operations: OperationRegistry,
    /// Whether clients may send no other documents.
    pub(crate) registered_only: bool,
}

impl Engine {
    /// Answers a request.
    pub(crate) async fn run(&self, request: Request<'_>, headers: HeaderMap, methods: Methods) -> Response {
        match self.prepare(request, methods) {
            Ok(prepared) => {
                let kind = prepared.plan.kind;
                // Pinned here, as it is large to be moved.
                let mut running = pin!(self.execute(prepared, headers));
                let Some(deadlines) = &self.deadlines else { return running.await };
                match deadlines.bound(running.as_mut()).await {
                    Some(response) => response,
                    None => Response::late(kind, deadlines.limit),
                }
            }
            Err(response) => response,
        }
    }

    fn prepare(&self, request: Request<'_>, methods: Methods) -> Result<Prepared, Response> {
        let one = |error: RequestError| Response::refused(&[error]);
        self.app.limits.check_variables(&request.variables).map_err(one)?;
        let chosen = self.choose(&request).map_err(|errors| Response::refused(&errors))?;
        let Chosen { document, operation: registered } = chosen;
        let (operation, info) = document.operation(request.operation_name.as_deref()).map_err(one)?;
        if methods == Methods::QueriesOnly && !operation.is_query() {
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
        let code = if methods == Methods::PlannedOnly { plan.needs_code().map(code_refused) } else { None };
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
        Ok(Prepared { document, plan, is_kept, variables, introspection, registered, code })
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

    async fn execute(&self, prepared: Prepared, headers: HeaderMap) -> Response {
        let scope = self.scope(headers, prepared.plan.kind);
        let env = Env {
            model: &self.app.model,
            limits: &self.app.limits,
            database: &self.app.database,
            variables: &prepared.variables,
            context: Context { request: &scope },
            development: self.development,
            growth: prepared.is_kept.then_some(Growth {
                documents: &self.documents,
                document: &prepared.document,
                plan: &prepared.plan,
            }),
            careful: false,
        };
        let fields = &prepared.plan.root.fields;
        let statement = prepared.registered.as_ref().and_then(|operation| operation.statement());
        let is_query = prepared.plan.kind == OperationKind::Query;
        let mut piece = match (statement, fields.as_slice()) {
            // One field needs nobody to join it with others.
            (None, [field]) if is_query => only(field, self.root_field(&env, &prepared, field).await),
            (None, fields) => joined(fields, self.by_field(&env, &prepared).boxed().await),
            (Some(statement), fields) => joined(fields, self.by_statement(&env, &prepared, statement).boxed().await),
        };
        log_errors(&mut piece.errors);
        if !is_query && piece.errors.len() > self.app.limits.errors {
            piece.errors = one_of_each_first(piece.errors);
        }
        let response =
            Response::executed(piece.bytes.ok(), &piece.errors, &prepared.document.text, self.app.limits.errors);
        match scope.db.ledger.as_deref().and_then(Ledger::lost) {
            Some(lost) => response.with_effects(lost),
            None => response,
        }
    }

    pub(super) async fn by_field(&self, env: &Env<'_>, prepared: &Prepared) -> Vec<Piece> {
        let fields = &prepared.plan.root.fields;
        if prepared.plan.kind == OperationKind::Mutation {
            self.in_order(env, prepared).await
        } else {
            join_all(fields.iter().map(|field| self.root_field(env, prepared, field))).await
        }
    }

    fn scope(&self, headers: HeaderMap, kind: OperationKind) -> RequestScope {
        let ledger = (kind == OperationKind::Mutation).then(Arc::default);
        let db = Db {
            app: self.app.clone(),
            session: self.session_variables.unknown(),
            mandatory: Vec::new(),
            ledger,
            transaction: None,
        };
        let mut scope = RequestScope { db, headers };
        scope.db.session = self.session_variables.session(&Context { request: &scope });
        scope
    }

    /// Fields one after the other, as mutations run; after a null that reaches the root the rest does not run.
    async fn in_order(&self, env: &Env<'_>, prepared: &Prepared) -> Vec<Piece> {
        let fields = &prepared.plan.root.fields;
        let mut mutations = Mutations::new(env);
        for field in fields {
            mutations.begin();
            let piece = self.root_field(env, prepared, field).await;
            if mutations.end(field, piece) {
                mutations.lose(fields);
                break;
            }
        }
        mutations.into_pieces()
    }

    pub(super) async fn root_field(&self, env: &Env<'_>, prepared: &Prepared, field: &PlanField) -> Piece {
        let root = Path::Root;
        let path = root.key(&field.key);
        let run = std::panic::AssertUnwindSafe(self.run_root(env, prepared, field, &path)).catch_unwind();
        run.await.unwrap_or_else(|panic| {
            let error = Error::internal(format!("the field panicked: {}", crate::panic::text(&*panic)));
            Piece::failed(env, &error, field, &path)
        })
    }

    async fn run_root(&self, env: &Env<'_>, prepared: &Prepared, field: &PlanField, path: &Path<'_>) -> Piece {
        let (run, row) = match field.kind {
            PlanKind::Root(run, row) => (run, row),
            PlanKind::Typename => {
                return Piece::walk(env, |_, out| {
                    crate::scalar::write_text(out, &prepared.plan.root.type_name);
                    Ok(())
                });
            }
            _ => {
                return Piece::walk(env, |_, out| {
                    let answer = prepared.introspection.get(field.key.as_str());
                    out.extend_from_slice(answer.map_or_else(|| "null".to_owned(), ToString::to_string).as_bytes());
                    Ok(())
                });
            }
        };
        let pass = match self.gate.admit(env.context, prepared.plan.kind, field) {
            Ok(pass) => pass,
            Err(denied) => return Piece::failed(env, &denied, field, path),
        };
        if let Some(message) = &prepared.code {
            return Piece::failed(env, &Error::new(ErrorCode::BadRequest, message.clone()), field, path);
        }
        if let (Run::Planned(planned), Some(row)) = (run, row) {
            return write_planned(env, &pass, field, planned, row, path).await;
        }
        let call = match env.call(field) {
            Ok(call) => call,
            Err(error) => return Piece::failed(env, &error, field, path),
        };
        match run {
            Run::Function(function) => write_function(env, &pass, field, function, path).boxed().await,
            Run::Planned(_) => Piece::failed(env, &Error::internal("a planned field has no rows"), field, path),
            Run::Sync(resolve) => root_value(env, field, env.noted(resolve(call)), path).boxed().await,
            Run::Async(resolve) => root_value(env, field, env.noted(guarded(resolve(call)).await), path).boxed().await,
        }
    }
}

/// The answer of a single root field, in the body.
fn only(field: &PlanField, piece: Piece) -> Piece {
    let mut head = Response::begin(KEY);
    head.push(b'{');
    key(&mut head, 0, field);
    piece.between(&head, b'}')
}

/// The answers of root fields, in the body.
fn joined(fields: &[PlanField], mut pieces: Vec<Piece>) -> Piece {
    if let (1, [field]) = (pieces.len(), fields) {
        return only(field, pieces.remove(0));
    }
    let write = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
        key(out, index, &fields[index]);
        out.extend_from_slice(bytes);
    };
    let size = pieces.iter().flat_map(|piece| &piece.bytes).map(|bytes| bytes.len() + KEY).sum();
    join_after(Response::begin(size), pieces, write, *b"{}")
}

fn refused_variables(document: &Document, errors: Vec<VariableError>) -> Response {
    let lines = LineIndex::new(&document.text);
    let errors = errors.into_iter().map(|error| {
        let location = error.offset.map(|offset| lines.locate(offset));
        RequestError::new(ErrorCode::BadUserInput, error.message).at(location)
    });
    Response::refused(&errors.collect::<Vec<_>>())
}

/// What a client is told of a field that runs a function of the program, where none may run.
fn code_refused(coordinate: &str) -> String {
    format!(
        "`{coordinate}` runs a function of the program, which this endpoint does not; send the operation to /graphql"
    )
}

/// A request that may run.
pub(super) struct Prepared {
    document: Arc<Document>,
    pub(super) plan: Arc<Plan>,
    /// Whether the plan is kept for later requests.
    is_kept: bool,
    variables: Variables,
    introspection: JsonMap,
    registered: Option<Arc<Registered>>,
    /// Why only its statement may answer it.
    pub(super) code: Option<String>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("app", &self.app).finish_non_exhaustive()
    }
}
