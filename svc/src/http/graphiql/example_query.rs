//! The query in GraphiQL's first tab: one that this schema can execute.

use apollo_compiler::ast::OperationType;
use apollo_compiler::schema::{ExtendedType, FieldDefinition};

use svc_core::schema::Model;

/// The maximum number of selected fields of a type.
const FIELDS: usize = 5;
/// The number of rows requested from a field that takes one.
const ROWS: usize = 10;
/// The maximum depth of fields: a page, its nodes, their fields.
const LEVELS: usize = 3;

/// Returns a query for the first root field that returns objects and needs no arguments, or else
/// for any that needs none.
pub(super) fn example_query(model: &Model) -> String {
    let root = model.document.root_operation(OperationType::Query);
    let fields = root
        .map(|root| open_fields(model, root))
        .unwrap_or_default();
    let written = || fields.iter().filter_map(|field| write(model, field, 1));
    let objects = written().find(|text| text.contains('{'));
    let text = objects
        .or_else(|| written().next())
        .unwrap_or_else(|| "  __typename\n".to_owned());

    format!("{{\n{text}}}\n")
}

/// The fields that any client may select without an argument.
fn open_fields<'m>(model: &'m Model, type_name: &str) -> Vec<&'m FieldDefinition> {
    let fields = match model.document.types.get(type_name) {
        Some(ExtendedType::Object(object)) => &object.fields,
        Some(ExtendedType::Interface(interface)) => &interface.fields,
        _ => return Vec::new(),
    };

    let is_open = |field: &&FieldDefinition| {
        let known = model.field(type_name, &field.name);
        let is_gated = known.is_some_and(|field| field.has_gate() || field.is_checked());
        !is_gated
            && field
                .arguments
                .iter()
                .all(|argument| !argument.is_required())
    };

    fields
        .values()
        .map(|field| &***field)
        .filter(is_open)
        .collect()
}

/// Writes a field with its selection; `None` if nothing can be selected.
fn write(model: &Model, field: &FieldDefinition, level: usize) -> Option<String> {
    let (indent, name) = ("  ".repeat(level), &field.name);
    let rows = field
        .arguments
        .iter()
        .find(|argument| matches!(argument.name.as_str(), "limit" | "first"));
    let arguments = rows
        .map(|argument| format!("({}: {ROWS})", argument.name))
        .unwrap_or_default();
    let type_name = field.ty.inner_named_type();
    let below = match model.document.types.get(type_name)? {
        ExtendedType::Scalar(_) | ExtendedType::Enum(_) => {
            return Some(format!("{indent}{name}{arguments}\n"));
        }
        ExtendedType::Union(_) => format!("{indent}  __typename\n"),
        _ if level == LEVELS => return None,
        _ => below(model, type_name, level + 1)?,
    };

    Some(format!("{indent}{name}{arguments} {{\n{below}{indent}}}\n"))
}

/// Writes the first leaf fields of a type, or else its first field with selectable fields.
fn below(model: &Model, type_name: &str, level: usize) -> Option<String> {
    let fields = open_fields(model, type_name);

    // The purpose of a page is its nodes.
    if let Some(nodes) = fields.iter().find(|field| field.name == "nodes") {
        return write(model, nodes, level);
    }

    let is_leaf = |field: &&&FieldDefinition| {
        let leaf = model.document.types.get(field.ty.inner_named_type());
        matches!(leaf, Some(ExtendedType::Scalar(_) | ExtendedType::Enum(_)))
    };

    let leaves: String = fields
        .iter()
        .filter(is_leaf)
        .take(FIELDS)
        .filter_map(|field| write(model, field, level))
        .collect();

    if leaves.is_empty() {
        fields.iter().find_map(|field| write(model, field, level))
    } else {
        Some(leaves)
    }
}
