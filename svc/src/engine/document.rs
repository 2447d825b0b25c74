//! Documents: parsed, limited, validated; kept for the next request with the same text.

use std::sync::Arc;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::diagnostic::ToCliReport as _;
use apollo_compiler::executable::{self, Operation};
use apollo_compiler::parser::Parser;
use apollo_compiler::validation::{DiagnosticList, Valid};
use arc_swap::ArcSwapOption;

use super::coerce::{Literal, VariableDef, Variables};
use super::limits::Limits;
use super::plan::{Plan, Planner};
use super::request_error::{Location, RequestError};
use super::rules;
use crate::ErrorCode;
use crate::schema::{Model, TypeExpr};

/// Plans of one document that are kept; a document with more combinations of conditions is planned anew.
const MAX_PLANS: usize = 32;

/// A valid document with its operations.
pub(crate) struct Document {
    pub(crate) text: Arc<str>,
    pub(crate) executable: Valid<ExecutableDocument>,
    operations: Vec<(Option<String>, OperationInfo)>,
    /// The Boolean variables of `@skip` and `@include`: a plan holds for one combination of their values.
    conditions: Vec<String>,
    plans: ArcSwapOption<Vec<(PlanKey, Arc<Plan>)>>,
}

/// What is known of an operation before its variables.
pub(crate) struct OperationInfo {
    pub(crate) variables: Vec<VariableDef>,
}

type PlanKey = (Option<String>, Vec<Option<bool>>);

impl Document {
    /// Parses and validates; all errors at once, as far as the limits allow.
    pub(crate) fn prepare(model: &Model, limits: &Limits, text: &str) -> Result<Self, Vec<RequestError>> {
        let text: Arc<str> = text.into();
        let mut parser = Parser::new().token_limit(limits.tokens).recursion_limit(limits.recursion());
        let parsed = parser.parse_ast(rules::smooth(&text), "document.graphql");
        let ast = parsed.map_err(|invalid| {
            if parser.tokens_reached() > limits.tokens || parser.recursion_reached() > limits.recursion() {
                vec![RequestError::new(
                    ErrorCode::QueryTooLarge,
                    format!(
                        "the document is too large or nested too deeply; at most {} tokens are allowed",
                        limits.tokens
                    ),
                )]
            } else {
                diagnostics(&text, &invalid.errors, ErrorCode::GraphqlParseFailed, limits.errors)
            }
        })?;
        rules::syntax(&ast, &text).map_err(|error| vec![error])?;
        limits.check(&ast).map_err(|error| vec![error])?;
        let executable = ast.to_executable_validate(&model.document).map_err(|invalid| {
            diagnostics(&text, &invalid.errors, ErrorCode::GraphqlValidationFailed, limits.errors)
        })?;
        let mut errors = rules::validate(model, &executable, &text);
        if !errors.is_empty() {
            errors.truncate(limits.errors);
            return Err(errors);
        }
        let operations = executable
            .operations
            .iter()
            .map(|operation| (operation.name.as_ref().map(ToString::to_string), OperationInfo::new(model, operation)));
        let operations = operations.collect();
        Ok(Self { text, operations, conditions: conditions(&executable), executable, plans: ArcSwapOption::empty() })
    }

    /// The operation that the request selects.
    pub(crate) fn operation(&self, name: Option<&str>) -> Result<(&Operation, &OperationInfo), RequestError> {
        let failed = |message: String| RequestError::new(ErrorCode::OperationResolutionFailure, message);
        let name = name.filter(|name| !name.is_empty());
        let operation = self.executable.operations.get(name).map_err(|_| match name {
            Some(name) => failed(format!("the document has no operation named {:?}", crate::scalar::shorten(name))),
            None if self.operations.is_empty() => failed("the document has no operation".to_owned()),
            None => failed("the document has several operations; name one with `operationName`".to_owned()),
        })?;
        let found = self.operations.iter().find(|(known, _)| known.as_deref() == operation.name.as_deref());
        let (_, info) = found.ok_or_else(|| failed("the document has no such operation".to_owned()))?;
        Ok((operation, info))
    }

    /// The Boolean variables of `@skip` and `@include`.
    pub(crate) fn conditions(&self) -> &[String] {
        &self.conditions
    }

