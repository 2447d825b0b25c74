//! The number of steps for merging fields. Fields with the same key are merged, and so are the
//! selections below them; aliases that spread different sets of the same fragments produce as many
//! merged sets as there are sets, again on each level. The sets are counted as validation will
//! merge them, and counting stops at the allowed number of steps.

use std::collections::HashSet;

use ahash::{HashMap, HashMapExt as _};
use apollo_compiler::ExecutableDocument;
use apollo_compiler::Node;
use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Field, Selection, SelectionSet};
use indexmap::IndexMap;

use svc_core::schema::{Model, TypeKind};

/// Validation follows merged fields to this depth.
const MAX_DEPTH: usize = 128;

/// Whether merging the fields of a document takes more than `most` steps.
pub(crate) fn exceeds(model: &Model, document: &ExecutableDocument, most: usize) -> bool {
    let mut merging = MergeCost {
        model,
        document,
        left: most,
        weights: HashMap::new(),
        known: [const { None }; 2],
    };

    // Validation merges twice: by key, and by key and type.
    let merged = document.operations.iter().try_for_each(|operation| {
        merging.merge(&[&operation.selection_set], By::Key, 0)?;
        merging.merge(&[&operation.selection_set], By::KeyAndType, 0)
    });

    merged.is_none()
}

/// The grouping of one pass of merging: fields with the same key, or with the same key and type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Key,
    KeyAndType,
}

/// The steps for processing a field.
#[derive(Clone, Copy)]
struct Weight {
    /// The whole field: validation computes its hash.
    whole: usize,
    /// Its arguments: validation compares them with the arguments of the first field with the key.
    arguments: usize,
}

struct MergeCost<'a> {
    model: &'a Model,
    document: &'a ExecutableDocument,
    left: usize,
    weights: HashMap<*const Field, Weight>,
    /// The lists of selection sets that are already merged.
    known: [Option<HashSet<Vec<*const SelectionSet>, ahash::RandomState>>; 2],
}

/// A field, and the type that it is selected on.
#[derive(Clone, Copy)]
struct Selected<'a> {
    parent: &'a str,
    field: &'a Node<Field>,
}

impl<'a> MergeCost<'a> {
    /// Counts the steps of merging selection sets and everything below them; `None` if no steps are
    /// left.
    fn merge(&mut self, sets: &[&'a SelectionSet], by: By, depth: usize) -> Option<()> {
        let key = sets.iter().map(|set| std::ptr::from_ref(*set)).collect();
        if depth > MAX_DEPTH || !self.known[by as usize].get_or_insert_default().insert(key) {
            return Some(());
        }

        let mut groups: IndexMap<&str, Vec<Selected<'a>>, ahash::RandomState> = IndexMap::default();
        for selected in self.collect(sets)? {
            groups
                .entry(selected.field.response_key().as_str())
                .or_default()
                .push(selected);
        }

        for group in groups.into_values() {
            match by {
                By::Key => self.below(&group, by, depth)?,
                By::KeyAndType => {
                    for group in self.by_type(group) {
                        let compared = group[1..]
                            .iter()
                            .map(|selected| self.weight(selected.field).arguments);
                        let compared = compared.sum();
                        self.take(compared)?;
                        self.below(&group, by, depth)?;
                    }
                }
            }
        }

        Some(())
    }

    fn below(&mut self, group: &[Selected<'a>], by: By, depth: usize) -> Option<()> {
        let sets = group.iter().map(|selected| &selected.field.selection_set);
        let sets: Vec<_> = sets.filter(|set| !set.selections.is_empty()).collect();
        if sets.is_empty() {
            Some(())
        } else {
            self.merge(&sets, by, depth + 1)
        }
    }

    /// All fields of selection sets, each fragment once.
    fn collect(&mut self, sets: &[&'a SelectionSet]) -> Option<Vec<Selected<'a>>> {
        let (mut fields, mut sets, mut next) = (Vec::new(), sets.to_vec(), 0);
        let mut spread = HashSet::<&str, ahash::RandomState>::default();
        while let Some(&set) = sets.get(next) {
            next += 1;

            for selection in &set.selections {
                self.take(1)?;

                match selection {
                    Selection::Field(field) => {
                        let weight = self.weight(field).whole;
                        self.take(weight)?;
                        fields.push(Selected {
                            parent: set.ty.as_str(),
                            field,
                        });
                    }
                    Selection::InlineFragment(inline) => sets.push(&inline.selection_set),
                    Selection::FragmentSpread(one) => {
                        let fragment = self.document.fragments.get(&one.fragment_name);
                        let new = spread.insert(one.fragment_name.as_str());
                        sets.extend(
                            fragment
                                .filter(|_| new)
                                .map(|fragment| &fragment.selection_set),
                        );
                    }
                }
            }
        }

        Some(fields)
    }

    /// Groups the fields by object type. Each group also gets the fields of interfaces and unions,
    /// because an object may be of these types as well.
    fn by_type(&self, group: Vec<Selected<'a>>) -> Vec<Vec<Selected<'a>>> {
        let is_object = |name: &str| {
            // Types of introspection are not in the model.
            self.model
                .type_named(name)
                .is_none_or(|(_, def)| matches!(def.kind, TypeKind::Object(_)))
        };

        let (objects, others): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|one| is_object(one.parent));
        if objects.is_empty() {
            return vec![others];
        }

        let mut groups: IndexMap<&str, Vec<Selected<'a>>, ahash::RandomState> = IndexMap::default();
        for one in objects {
            groups.entry(one.parent).or_default().push(one);
        }

        groups.values_mut().for_each(|group| group.extend(&others));

        groups.into_values().collect()
    }

    fn take(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    fn weight(&mut self, field: &Node<Field>) -> Weight {
        let key = std::ptr::from_ref(field.as_ref());
        if let Some(known) = self.weights.get(&key) {
            return *known;
        }

        let arguments = || {
            field
                .arguments
                .iter()
                .map(|argument| argument.value.as_ref())
        };

        let below = self.set(&field.selection_set);
        let weight = Weight {
            whole: 1 + field.directives.len() + arguments().map(size).sum::<usize>() + below,
            arguments: 1 + arguments().map(comparison).sum::<usize>(),
        };

        self.weights.insert(key, weight);

        weight
    }

    fn set(&mut self, set: &SelectionSet) -> usize {
        let selections = set.selections.iter().map(|selection| match selection {
            Selection::Field(field) => self.weight(field).whole,
            Selection::InlineFragment(inline) => 1 + self.set(&inline.selection_set),
            Selection::FragmentSpread(_) => 1,
        });
        selections.sum()
    }
}

/// The number of values in a value.
fn size(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(|item| size(item)).sum::<usize>(),
        Value::Object(fields) => 1 + fields.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// The steps of a comparison with a value of the same form: for each key of an object the other's
/// keys are searched.
fn comparison(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(|item| comparison(item)).sum::<usize>(),
        Value::Object(fields) => {
            1 + fields.len() * fields.len() / 8
                + fields
                    .iter()
                    .map(|(_, value)| comparison(value))
                    .sum::<usize>()
        }
        _ => 1,
    }
}
