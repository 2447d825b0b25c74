//! The root field of subscriptions. Response keys count (section 5.2.4.1 of the specification):
//! fields with one key are one field, as in documents with a fragment for each component of a page.
//! apollo-compiler counts selections instead.

use std::collections::HashSet;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::diagnostic::ToCliReport as _;
use apollo_compiler::executable::{Operation, Selection};
use apollo_compiler::validation::DiagnosticData;

/// The name of apollo-compiler's error.
const SEVERAL_FIELDS: &str = "SubscriptionUsesMultipleFields";

/// The subscriptions of a document that have one root field, by their offsets.
pub(crate) struct SingleFields(HashSet<usize>);

impl SingleFields {
    pub(crate) fn of(document: &ExecutableDocument) -> Self {
        let single = document
            .operations
            .iter()
            .filter(|operation| operation.is_subscription() && has_one_key(document, operation));
        Self(
            single
                .filter_map(|operation| Some(operation.location()?.offset()))
                .collect(),
        )
    }

    /// Whether an error reports several root fields for one of these subscriptions.
    pub(crate) fn refute(&self, error: &DiagnosticData) -> bool {
        error.unstable_error_name() == Some(SEVERAL_FIELDS)
            && error
                .location()
                .is_some_and(|span| self.0.contains(&span.offset()))
    }
}

fn has_one_key(document: &ExecutableDocument, operation: &Operation) -> bool {
    let (mut keys, mut seen) = (HashSet::new(), HashSet::new());
    let mut left: Vec<&Selection> = operation.selection_set.selections.iter().collect();
    while let Some(selection) = left.pop() {
        match selection {
            Selection::Field(field) => drop(keys.insert(field.response_key())),
            Selection::InlineFragment(fragment) => left.extend(&fragment.selection_set.selections),
            Selection::FragmentSpread(spread) => {
                // The document has not passed validation, so its fragments may form a cycle.
                let fragment = document.fragments.get(&spread.fragment_name);
                let fragment = fragment.filter(|_| seen.insert(&spread.fragment_name));
                left.extend(
                    fragment
                        .into_iter()
                        .flat_map(|fragment| &fragment.selection_set.selections),
                );
            }
        }
    }

    keys.len() == 1
}