    /// The plan for an operation under the values of its conditions.
    pub(crate) fn plan(
        &self,
        model: &Model,
        limits: &Limits,
        operation: &Operation,
        variables: &Variables,
    ) -> Result<Arc<Plan>, RequestError> {
        let name = operation.name.as_deref();
        let conditions: Vec<_> = self.conditions.iter().map(|name| condition(variables, name)).collect();
        let is_known = |key: &PlanKey| key.0.as_deref() == name && key.1 == conditions;
        let plans = self.plans.load();
        let plans = plans.as_ref().map(|plans| plans.as_slice()).unwrap_or_default();
        if let Some((_, plan)) = plans.iter().find(|(known, _)| is_known(known)) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(Planner::new(model, limits, &self.executable, variables).plan(operation)?);
        if plans.len() < MAX_PLANS {
            // When two requests plan at once, one of the plans may be lost, and is made again.
            let planned = ((name.map(str::to_owned), conditions), plan.clone());
            self.plans.store(Some(Arc::new(plans.iter().cloned().chain([planned]).collect())));
        }
        Ok(plan)
    }
}

/// The value of a condition's variable; validation made it a Boolean, but one with a default may be given as null.
pub(super) fn condition(variables: &Variables, name: &str) -> Option<bool> {
    match variables.get(name) {
        Some(async_graphql::Value::Boolean(value)) => Some(*value),
        _ => None,
    }
}

impl OperationInfo {
    fn new(model: &Model, operation: &Operation) -> Self {
        let variables = operation.variables.iter().filter_map(|variable| {
            let ty = type_expr(model, &variable.ty)?;
            let literal = Literal { types: &model.types, variables: None };
            let default = variable.default_value.as_ref().and_then(|value| literal.coerce(&ty, value).ok().flatten());
            Some(VariableDef {
                name: variable.name.as_str().into(),
                shown: variable.ty.to_string(),
                ty,
                default,
                offset: variable.location().map(|span| span.offset()),
            })
        });
        Self { variables: variables.collect() }
    }
}

fn type_expr(model: &Model, ty: &executable::Type) -> Option<TypeExpr> {
    use executable::Type as T;
    Some(match ty {
        T::Named(name) => TypeExpr::Named(model.type_named(name)?.0),
        T::List(inner) => TypeExpr::List(Box::new(type_expr(model, inner)?)),
        T::NonNullNamed(name) => TypeExpr::NonNull(Box::new(TypeExpr::Named(model.type_named(name)?.0))),
        T::NonNullList(inner) => TypeExpr::NonNull(Box::new(TypeExpr::List(Box::new(type_expr(model, inner)?)))),
    })
}

/// The variables of all `@skip` and `@include` in the document.
fn conditions(document: &ExecutableDocument) -> Vec<String> {
    let mut found = Vec::new();
    let sets = document
        .operations
        .iter()
        .map(|o| &o.selection_set)
        .chain(document.fragments.values().map(|f| &f.selection_set));
    for set in sets {
        collect_conditions(set, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn collect_conditions(set: &executable::SelectionSet, found: &mut Vec<String>) {
    for selection in &set.selections {
        for directive in selection.directives().iter().filter(|d| matches!(d.name.as_str(), "skip" | "include")) {
            if let Some(executable::Value::Variable(name)) =
                directive.specified_argument_by_name("if").map(AsRef::as_ref)
            {
                found.push(name.to_string());
            }
        }
        match selection {
            executable::Selection::Field(field) => collect_conditions(&field.selection_set, found),
            executable::Selection::InlineFragment(fragment) => collect_conditions(&fragment.selection_set, found),
            executable::Selection::FragmentSpread(_) => {}
        }
    }
}

fn diagnostics(text: &str, errors: &DiagnosticList, code: ErrorCode, limit: usize) -> Vec<RequestError> {
    let errors = errors.iter().take(limit).map(|error| {
        let message = crate::engine::response::limit_text(&error.error.to_string());
        RequestError::new(code, message).at(error.error.location().map(|span| Location::of(text, span.offset())))
    });
    errors.collect()
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("text", &self.text).finish_non_exhaustive()
    }
}
