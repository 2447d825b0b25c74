//! Prepared requests: chosen, coerced, planned and checked.

use std::borrow::Cow;
use std::sync::Arc;

use apollo_compiler::executable::{Operation, OperationType};
use apollo_compiler::response::JsonMap;

use super::choose::Chosen;
use super::{Engine, Request};
use crate::graphql::coerce::{VariableError, Variables, coerce_variables};
use crate::graphql::context::OperationInfo;
use crate::graphql::document::introspect::{check_depth, introspect};
use crate::graphql::document::{Document, SentText};
use crate::graphql::error::{LineIndex, RequestError, SourceText};
use crate::graphql::execute::metrics::{self, Begun, Measured};
use crate::graphql::operations::Registered;
use crate::graphql::plan::{Plan, check_rules};
use crate::graphql::response::{Answer, Explanation, Response};
use crate::request::{AllowedOperations, ErrorBehavior, RequestParts, Transport};
use svc_core::ErrorCode;
use svc_core::trace::{OpenSpan, SpanLink};
use svc_telemetry::request_log::{self, OperationNote};

/// A request that is ready to run.
pub(in crate::graphql) struct Prepared {
    pub(in crate::graphql) document: Arc<Document>,
    /// The text of the request, if documents with other literals share the document.
    sent: Option<Arc<SentText>>,
    pub(in crate::graphql) plan: Arc<Plan>,
    /// Whether the plan is cached for later requests.
    pub(super) is_kept: bool,
    pub(super) operation_name: Option<String>,
    pub(in crate::graphql) variables: Variables,
    /// The values of `__schema` and `__type`.
    pub(super) introspection: Option<Box<JsonMap>>,
    pub(super) registered: Option<Arc<Registered>>,
    /// The reason why only its statement may answer it.
    pub(in crate::graphql) code: Option<String>,
    /// The effect of an error on the values around it.
    pub(in crate::graphql) on_error: ErrorBehavior,
    /// Whether the response explains the execution to the client.
    pub(super) explain: bool,
    /// The span of a subscription, if its trace is sampled.
    pub(in crate::graphql) subscribed: Option<SpanLink>,
}

impl Prepared {
    /// Whether the program's own statement may answer it.
    pub(in crate::graphql) fn has_statement(&self) -> bool {
        self.registered
            .as_ref()
            .is_some_and(|operation| operation.sql.is_some())
    }

    /// Starts measuring the operation, for a request with these parts.
    pub(in crate::graphql) fn measured(&self, begun: Begun, parts: &RequestParts) -> Measured {
        request_log::note_operation(|| self.note(parts));
        begun.operation(&self.plan, || self.info().name(), self.registered.is_some())
    }

    /// The operation, as recorded in the request log. A registered operation without a name of its
    /// document is logged by its registered name.
    fn note(&self, parts: &RequestParts) -> OperationNote {
        let registered = || {
            self.registered
                .as_ref()
                .and_then(|operation| operation.name())
        };

        let (name, kind) = (
            self.info().name().or_else(registered),
            metrics::operation_type(self.plan.kind),
        );
        let user_id = parts.user_id();
        OperationNote {
            name: name.map(str::to_owned),
            kind: Some(kind),
            authenticated: user_id.is_some(),
            user_id: user_id.map(str::to_owned),
        }
    }

    /// The span of the operation, if its trace is sampled.
    pub(super) fn span(&self) -> Option<OpenSpan> {
        OpenSpan::operation(
            metrics::operation_type(self.plan.kind),
            || self.info().name(),
            self.source().text,
        )
    }

    /// Like `span`, for an operation that may arrive on a socket, without the span of a request
    /// around it.
    pub(in crate::graphql) fn span_on(&self, transport: Transport) -> Option<OpenSpan> {
        match transport {
            Transport::WebSocket => {
                let kind = metrics::operation_type(self.plan.kind);
                OpenSpan::of_socket(kind, || self.info().name(), self.source().text)
            }
            _ => self.span(),
        }
    }

    /// The text of the request.
    pub(in crate::graphql) fn source(&self) -> SourceText<'_> {
        self.document.source(self.sent.as_deref())
    }

    /// Replaces the plan with one for this request only.
    pub(in crate::graphql) fn replace_plan(&mut self, plan: Arc<Plan>) {
        self.plan = plan;
        self.is_kept = false;
    }

    /// The plan of a mutation, and whether one statement may execute all of it.
    pub(super) fn mutation(&self) -> (Arc<Plan>, bool) {
        (self.plan.clone(), self.has_statement())
    }

    /// Returns the explanation to record the execution in, if the client requests one.
    pub(super) fn explanation(&self) -> Option<Box<Explanation>> {
        self.explain.then(|| Box::new(Explanation::of(&self.plan)))
    }

    pub(super) fn info(&self) -> OperationInfo<'_> {
        let requested = self.operation_name.as_deref();
        OperationInfo {
            kind: self.plan.kind,
            document: &self.document,
            requested,
        }
    }
}

