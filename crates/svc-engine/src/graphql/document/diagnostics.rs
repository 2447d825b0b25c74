//! Converts diagnostics of apollo-compiler into errors of a request.

use std::collections::HashSet;

use apollo_compiler::ast::{Definition, Document, Selection};
use apollo_compiler::diagnostic::ToCliReport as _;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::{DiagnosticData, DiagnosticList};

use super::validate::rules::SingleFields;
use crate::graphql::error::{LineIndex, RequestError};
use crate::graphql::response::limited;
use svc_core::ErrorCode;
use svc_core::schema::Model;

/// The message for a field without a selection, and also for a field whose selection has only
/// fields that do not exist.
const NO_SELECTION: &str = "interface, union and object types must have a subselection set";
/// The maximum length of a name that gets a suggestion.
const MAX_NAME_LENGTH: usize = 64;
/// The maximum number of errors that get a suggestion.
const MAX_SUGGESTIONS: usize = 8;
/// The share of letters that a suggested name must have in common.
const LIKENESS: f64 = 0.6;

/// The errors of a document that cannot be parsed.
pub(super) fn of_syntax(text: &str, errors: &DiagnosticList, limit: usize) -> Vec<RequestError> {
    located(text, errors, ErrorCode::GraphqlParseFailed, |_| false)
        .take(limit.max(1))
        .map(|(_, error)| error)
        .collect()
}

/// The errors of an invalid document. They suggest similar names if `schema` is given, that is, if
/// clients may see it.
pub(super) fn of_validation(
    text: &str,
    ast: &Document,
    (errors, single): (&DiagnosticList, &SingleFields),
    limit: usize,
    schema: Option<&Model>,
) -> Vec<RequestError> {
    let (selecting, fragments) = (selecting(ast), fragments(ast));

    // apollo-compiler drops a field or a fragment that it has reported, and then reports the gap as
    // another error; clients get one error for one mistake.
    let is_consequence = |at: &Option<usize>, error: &RequestError| {
        let selects = error.message == NO_SELECTION && at.is_some_and(|at| selecting.contains(&at));
        selects || of_fragment(&error.message).is_some_and(|name| fragments.contains(name))
    };

    let is_refuted = |error: &DiagnosticData| single.refute(error);
    let errors = located(text, errors, ErrorCode::GraphqlValidationFailed, is_refuted);
    let mut errors = errors
        .filter(|(at, error)| !is_consequence(at, error))
        .map(|(_, error)| error)
        .take(limit.max(1))
        .collect::<Vec<_>>();

    let Some(schema) = schema else { return errors };

    // A suggestion compares the name with all names of the schema, and a document can have many
    // unknown names.
    for error in errors.iter_mut().take(MAX_SUGGESTIONS) {
        if let Some(meant) = likely(schema, &error.message) {
            error.message = format!("{}; did you mean `{meant}`?", error.message);
        }
    }

    errors
}

/// The errors with their offsets, without the refuted ones.
fn located<'e>(
    text: &'e str,
    errors: &'e DiagnosticList,
    code: ErrorCode,
    is_refuted: impl Fn(&DiagnosticData) -> bool,
) -> impl Iterator<Item = (Option<usize>, RequestError)> {
    let lines = LineIndex::new(text);
    errors
        .iter()
        .filter(move |error| !is_refuted(error.error))
        .map(move |error| {
            let at = error.error.location().map(|span| span.offset());
            let message = limited(&error.error);
            let message = incremental_delivery(&message).unwrap_or(message);
            (
                at,
                RequestError::new(code, message).at(at.map(|at| lines.locate(at))),
            )
        })
}

/// The message for a directive of incremental delivery, which documents may use with other servers;
/// `None` for any other message.
fn incremental_delivery(message: &str) -> Option<String> {
    let name = message
        .strip_prefix("cannot find directive `@")?
        .strip_suffix("` in this document")?;
    matches!(name, "defer" | "stream").then(|| {
        format!("the directive `@{name}` is not supported; the response is sent as a whole")
    })
}

