//! Whether the response of a plan may be cached.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::{PlanField, PlanKind, Selection};
use crate::graphql::heap_size::slice;
use svc_core::schema::{Model, OperationKind, TypeIndex};

/// How the response of a plan may be cached.
#[derive(Debug)]
pub(crate) struct Cacheable {
    /// The shortest cache time of its root fields.
    pub(crate) ttl: Duration,
    /// The types of rows that the plan itself reads.
    pub(crate) types: Box<[TypeIndex]>,
    /// These types, and all types that their row policies may read.
    pub(crate) reach: Box<[TypeIndex]>,
}

impl Cacheable {
    /// Returns the rule for a query. `None` if a root field has no cache time, if checks of single
    /// objects also affect the response, or if the query has introspection, which has its own
    /// response.
    pub(super) fn of(model: &Model, kind: OperationKind, root: &Arc<Selection>) -> Option<Self> {
        let fields = || {
            root.fields
                .iter()
                .filter(|field| !matches!(field.kind, PlanKind::Typename))
        };

        // `None` is less than every time, so one field without a cache time rules out caching.
        let ttl = fields()
            .map(|field| field.root().and_then(|root| root.rules().cache))
            .min()??;
        let mut reads = Reads {
            model,
            types: BTreeSet::new(),
            follows: false,
            checks: false,
            seen: HashSet::new(),
        };

        if kind != OperationKind::Query || !fields().all(|field| field.root().is_some()) {
            return None;
        }

        reads.selection(root);

        // A check decides for one client and one object, and a cached response may go to others.
        if reads.checks {
            return None;
        }

        let reach: BTreeSet<_> = root
            .reachable(model)
            .into_iter()
            .chain(reads.types.iter().copied())
            .collect();

        // A condition may depend on the rows of every type that relations lead to, and variables
        // may name it only when the plan runs.
        let types = if reads.follows {
            reach.clone()
        } else {
            reads.types
        };

        let boxed = |types: BTreeSet<TypeIndex>| types.into_iter().collect();

        Some(Self {
            ttl: Duration::from_secs(ttl.into()),
            types: boxed(types),
            reach: boxed(reach),
        })
    }

    /// Bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        slice::<TypeIndex>(self.types.len()) + slice::<TypeIndex>(self.reach.len())
    }
}

/// Collects the types of rows that a plan reads.
struct Reads<'a> {
    model: &'a Model,
    types: BTreeSet<TypeIndex>,
    /// Whether arguments may follow relations to further types.
    follows: bool,
    /// Whether checks run on objects.
    checks: bool,
    /// Selections are shared; each is visited once.
    seen: HashSet<*const Selection>,
}

impl Reads<'_> {
    fn selection(&mut self, selection: &Arc<Selection>) {
        if !self.seen.insert(Arc::as_ptr(selection)) {
            return;
        }

        for field in &selection.fields {
            self.field(field);
            field
                .children
                .iter()
                .for_each(|children| self.selection(children));
        }
    }

    fn field(&mut self, field: &PlanField) {
        self.checks |= matches!(field.kind, PlanKind::Checked(_));
        self.follows |= field.args.iter().any(|arg| arg.follows_relations());
        let relation = field
            .relation()
            .into_iter()
            .flat_map(|relation| [Some(relation.row), relation.joining]);
        let relation = relation.flatten();
        let rows = field
            .root()
            .and_then(|root| root.row())
            .into_iter()
            .chain(relation);

        let selected = field.children.iter().map(|children| children.type_index);
        for index in rows.chain(selected) {
            self.types.extend(self.model.possible_types(index));
            self.types.insert(index);
        }

        // The plan cannot see the rows that a function reads in its body; the field declares their
        // types.
        let named = field
            .root()
            .into_iter()
            .flat_map(|root| root.rules().touches);

        self.types
            .extend(named.filter_map(|row| self.model.by_rust.get(&row())));
    }
}
