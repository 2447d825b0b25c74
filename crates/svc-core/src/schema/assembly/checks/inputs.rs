//! Input objects that require themselves, or contain files.

use std::collections::HashSet;

use crate::schema::ScalarKind;
use crate::schema::error::SchemaError;
use crate::schema::model::{TypeDef, TypeExpr, TypeIndex, TypeKind};
use crate::schema::registration::UPLOAD;

/// Reports one error for each cycle of required fields, regardless of the number of objects in it.
pub(super) fn endless(types: &[TypeDef]) -> Vec<SchemaError> {
    let mut state = vec![State::New; types.len()];
    let mut errors = Vec::new();
    for index in 0..types.len() {
        walk(types, index, &mut Vec::new(), &mut state, &mut errors);
    }
    errors
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Entered,
    Done,
}

/// Follows required fields; `steps` are the fields visited so far, each with its object.
fn walk<'a>(
    types: &'a [TypeDef],
    index: TypeIndex,
    steps: &mut Vec<(TypeIndex, &'a str)>,
    state: &mut [State],
    errors: &mut Vec<SchemaError>,
) {
    match state[index] {
        State::Done => return,
        // The object is on the path that is being followed, so this step closes a cycle.
        State::Entered => {
            let circle = steps.iter().skip_while(|(object, _)| *object != index);
            let fields: Vec<_> = circle
                .map(|(object, field)| format!("`{}::{field}`", types[*object].path))
                .collect();
            errors.push(SchemaError::EndlessInput {
                path: fields.join(" needs "),
            });
            return;
        }
        State::New => {}
    }

    state[index] = State::Entered;

    if let TypeKind::Input(input) = &types[index].kind
        && !input.one_of
    {
        // A field with a default, a nullable field and a list can be written without a further
        // object, which ends the cycle; all fields of a `@oneOf` object are nullable.
        for field in input
            .fields
            .values()
            .filter(|field| field.default.is_none())
        {
            if let TypeExpr::NonNull(inner) = &field.ty
                && let TypeExpr::Named(next) = **inner
            {
                steps.push((index, &field.rust));
                walk(types, next, steps, state, errors);
                steps.pop();
            }
        }
    }

    state[index] = State::Done;
}

/// Whether a value of a type is or contains a file.
pub(in crate::schema::assembly) fn holds_file(types: &[TypeDef], ty: &TypeExpr) -> bool {
    let (mut open, mut seen) = (vec![ty.named()], HashSet::new());
    while let Some(index) = open.pop() {
        match &types[index].kind {
            TypeKind::Scalar {
                kind: ScalarKind::Custom(custom),
                ..
            } if custom.sql_type == UPLOAD => return true,
            TypeKind::Input(input) if seen.insert(index) => {
                open.extend(input.fields.values().map(|field| field.ty.named()));
            }
            _ => {}
        }
    }

    false
}
