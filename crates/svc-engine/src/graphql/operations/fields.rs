//! Checks that a statement can answer the fields of an operation.

use std::collections::HashSet;

use apollo_compiler::executable::{Operation, Selection as Ast, SelectionSet};

use crate::graphql::coerce::Variables;
use crate::graphql::document::Document;
use crate::graphql::plan::{PlanField, PlanKind, Selection};
use crate::limits::Limits;
use svc_core::schema::{FieldKind, Model};

/// The maximum length of a column name, in bytes.
const MAX_COLUMN: usize = 63;

/// Rejects fields that need a function of the program or are read after a mutation, and response
/// keys that column names or JSON keys cannot represent.
pub(super) fn check_fields(
    model: &Model,
    limits: &Limits,
    document: &Document,
    operation: &Operation,
) -> Result<(), String> {
    let executable = &document.executable;
    let mut sets = vec![&operation.selection_set];
    sets.extend(
        executable
            .fragments
            .values()
            .map(|fragment| &fragment.selection_set),
    );

    while let Some(set) = sets.pop() {
        for selection in &set.selections {
            match selection {
                Ast::Field(field) => {
                    no_method(model, set, &field.name)?;
                    sets.push(&field.selection_set);
                }
                Ast::InlineFragment(fragment) => sets.push(&fragment.selection_set),
                Ast::FragmentSpread(_) => {}
            }
        }
    }

    for field in operation.root_fields(executable) {
        let key = field.response_key();

        // PostgreSQL truncates longer names, and the column would not be found by its key.
        if key.len() > MAX_COLUMN {
            return Err(format!(
                "`{key}` is longer than the name of a column can be ({MAX_COLUMN}); give the field a shorter alias"
            ));
        }
    }

    // Conditions change which fields are selected together. No document is checked for all
    // combinations of them.
    for condition in [true, false] {
        let variables: Variables = document
            .conditions()
            .iter()
            .map(|name| {
                (
                    name.as_str().into(),
                    async_graphql::Value::Boolean(condition),
                )
            })
            .collect();

        let planned = document
            .plan(model, limits, operation, &variables)
            .map_err(|error| error.message)?;

        distinct_keys(&planned.plan().root, &mut HashSet::new())?;
    }

    Ok(())
}

/// Rejects methods and fields with access checks, which are functions of the program, and the
/// `query` of a result.
fn no_method(model: &Model, set: &SelectionSet, name: &str) -> Result<(), String> {
    let Some((index, _)) = model.type_named(&set.ty) else {
        return Ok(());
    };

    for member in model.possible_types(index) {
        let field = model
            .object(*member)
            .and_then(|object| object.fields.get(name));
        let why = match field {
            Some(field) if field.is_checked() => "is checked by a function of the program",
            Some(field) if matches!(field.kind, FieldKind::Method(..)) => {
                "is computed by a function of the program"
            }
            Some(field) if matches!(field.kind, FieldKind::Query) => "is read after the mutation",
            _ => continue,
        };

        return Err(format!(
            "`{}.{name}` {why}, which SQL cannot answer; leave the field out, or register the operation without SQL",
            model.types[*member].name
        ));
    }

    Ok(())
}

/// Checks that no stored name equals the response key of related rows: stored fields are read by
/// their stored names, related rows by their response keys.
fn distinct_keys(
    selection: &Selection,
    seen: &mut HashSet<*const Selection>,
) -> Result<(), String> {
    if !seen.insert(std::ptr::from_ref(selection)) {
        return Ok(());
    }

    for field in &selection.fields {
        let is_same = |other: &&PlanField| matches!(other.kind, PlanKind::Stored { stored, .. } if stored == field.key);
        let by_key = matches!(
            field.kind,
            PlanKind::Relation(_) | PlanKind::Part(_) | PlanKind::Function(..)
        );
        if let Some(other) = selection.fields.iter().find(is_same).filter(|_| by_key) {
            return Err(format!(
                "`{}` and `{}` would both be read from the key \"{}\" of the SQL's JSON; give `{}` another alias",
                field.coordinate, other.coordinate, field.key, field.coordinate
            ));
        }

        for below in field.children.iter() {
            distinct_keys(below, seen)?;
        }
    }

    Ok(())
}
