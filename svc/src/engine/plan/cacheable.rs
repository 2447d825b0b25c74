//! Whether the answer of a plan may be kept.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::{PlanField, PlanKind, Selection};
use crate::engine::weight::slice;
use crate::schema::{Model, OperationKind, TypeIndex};

/// The rule by which the answer of a plan may be kept.
#[derive(Debug)]
pub(crate) struct Cacheable {
    /// The least of the times that its root fields say.
    pub(crate) ttl: Duration,
    /// The types of rows that it reads by itself.
    pub(crate) types: Box<[TypeIndex]>,
    /// Those, and all that policies of theirs may look at.
    pub(crate) reach: Box<[TypeIndex]>,
}

impl Cacheable {
    /// The rule of a query; `None` where a root field names no time, or where more than the request decides what the
    /// answer holds: checks of single objects, and introspection, which has an answer of its own.
    pub(super) fn of(model: &Model, kind: OperationKind, root: &Arc<Selection>) -> Option<Self> {
        let fields = || root.fields.iter().filter(|field| !matches!(field.kind, PlanKind::Typename));
        let ttl = fields().map(|field| field.root().and_then(|root| root.rules().cache)).min()??;
        let mut reads = Reads { model, types: BTreeSet::new(), follows: false, checks: false, seen: HashSet::new() };
        if kind != OperationKind::Query || !fields().all(|field| field.root().is_some()) {
            return None;
        }
        reads.selection(root);
        if reads.checks {
            return None;
        }
        let reach: BTreeSet<_> = root.reachable(model).into_iter().chain(reads.types.iter().copied()).collect();
        let types = if reads.follows { reach.clone() } else { reads.types };
        let boxed = |types: BTreeSet<TypeIndex>| types.into_iter().collect();
        Some(Self { ttl: Duration::from_secs(ttl.into()), types: boxed(types), reach: boxed(reach) })
    }

    /// Bytes on the heap.
    pub(super) fn weight(&self) -> usize {
        slice::<TypeIndex>(self.types.len()) + slice::<TypeIndex>(self.reach.len())
    }
}

/// The types of rows that a plan reads.
struct Reads<'a> {
    model: &'a Model,
    types: BTreeSet<TypeIndex>,
    /// Whether arguments may follow relations to more of them.
    follows: bool,
    /// Whether checks look at objects.
    checks: bool,
    /// Selections are shared, so each is looked into once.
    seen: HashSet<*const Selection>,
}

impl Reads<'_> {
    fn selection(&mut self, selection: &Arc<Selection>) {
        if !self.seen.insert(Arc::as_ptr(selection)) {
            return;
        }
        for field in &selection.fields {
            self.field(field);
            field.children.iter().for_each(|children| self.selection(children));
        }
    }

    fn field(&mut self, field: &PlanField) {
        self.checks |= matches!(field.kind, PlanKind::Checked(_));
        self.follows |= field.args.iter().any(|arg| arg.follows_relations());
        let relation = field.relation().into_iter().flat_map(|relation| [Some(relation.row), relation.joining]);
        let relation = relation.flatten();
        let rows = field.root().and_then(|root| root.row()).into_iter().chain(relation);
        let selected = field.children.iter().map(|children| children.type_index);
        for index in rows.chain(selected) {
            self.types.extend(self.model.possible_types(index));
            self.types.insert(index);
        }
        let named = field.root().into_iter().flat_map(|root| root.rules().touches);
        self.types.extend(named.filter_map(|row| self.model.by_rust.get(&row())));
    }
}
