//! The memory of cached values, with the allocator's overhead for each allocation. The figures are
//! estimates, high rather than low.

use apollo_compiler::ast::{self, Argument, DirectiveList, VariableDefinition};
use apollo_compiler::executable::{self, ExecutableDocument, Field, Selection, SelectionSet};
use apollo_compiler::{Name, Node};
use async_graphql::Value;

use svc_core::schema::TypeExpr;

/// The bytes that an allocation takes in addition to the requested ones.
pub(crate) const ALLOCATION: usize = 24;
/// The bytes that apollo-compiler stores with each node: a count and a location.
const NODE: usize = ALLOCATION + 32;
/// The bytes that an entry of a hash table takes in addition to the entry itself.
const ENTRY: usize = 24;

/// The size of `len` values on the heap.
pub(crate) fn slice<T>(len: usize) -> usize {
    if len == 0 {
        0
    } else {
        ALLOCATION + len * size_of::<T>()
    }
}

/// The size of a text on the heap.
pub(crate) fn text(text: &str) -> usize {
    slice::<u8>(text.len())
}

/// The size of a document with everything that it selects.
pub(crate) fn document(document: &ExecutableDocument) -> usize {
    let operations = document.operations.iter().map(|operation| {
        let variables = operation
            .variables
            .iter()
            .map(|variable| definition(variable));
        ENTRY
            + node::<executable::Operation>()
            + operation.name.as_ref().map_or(0, name)
            + slice::<Node<VariableDefinition>>(operation.variables.len())
            + variables.sum::<usize>()
            + directives(&operation.directives)
            + selections(&operation.selection_set)
    });

    let fragments = document.fragments.values().map(|fragment| {
        let selections = selections(&fragment.selection_set);
        ENTRY
            + node::<executable::Fragment>()
            + name(&fragment.name)
            + directives(&fragment.directives)
            + selections
    });

    size_of::<ExecutableDocument>() + operations.sum::<usize>() + fragments.sum::<usize>()
}

fn node<T>() -> usize {
    NODE + size_of::<T>()
}

/// The size of a name, which may be shared, as if it were not.
fn name(name: &Name) -> usize {
    size_of::<usize>() * 2 + text(name)
}

fn definition(variable: &VariableDefinition) -> usize {
    // The type is a node that holds a name.
    let ty = node::<ast::Type>() + text(variable.ty.inner_named_type());
    let default = variable
        .default_value
        .as_ref()
        .map_or(0, |default| literal(default));

    node::<VariableDefinition>()
        + name(&variable.name)
        + ty
        + default
        + directives(&variable.directives)
}

/// Validation bounds the nesting depth of selections, and so this recursion.
fn selections(set: &SelectionSet) -> usize {
    let selections = set.selections.iter().map(|selection| match selection {
        Selection::Field(field) => {
            node::<Field>()
                + name(&field.name)
                + field.alias.as_ref().map_or(0, name)
                + arguments(&field.arguments)
                + directives(&field.directives)
                + selections(&field.selection_set)
        }
        Selection::InlineFragment(fragment) => {
            node::<executable::InlineFragment>()
                + fragment.type_condition.as_ref().map_or(0, name)
                + directives(&fragment.directives)
                + selections(&fragment.selection_set)
        }
        Selection::FragmentSpread(spread) => {
            node::<executable::FragmentSpread>()
                + name(&spread.fragment_name)
                + directives(&spread.directives)
        }
    });
    slice::<Selection>(set.selections.capacity()) + selections.sum::<usize>()
}

fn directives(list: &DirectiveList) -> usize {
    let directives = list.iter().map(|directive| {
        node::<ast::Directive>() + name(&directive.name) + arguments(&directive.arguments)
    });
    slice::<Node<ast::Directive>>(list.len()) + directives.sum::<usize>()
}

fn arguments(list: &[Node<Argument>]) -> usize {
    let arguments = list
        .iter()
        .map(|argument| node::<Argument>() + name(&argument.name) + literal(&argument.value));
    slice::<Node<Argument>>(list.len()) + arguments.sum::<usize>()
}

/// The size of a literal of a document.
pub(crate) fn literal(value: &ast::Value) -> usize {
    let inside = match value {
        ast::Value::Null | ast::Value::Boolean(_) => 0,
        ast::Value::Enum(one) | ast::Value::Variable(one) => name(one),
        ast::Value::String(one) => text(one),
        ast::Value::Float(number) => text(number.as_str()),
        ast::Value::Int(number) => text(number.as_str()),
        ast::Value::List(items) => {
            slice::<Node<ast::Value>>(items.capacity())
                + items.iter().map(|item| literal(item)).sum::<usize>()
        }
        ast::Value::Object(fields) => {
            let values = fields
                .iter()
                .map(|(field, value)| name(field) + literal(value));
            slice::<(Name, Node<ast::Value>)>(fields.capacity()) + values.sum::<usize>()
        }
    };

    node::<ast::Value>() + inside
}

/// Returns the number of bytes that a coerced value has on the heap.
pub(crate) fn value(one: &Value) -> usize {
    match one {
        Value::Null | Value::Boolean(_) | Value::Number(_) => 0,
        Value::String(one) => text(one),
        Value::Enum(name) => size_of::<usize>() * 2 + text(name),
        Value::Binary(bytes) => slice::<u8>(bytes.len()),
        Value::List(items) => {
            slice::<Value>(items.capacity()) + items.iter().map(value).sum::<usize>()
        }
        Value::Object(fields) => {
            let entry = ENTRY + size_of::<(usize, async_graphql::Name, Value)>();
            let values = fields
                .iter()
                .map(|(name, one)| size_of::<usize>() * 2 + text(name) + value(one));

            // An `IndexMap` allocates twice: for its entries, and for the table of their indices.
            ALLOCATION * 2 + fields.capacity() * entry + values.sum::<usize>()
        }
    }
}

/// Returns the number of bytes that a type has on the heap.
pub(crate) fn type_expr(ty: &TypeExpr) -> usize {
    match ty {
        TypeExpr::Named(_) => 0,
        TypeExpr::List(inner) | TypeExpr::NonNull(inner) => slice::<TypeExpr>(1) + type_expr(inner),
    }
}
