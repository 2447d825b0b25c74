//! Finds the literals of a valid document that requests can bind like variables.
//!
//! Only the number or string that stands alone at the place of a scalar is lifted. The shape of the
//! values around it, and with it the work in the database and the gated fields that arguments
//! touch, is the same for all documents that share the plan.

use std::collections::HashMap;

use apollo_compiler::executable::{ExecutableDocument, Field, Selection, SelectionSet};
use apollo_compiler::{Node, ast};

use super::mask::Masked;
use crate::graphql::coerce::LiftedLiterals;
use svc_core::schema::{Model, TypeExpr, TypeIndex, TypeKind};

/// Decides which literals of a document are lifted. Returns `None` if there are none, and for a
/// document that reads the schema, because apollo-compiler executes introspection from the document.
pub(super) fn lift(
    model: &Model,
    document: &ExecutableDocument,
    masked: &Masked<'_>,
) -> Option<LiftedLiterals> {
    let mut places = Places {
        first: document.operations.iter().count(),
        ..Places::default()
    };
    let mut lift = Lift {
        model,
        masked,
        types: vec![None; masked.len()],
        has_unread: false,
    };

    for (operation, root) in document.operations.iter().zip(0..) {
        places.note(&operation.selection_set, Some(root));
    }
    for fragment in document.fragments.values() {
        places.note(&fragment.selection_set, None);
    }
    if places.read_schema {
        return None;
    }

    for (operation, root) in document.operations.iter().zip(0..) {
        lift.selections(&places, &operation.selection_set, Some(root));
    }
    for fragment in document.fragments.values() {
        lift.selections(&places, &fragment.selection_set, None);
    }

    let has_some = lift.types.iter().any(Option::is_some);
    (has_some && !lift.has_unread).then(|| LiftedLiterals::new(masked.spans(), &lift.types))
}

/// The places of response keys. Fields that may be merged must have the same arguments, so their
/// literals are not lifted.
#[derive(Default)]
struct Places<'a> {
    /// The number of the first place below an operation; the operations have the numbers before it.
    first: usize,
    /// The numbers of the places below the operations, by the place above and the response key.
    known: HashMap<(usize, &'a str), Place>,
    /// The response keys that fragments have. A fragment may be spread anywhere.
    in_fragments: HashMap<&'a str, usize>,
    /// The response keys that operations have.
    in_operations: HashMap<&'a str, usize>,
    /// Whether `__schema` or `__type` is selected.
    read_schema: bool,
}

/// A response key below an operation.
struct Place {
    number: usize,
    /// The number of fields.
    fields: usize,
}

impl<'a> Places<'a> {
    /// Notes the fields of a selection set; `above` is its place, `None` in a fragment.
    fn note(&mut self, set: &'a SelectionSet, above: Option<usize>) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    self.read_schema |= matches!(field.name.as_str(), "__schema" | "__type");
                    let place = self.add(field, above);
                    self.note(&field.selection_set, place);
                }
                Selection::InlineFragment(fragment) => self.note(&fragment.selection_set, above),
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    /// Counts a field. Returns its place.
    fn add(&mut self, field: &'a Field, above: Option<usize>) -> Option<usize> {
        let key = field.response_key().as_str();
        let Some(above) = above else {
            *self.in_fragments.entry(key).or_default() += 1;
            return None;
        };

        *self.in_operations.entry(key).or_default() += 1;
        let number = self.first + self.known.len();
        let place = self
            .known
            .entry((above, key))
            .or_insert(Place { number, fields: 0 });
        place.fields += 1;

        Some(place.number)
    }

    /// The place of a field below `above`.
    fn of(&self, field: &Field, above: Option<usize>) -> Option<usize> {
        let key = (above?, field.response_key().as_str());
        self.known.get(&key).map(|place| place.number)
    }

    /// Whether a field may be merged with another one.
    fn is_merged(&self, field: &Field, above: Option<usize>) -> bool {
        let key = field.response_key().as_str();
        let count = |fields: &HashMap<&str, usize>| fields.get(key).copied().unwrap_or_default();
        let elsewhere = match above {
            Some(above) => self
                .known
                .get(&(above, key))
                .map_or(0, |place| place.fields),
            None => count(&self.in_operations),
        };

        // The field itself is counted as well.
        elsewhere + count(&self.in_fragments) > 1
    }
}

/// One pass over the arguments of a document.
struct Lift<'a> {
    model: &'a Model,
    masked: &'a Masked<'a>,
    /// The scalars at the places of the literals.
    types: Vec<Option<TypeIndex>>,
    /// Whether the pass over the text has not read a literal as apollo-compiler has. Such a document
    /// is not shared, as it would keep others from sharing theirs.
    has_unread: bool,
}

impl Lift<'_> {
    fn selections(&mut self, places: &Places<'_>, set: &SelectionSet, above: Option<usize>) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    if !places.is_merged(field, above) {
                        self.arguments(&set.ty, field);
                    }
                    self.selections(places, &field.selection_set, places.of(field, above));
                }
                Selection::InlineFragment(fragment) => {
                    self.selections(places, &fragment.selection_set, above);
                }
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn arguments(&mut self, parent: &str, field: &Field) {
        let model = self.model;
        let Some(def) = model.field(parent, &field.name) else {
            return;
        };

        for argument in &field.arguments {
            let arg = def
                .args
                .iter()
                .find(|arg| arg.name == argument.name.as_str());
            if let Some(arg) = arg {
                self.value(&arg.ty, &argument.value);
            }
        }
    }

    fn value(&mut self, ty: &TypeExpr, value: &Node<ast::Value>) {
        let model = self.model;
        match (ty.unwrapped(), value.as_ref()) {
            (TypeExpr::List(inner), ast::Value::List(items)) => {
                items.iter().for_each(|item| self.value(inner, item));
            }
            (TypeExpr::Named(index), given) => match (&model.types[*index].kind, given) {
                (TypeKind::Input(input), ast::Value::Object(fields)) => {
                    for (name, value) in fields {
                        if let Some(field) = input.fields.get(name.as_str()) {
                            self.value(&field.ty, value);
                        }
                    }
                }
                (TypeKind::Scalar { .. }, _) => self.scalar(*index, value),
                _ => {}
            },
            // A single value that becomes a list is not lifted: a variable in its place could have
            // any number of values, which decides the work in the database.
            _ => {}
        }
    }

    fn scalar(&mut self, index: TypeIndex, value: &Node<ast::Value>) {
        let offset = value.location().map(|span| span.offset());
        let number = offset.and_then(|offset| self.masked.starting_at(offset));
        if let Some(number) = number {
            if self.masked.value(number).as_ref() == Some(value.as_ref()) {
                self.types[number] = Some(index);
            } else {
                self.has_unread = true;
            }
        }
    }
}
