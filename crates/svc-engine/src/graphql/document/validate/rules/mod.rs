//! The validation rules that apollo-compiler lacks, in one pass in addition to its own.

mod inputs;
mod root_field;
mod syntax;
mod tokens;
mod variables;

pub(crate) use root_field::SingleFields;
pub(crate) use syntax::{smooth, syntax};

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{DirectiveList, Field, Selection, SelectionSet};

use crate::graphql::error::{LineIndex, RequestError};
use svc_core::ErrorCode;
use svc_core::schema::{Model, TypeExpr};

/// Checks a document that apollo-compiler considers valid. Returns at most `most` errors.
pub(crate) fn validate(
    model: &Model,
    document: &ExecutableDocument,
    text: &str,
    most: usize,
) -> Vec<RequestError> {
    let mut check = Check {
        model,
        document,
        lines: LineIndex::new(text),
        errors: Vec::new(),
        most,
    };

    for operation in document.operations.iter() {
        for variable in &operation.variables {
            if let (Some(default), Some((index, _))) = (
                &variable.default_value,
                model.type_named(variable.ty.inner_named_type()),
            ) {
                check.value(&wrap(&variable.ty, index), default);
            }
        }

        check.directives(&operation.directives);
        check.selections(&operation.selection_set);

        check.variable_positions(operation);
    }

    // Once per fragment, not per spread: whether its literals are valid does not depend on the
    // operation.
    for fragment in document.fragments.values() {
        check.directives(&fragment.directives);
        check.selections(&fragment.selection_set);
    }

    check.errors
}

/// One pass over a document.
struct Check<'a> {
    model: &'a Model,
    document: &'a ExecutableDocument,
    lines: LineIndex<'a>,
    errors: Vec<RequestError>,
    /// The maximum number of reported errors.
    most: usize,
}

impl Check<'_> {
    fn fail(&mut self, message: impl FnOnce() -> String, offset: Option<usize>) {
        if self.errors.len() < self.most {
            let location = offset.map(|offset| self.lines.locate(offset));
            self.errors.push(
                RequestError::new(ErrorCode::GraphqlValidationFailed, message()).at(location),
            );
        }
    }

    fn selections(&mut self, set: &SelectionSet) {
        for selection in &set.selections {
            self.directives(selection.directives());
            match selection {
                Selection::Field(field) => {
                    self.arguments(&set.ty, field);
                    self.selections(&field.selection_set);
                }
                Selection::InlineFragment(fragment) => self.selections(&fragment.selection_set),
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn directives(&mut self, directives: &DirectiveList) {
        for argument in directives.iter().flat_map(|directive| &directive.arguments) {
            self.unique_fields(&argument.value);
        }
    }

    fn arguments(&mut self, parent: &str, field: &Field) {
        let def = self.model.field(parent, &field.name);
        for argument in &field.arguments {
            match def.and_then(|def| {
                def.args
                    .iter()
                    .find(|arg| arg.name == argument.name.as_str())
            }) {
                Some(arg) => self.value(&arg.ty, &argument.value),
                None => self.unique_fields(&argument.value),
            }
        }
    }
}

/// A variable's type around a named type of the schema.
fn wrap(ty: &apollo_compiler::executable::Type, index: usize) -> TypeExpr {
    use apollo_compiler::executable::Type as T;

    match ty {
        T::Named(_) => TypeExpr::Named(index),
        T::NonNullNamed(_) => TypeExpr::NonNull(Box::new(TypeExpr::Named(index))),
        T::List(inner) => TypeExpr::List(Box::new(wrap(inner, index))),
        T::NonNullList(inner) => {
            TypeExpr::NonNull(Box::new(TypeExpr::List(Box::new(wrap(inner, index)))))
        }
    }
}
