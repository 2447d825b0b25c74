//! Breaks documents: for each validation rule some ways that (mostly) break it.

mod operations;
mod selections;
mod values;

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

use super::document::{Document, FieldNode, Fragment, Operation, Selection};

/// The rules, by the names of graphql-js, and how each is broken.
pub(super) const RULES: [(&str, Break); 26] = [
    (
        "ExecutableDefinitionsRule",
        operations::executable_definitions,
    ),
    (
        "UniqueOperationNamesRule",
        operations::unique_operation_names,
    ),
    (
        "LoneAnonymousOperationRule",
        operations::lone_anonymous_operation,
    ),
    (
        "SingleFieldSubscriptionsRule",
        operations::single_field_subscriptions,
    ),
    ("KnownTypeNamesRule", operations::known_type_names),
    (
        "FragmentsOnCompositeTypesRule",
        operations::fragments_on_composite_types,
    ),
    (
        "VariablesAreInputTypesRule",
        operations::variables_are_input_types,
    ),
    ("ScalarLeafsRule", selections::scalar_leafs),
    (
        "FieldsOnCorrectTypeRule",
        selections::fields_on_correct_type,
    ),
    ("UniqueFragmentNamesRule", selections::unique_fragment_names),
    ("KnownFragmentNamesRule", selections::known_fragment_names),
    ("NoUnusedFragmentsRule", selections::no_unused_fragments),
    (
        "PossibleFragmentSpreadsRule",
        selections::possible_fragment_spreads,
    ),
    ("NoFragmentCyclesRule", selections::no_fragment_cycles),
    ("UniqueVariableNamesRule", operations::unique_variable_names),
    (
        "NoUndefinedVariablesRule",
        operations::no_undefined_variables,
    ),
    ("NoUnusedVariablesRule", operations::no_unused_variables),
    ("KnownDirectivesRule", values::known_directives),
    ("UniqueDirectivesPerLocationRule", values::unique_directives),
    ("KnownArgumentNamesRule", values::known_argument_names),
    ("UniqueArgumentNamesRule", values::unique_argument_names),
    ("ValuesOfCorrectTypeRule", values::values_of_correct_type),
    (
        "ProvidedRequiredArgumentsRule",
        values::provided_required_arguments,
    ),
    (
        "VariablesInAllowedPositionRule",
        values::variables_in_allowed_position,
    ),
    (
        "OverlappingFieldsCanBeMergedRule",
        selections::overlapping_fields,
    ),
    (
        "UniqueInputFieldNamesRule",
        values::unique_input_field_names,
    ),
];

/// Breaks a document.
pub(super) type Break = fn(&mut Breaker<'_>);

/// A document that is being broken.
pub(super) struct Breaker<'a> {
    pub(super) random: &'a mut StdRng,
    pub(super) document: &'a mut Document,
}

impl Breaker<'_> {
    fn one<T: Copy>(&mut self, choices: &[T]) -> T {
        *choices.choose(self.random).unwrap()
    }

    /// Puts text into a random selection set.
    fn insert(&mut self, text: impl Into<String>) {
        self.insert_where(&|_| true, text);
    }

    /// Puts text into a random selection set of one of these types, or of the root.
    fn insert_where(&mut self, fits: &dyn Fn(&str) -> bool, text: impl Into<String>) {
        let mut count = 0;
        self.document
            .visit(&mut |parent, _| count += usize::from(fits(parent)));
        let chosen = self.random.random_range(0..count.max(1));
        let (mut index, text, random) = (0, text.into(), &mut *self.random);
        self.document.visit(&mut |parent, set| {
            if fits(parent) {
                if index == chosen {
                    set.insert(
                        random.random_range(0..=set.len()),
                        Selection::Raw(text.clone()),
                    );
                }
                index += 1;
            }
        });
    }

    /// Puts text into a query's root.
    fn insert_root(&mut self, text: impl Into<String>) {
        self.query().set.push(Selection::Raw(text.into()));
    }

    /// A query of the document; one is added when there is none.
    fn query(&mut self) -> &mut Operation {
        let found = self
            .document
            .operations
            .iter()
            .position(|operation| operation.kind == "query");
        let index = found.unwrap_or_else(|| {
            let name = Some("Added".to_owned());
            self.document.operations.push(Operation {
                kind: "query",
                name,
                variables: Vec::new(),
                directives: Vec::new(),
                set: vec![Selection::Raw("__typename".to_owned())],
            });
            self.document.operations.len() - 1
        });
        &mut self.document.operations[index]
    }

    /// Declares a variable in a query.
    fn declare(&mut self, name: &str, ty: &str, default: Option<&str>) {
        let variable = super::document::Variable {
            name: name.to_owned(),
            ty: ty.to_owned(),
            default: default.map(str::to_owned),
        };
        self.query().variables.push(variable);
    }

    /// Changes a random field.
    fn change(
        &mut self,
        fits: &dyn Fn(&str, &FieldNode) -> bool,
        change: &mut dyn FnMut(&mut FieldNode),
    ) {
        let mut count = 0;
        self.fields(&mut |parent, field| count += usize::from(fits(parent, field)));
        let chosen = self.random.random_range(0..count.max(1));
        let mut index = 0;
        self.fields(&mut |parent, field| {
            if fits(parent, field) {
                if index == chosen {
                    change(field);
                }
                index += 1;
            }
        });
    }

    fn fields(&mut self, visit: &mut dyn FnMut(&str, &mut FieldNode)) {
        self.document.visit(&mut |parent, set| {
            for selection in set {
                if let Selection::Field(field) = selection {
                    visit(parent, field);
                }
            }
        });
    }

    fn fragment(&mut self, name: &str, on: &str, text: &str) {
        let set = vec![Selection::Raw(text.to_owned())];
        self.document.fragments.push(Fragment {
            name: name.to_owned(),
            on: on.to_owned(),
            set,
        });
    }
}