impl Engine {
    /// Prepares a request, whose text, variables and name are taken out of it. Takes it by
    /// reference, because it is large to move.
    pub(in crate::graphql) fn prepare(
        &self,
        request: &mut Request<'_>,
        allowed: AllowedOperations,
    ) -> Result<Prepared, Response> {
        // Before anything else, because the work of coercion grows with the number of values.
        self.app
            .limits
            .check_variables(&request.variables)
            .map_err(rejected)?;
        let chosen = self
            .choose(request)
            .map_err(|errors| Response::refused(&errors))?;

        // Freed here, because the request lives until its operation has run.
        request.query = Cow::Borrowed("");
        let Chosen {
            document,
            literals,
            operation: registered,
        } = chosen;
        let (sent, literals) = literals
            .map(|literals| (literals.text, literals.values))
            .unzip();
        let (operation, info) = document
            .operation(request.operation_name.as_deref())
            .map_err(rejected)?;
        check_kind(operation.operation_type, allowed)?;
        let variables = coerce_variables(
            &self.app.model.types,
            &info.variables,
            std::mem::take(&mut request.variables),
            self.app.limits.errors,
        )
        .map_err(|errors| refused_variables(document.source(sent.as_deref()), errors))?
        .with(literals.unwrap_or_default());

        let planned = document
            .plan(&self.app.model, &self.app.limits, operation, &variables)
            .map_err(rejected)?;
        let plan = planned.plan();
        let code = check_code(plan, registered.as_deref(), allowed).map_err(rejected)?;

        self.check(&document, operation, plan, &variables)
            .map_err(rejected)?;
        check_rules(&self.app.model, plan, &variables, self.app.limits.errors).map_err(rejected)?;
        let introspection = self.introspection_of(&document, operation, plan, &variables)?;

        // Cached after all checks: a client could otherwise displace other plans with operations
        // that are rejected anyway.
        let (plan, is_kept) = self.documents.keep(&document, planned);

        Ok(Prepared {
            document,
            sent,
            plan,
            is_kept,
            operation_name: request.operation_name.take(),
            variables,
            introspection,
            registered,
            code,
            on_error: request.on_error,
            // An explanation contains SQL and plans, which reveal the database.
            explain: request.explain && self.development,
            subscribed: None,
        })
    }

    fn check(
        &self,
        document: &Document,
        operation: &Operation,
        plan: &Plan,
        variables: &Variables,
    ) -> Result<(), RequestError> {
        if plan.introspects {
            self.check_introspection(document, operation)?;
        }

        plan.check(&self.app.model, &self.app.limits, variables)
    }

    #[cold]
    fn check_introspection(
        &self,
        document: &Document,
        operation: &Operation,
    ) -> Result<(), RequestError> {
        if !self.introspection {
            return Err(RequestError::new(
                ErrorCode::GraphqlValidationFailed,
                "introspection is switched off",
            ));
        }

        check_depth(document, operation)
    }

    /// Returns the values of `__schema` and `__type`, if the operation selects them.
    fn introspection_of(
        &self,
        document: &Document,
        operation: &Operation,
        plan: &Plan,
        variables: &Variables,
    ) -> Result<Option<Box<JsonMap>>, Response> {
        if !plan.introspects {
            return Ok(None);
        }

        introspect(&self.app.model, document, operation, variables)
            .map(|values| Some(Box::new(values)))
            .map_err(|error| Response::failed(&error))
    }
}

/// The response to a request with this error.
#[cold]
#[inline(never)]
fn rejected(error: RequestError) -> Response {
    Response::refused(&[error])
}

/// Rejects a kind of operation that the transport does not support.
fn check_kind(kind: OperationType, allowed: AllowedOperations) -> Result<(), Response> {
    let refused = |message: &str| rejected(RequestError::new(ErrorCode::BadRequest, message));
    match kind {
        // GET and QUERY are safe methods (RFC 9110, section 9.2.1): links, prefetching and
        // repetitions must not change anything.
        OperationType::Mutation if !allowed.mutations() => {
            let response =
                refused("a mutation cannot be sent with GET or QUERY; send it with POST");
            Err(Response {
                answer: Answer::MethodNotAllowed,
                ..response
            })
        }
        OperationType::Subscription if !allowed.subscriptions() => Err(refused(
            "a subscription is answered with a stream; send it over a WebSocket, or accept `text/event-stream`",
        )),
        _ => Ok(()),
    }
}

/// Returns the reason why only the operation's own statement may answer it, if there is one.
/// Rejects the operation if it has no statement.
fn check_code(
    plan: &Plan,
    registered: Option<&Registered>,
    allowed: AllowedOperations,
) -> Result<Option<String>, RequestError> {
    if allowed != AllowedOperations::WithoutCode {
        return Ok(None);
    }

    let has_sql = registered.is_some_and(|operation| operation.sql.is_some());
    match plan.needs_code().map(code_refused) {
        Some(message) if !has_sql => Err(RequestError::new(ErrorCode::BadRequest, message)),
        code => Ok(code),
    }
}

#[cold]
fn refused_variables(source: SourceText<'_>, errors: Vec<VariableError>) -> Response {
    let lines = LineIndex::new(source.text);
    let errors = errors.into_iter().map(|error| {
        let location = error
            .offset
            .map(|offset| lines.locate(source.offset(offset)));
        RequestError::new(ErrorCode::BadUserInput, error.message).at(location)
    });
    Response::refused(&errors.collect::<Vec<_>>())
}

/// Returns the message for a field that runs a function of the program where none may run.
#[cold]
fn code_refused(coordinate: &str) -> String {
    format!(
        "`{coordinate}` runs a function of the program, which this endpoint does not; send the operation to /graphql"
    )
}