/// The name of the fragment that a message reports as missing. Fragments whose type does not exist
/// are reported the same way.
fn of_fragment(message: &str) -> Option<&str> {
    message
        .strip_prefix("cannot find fragment `")?
        .strip_suffix("` in this document")
}

/// The names of the fragments that a document defines.
fn fragments(ast: &Document) -> HashSet<&str> {
    let fragments = ast
        .definitions
        .iter()
        .filter_map(|definition| match definition {
            Definition::FragmentDefinition(fragment) => Some(fragment.name.as_str()),
            _ => None,
        });
    fragments.collect()
}

/// The offsets of the fields with a selection.
fn selecting(ast: &Document) -> HashSet<usize> {
    let sets = ast
        .definitions
        .iter()
        .filter_map(|definition| match definition {
            Definition::OperationDefinition(operation) => Some(&operation.selection_set),
            Definition::FragmentDefinition(fragment) => Some(&fragment.selection_set),
            _ => None,
        });

    let mut found = HashSet::new();
    let mut left: Vec<&Selection> = sets.flatten().collect();
    while let Some(selection) = left.pop() {
        match selection {
            Selection::Field(field) => {
                if !field.selection_set.is_empty() {
                    found.extend(field.location().map(|span| span.offset()));
                }
                left.extend(&field.selection_set);
            }
            Selection::InlineFragment(fragment) => left.extend(&fragment.selection_set),
            Selection::FragmentSpread(_) => {}
        }
    }

    found
}

/// The suggestion for a message about an unknown name. The message quotes that name and the place
/// of the lookup.
fn likely<'s>(schema: &'s Model, message: &str) -> Option<&'s str> {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let first = quoted.next()?;
    if message.starts_with("cannot find type `") || message.starts_with("type condition `") {
        return nearest(first, types(schema));
    }

    let second = quoted.next()?;
    let (name, names) = if message.starts_with("type `") {
        (second, members(schema, first)?)
    } else if message.starts_with("field `") || message.starts_with("value `") {
        (first, members(schema, second)?)
    } else if message.starts_with("the argument `") {
        (first, arguments(schema, second)?)
    } else {
        return None;
    };

    nearest(name, names)
}

/// The names of all types except introspection types.
fn types(schema: &Model) -> Vec<&str> {
    schema
        .document
        .types
        .keys()
        .map(|name| name.as_str())
        .filter(|name| !name.starts_with("__"))
        .collect()
}

/// The names of a type's fields or values.
fn members<'s>(schema: &'s Model, ty: &str) -> Option<Vec<&'s str>> {
    Some(match schema.document.types.get(ty)? {
        ExtendedType::Object(object) => object.fields.keys().map(|name| name.as_str()).collect(),
        ExtendedType::Interface(interface) => {
            interface.fields.keys().map(|name| name.as_str()).collect()
        }
        ExtendedType::InputObject(input) => input.fields.keys().map(|name| name.as_str()).collect(),
        ExtendedType::Enum(values) => values.values.keys().map(|name| name.as_str()).collect(),
        ExtendedType::Scalar(_) | ExtendedType::Union(_) => return None,
    })
}

/// The names of a field's arguments, by a coordinate such as `Query.users`.
fn arguments<'s>(schema: &'s Model, coordinate: &str) -> Option<Vec<&'s str>> {
    let (ty, field) = coordinate.split_once('.')?;
    let field = schema.document.type_field(ty, field).ok()?;
    Some(
        field
            .arguments
            .iter()
            .map(|argument| argument.name.as_str())
            .collect(),
    )
}

fn nearest<'s>(name: &str, names: Vec<&'s str>) -> Option<&'s str> {
    // The distance takes time in proportion to both lengths, and the client chooses one of them.
    if name.len() > MAX_NAME_LENGTH {
        return None;
    }

    let like = |known: &'s str| (strsim::normalized_damerau_levenshtein(name, known), known);
    let likest = names
        .into_iter()
        .map(like)
        .max_by(|one, other| one.0.total_cmp(&other.0))?;

    (likest.0 >= LIKENESS).then_some(likest.1)
}
