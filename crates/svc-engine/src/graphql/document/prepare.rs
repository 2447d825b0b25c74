//! Turns the text of a document into a valid document: parsed, limited, validated.

use std::sync::Arc;

use apollo_compiler::executable::{self, Operation};
use apollo_compiler::parser::Parser;
use apollo_compiler::validation::{Valid, WithErrors};
use apollo_compiler::{ExecutableDocument, ast};

use super::validate::rules;
use super::{Document, OperationInfo, diagnostics};
use crate::graphql::coerce::{Literal, VariableDef};
use crate::graphql::error::RequestError;
use crate::limits::Limits;
use svc_core::ErrorCode;
use svc_core::schema::{Model, TypeExpr};
use svc_core::trace::OpenSpan;

impl Document {
    /// Parses and validates a document; reports all errors at once, up to the limit. If `suggests`
    /// is set, the errors suggest similar names from the schema.
    pub(crate) fn prepare(
        model: &Model,
        limits: &Limits,
        text: &str,
        suggests: bool,
    ) -> Result<Self, Vec<RequestError>> {
        let text: Arc<str> = text.into();
        let ast = parse(&text, limits)?;
        let _validating = OpenSpan::step("graphql.validate", None);
        let executable = match validate(model, limits, &ast)? {
            Ok(valid) => valid,
            Err(WithErrors { partial, errors }) => {
                let single = rules::SingleFields::of(&partial);
                if !errors.iter().all(|error| single.refute(error.error)) {
                    let schema = suggests.then_some(model);
                    return Err(diagnostics::of_validation(
                        &text,
                        &ast,
                        (&errors, &single),
                        limits.errors,
                        schema,
                    ));
                }

                // Each error was refuted, so nothing is missing in this document.
                without_sources(partial)
            }
        };

        let errors = rules::validate(model, &executable, &text, limits.errors);
        if !errors.is_empty() {
            return Err(errors);
        }

        let operations = executable.operations.iter().map(|operation| {
            (
                operation.name.as_ref().map(ToString::to_string),
                OperationInfo::new(model, operation),
            )
        });

        let (operations, conditions) = (operations.collect(), conditions(&executable));

        Ok(Self::new(text, executable, operations, conditions))
    }
}

/// Parses a text, and checks the limits that depend on the document alone.
fn parse(text: &str, limits: &Limits) -> Result<ast::Document, Vec<RequestError>> {
    let _parsing = OpenSpan::step("graphql.parse", None);
    let too_large = || {
        let message = format!(
            "the document is too large or nested too deeply; at most {} tokens are allowed",
            limits.tokens
        );
        vec![RequestError::new(ErrorCode::QueryTooLarge, message)]
    };

    let smooth = rules::smooth(text, limits.tokens).ok_or_else(too_large)?;
    let mut parser = Parser::new()
        .token_limit(limits.tokens)
        .recursion_limit(limits.recursion());
    let parsed = parser.parse_ast(smooth, "document.graphql");
    let ast = parsed.map_err(|invalid| {
        // At a limit the parser stops, and reports a syntax error there that the client has not
        // made.
        if parser.tokens_reached() > limits.tokens
            || parser.recursion_reached() > limits.recursion()
        {
            too_large()
        } else {
            diagnostics::of_syntax(text, &invalid.errors, limits.errors)
        }
    })?;

    rules::syntax(&ast, text).map_err(|error| vec![error])?;
    limits.check(&ast).map_err(|error| vec![error])?;

    Ok(ast)
}

/// Validates with apollo-compiler, after checking that this is not too much work.
fn validate(
    model: &Model,
    limits: &Limits,
    ast: &ast::Document,
) -> Result<Result<Valid<ExecutableDocument>, WithErrors<ExecutableDocument>>, Vec<RequestError>> {
    let (built, is_whole) = match ast.to_executable(&model.document) {
        Ok(built) => (built, true),
        Err(errors) => (errors.partial, false),
    };

    limits
        .check_merging(model, &built)
        .map_err(|error| vec![error])?;
    let validated = if is_whole {
        built.validate(&model.document)
    } else {
        // Reports the errors of building together with the errors of validation.
        ast.to_executable_validate(&model.document)
    };

    Ok(validated.map(|valid| without_sources(valid.into_inner())))
}

/// A valid document without its sources, which contain another copy of the text.
fn without_sources(document: ExecutableDocument) -> Valid<ExecutableDocument> {
    Valid::assume_valid(ExecutableDocument {
        sources: Default::default(),
        ..document
    })
}

impl OperationInfo {
    fn new(model: &Model, operation: &Operation) -> Self {
        let variables = operation.variables.iter().filter_map(|variable| {
            let ty = type_expr(model, &variable.ty)?;
            let literal = Literal {
                types: &model.types,
                variables: None,
            };

            // Validation has rejected defaults that do not fit, so no error is lost here.
            let default = variable
                .default_value
                .as_ref()
                .and_then(|value| literal.coerce(&ty, value).ok().flatten());

            Some(VariableDef {
                name: variable.name.as_str().into(),
                shown: variable.ty.to_string(),
                ty,
                default,
                offset: variable.location().map(|span| span.offset()),
            })
        });

        Self {
            variables: variables.collect(),
        }
    }
}

fn type_expr(model: &Model, ty: &executable::Type) -> Option<TypeExpr> {
    use executable::Type as T;

    Some(match ty {
        T::Named(name) => TypeExpr::Named(model.type_named(name)?.0),
        T::List(inner) => TypeExpr::List(Box::new(type_expr(model, inner)?)),
        T::NonNullNamed(name) => {
            TypeExpr::NonNull(Box::new(TypeExpr::Named(model.type_named(name)?.0)))
        }
        T::NonNullList(inner) => {
            TypeExpr::NonNull(Box::new(TypeExpr::List(Box::new(type_expr(model, inner)?))))
        }
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
        for directive in selection
            .directives()
            .iter()
            .filter(|d| matches!(d.name.as_str(), "skip" | "include"))
        {
            if let Some(executable::Value::Variable(name)) = directive
                .specified_argument_by_name("if")
                .map(AsRef::as_ref)
            {
                found.push(name.to_string());
            }
        }

        match selection {
            executable::Selection::Field(field) => collect_conditions(&field.selection_set, found),
            executable::Selection::InlineFragment(fragment) => {
                collect_conditions(&fragment.selection_set, found);
            }
            executable::Selection::FragmentSpread(_) => {}
        }
    }
}
