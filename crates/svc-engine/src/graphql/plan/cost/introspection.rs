//! The cost of introspection. The query that tools send to read the whole schema costs at most a
//! third of the allowed complexity, however large the schema is. Other queries cost in proportion.

use std::collections::HashSet;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Field, Selection, SelectionSet};

use svc_core::schema::{Extent, Lengths};

/// The maximum number of fields returned for each element of the schema; the query of tools returns
/// at most 36.
const FIELDS: u64 = 108;
/// The number of fields that may be returned however small the schema is.
const ANYWAY: u64 = 1_000;

/// Counts the fields that introspection would return, before it runs.
pub(crate) struct IntrospectionCost<'a> {
    extent: &'a Extent,
    document: &'a ExecutableDocument,
    fields: u64,
}

/// The objects that a selection applies to.
#[derive(Debug, Clone, Copy)]
struct Objects {
    count: u64,
    /// How many times the objects comprise all objects of their kind in the schema; 0 if they may
    /// be any objects.
    whole: u64,
}

impl Objects {
    fn listed(self, list: Lengths) -> Self {
        match self.whole {
            // The same object may have been reached many times, so each counts with the longest
            // list.
            0 => Self {
                count: self.count.saturating_mul(list.longest),
                whole: 0,
            },
            whole => Self {
                count: whole.saturating_mul(list.total),
                whole,
            },
        }
    }

    fn all(self, count: u64) -> Self {
        Self {
            count: self.count.saturating_mul(count),
            whole: self.count,
        }
    }

    /// The same number of objects, which may be any.
    fn any(self) -> Self {
        Self { whole: 0, ..self }
    }
}

impl<'a> IntrospectionCost<'a> {
    pub(crate) fn new(extent: &'a Extent, document: &'a ExecutableDocument) -> Self {
        Self {
            extent,
            document,
            fields: 0,
        }
    }

    /// Adds a root field. `@skip` and `@include` are ignored: skipped fields count as well.
    pub(crate) fn add(&mut self, field: &'a Field) {
        self.fields += 1;
        self.selections(&field.selection_set, Objects { count: 1, whole: 0 });
    }

    /// Returns the total cost as a share of the allowed complexity; it exceeds `allowed` if there
    /// are too many fields.
    pub(crate) fn complexity(&self, allowed: u64) -> u64 {
        // Rounded up, so that one field above the maximum already exceeds `allowed`.
        let cost =
            (u128::from(allowed) * u128::from(self.fields)).div_ceil(u128::from(self.most()));
        u64::try_from(cost).unwrap_or(u64::MAX)
    }

    fn most(&self) -> u64 {
        self.extent.elements() * FIELDS + ANYWAY
    }

    /// Stops counting above the maximum, which also bounds the time for fragments that double at
    /// each level.
    fn selections(&mut self, set: &'a SelectionSet, objects: Objects) {
        let (mut sets, mut next, mut spread) = (vec![set], 0, HashSet::new());
        while let Some(&set) = sets.get(next) {
            next += 1;

            for selection in &set.selections {
                if self.fields > self.most() {
                    return;
                }

                match selection {
                    Selection::Field(field) => {
                        // At least 1: otherwise fragments below an empty list would be walked
                        // without ever reaching the maximum.
                        self.fields = self.fields.saturating_add(objects.count.max(1));
                        let below = self.below(set.ty.as_str(), field.name.as_str(), objects);
                        self.selections(&field.selection_set, below);
                    }
                    Selection::InlineFragment(inline) => sets.push(&inline.selection_set),
                    Selection::FragmentSpread(one) => {
                        let fragment = self.document.fragments.get(&one.fragment_name);

                        // A fragment that is spread twice into one selection set adds its fields
                        // once (GraphQL specification, CollectFields).
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
    }

    fn below(&self, parent: &str, field: &str, objects: Objects) -> Objects {
        let extent = self.extent;
        match (parent, field) {
            ("__Schema", "types") => objects.all(extent.types),
            ("__Schema", "directives") => objects.all(extent.directives),
            ("__Type", "fields") => objects.listed(extent.fields),
            ("__Type", "inputFields") => objects.listed(extent.input_fields),
            ("__Type", "enumValues") => objects.listed(extent.enum_values),
            ("__Type", "interfaces") => objects.listed(extent.interfaces).any(),
            ("__Type", "possibleTypes") => objects.listed(extent.possible_types).any(),
            ("__Field", "args") => objects.listed(extent.arguments),
            ("__Directive", "args") => objects.listed(extent.directive_arguments),
            _ => objects.any(),
        }
    }
}
