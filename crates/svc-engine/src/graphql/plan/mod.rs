//! Plans: the selections of an operation, merged and resolved against the schema once and run many
//! times.
//!
//! A plan is valid for one combination of values of the Boolean variables in `@skip` and
//! `@include`, so the shape of the response is fixed.

mod access;
mod arguments;
mod cacheable;
mod cost;
mod cost_meter;
mod heap_size;
mod keys;
pub(crate) mod node_id;
mod out_type;
mod planner;
mod root;
mod same;
mod slot;
mod value_rules;

pub(crate) use access::{Checked, Denial, Denials, Touch};
pub(crate) use arguments::ArgPlan;
pub(crate) use cacheable::Cacheable;
pub(crate) use cost::{Asked, Cost};
pub(super) use cost_meter::{CostMeter, FieldMeter};
pub(crate) use keys::Keys;
pub(crate) use node_id::NodeType;
pub(crate) use out_type::{Leaf, OutType};
pub(crate) use planner::Planner;
pub(crate) use root::{Admission, AllAdmitted, RootField};
pub(crate) use slot::Slot;
pub(super) use value_rules::check_rules;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::resolver::Method;
use svc_core::schema::{Gated, OperationKind, Part, Relation, RowFunctionMeta, TypeIndex};
use svc_telemetry::metrics::OperationSlot;

/// A planned operation.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) kind: OperationKind,
    pub(crate) root: Arc<Selection>,
    /// Whether its root fields run in one transaction.
    pub(crate) is_atomic: bool,
    /// Whether it is a mutation with a `query` in a result.
    pub(crate) has_query: bool,
    /// Whether `__schema` or `__type` is selected.
    pub(crate) introspects: bool,
    /// The complexity that introspection adds.
    pub(crate) introspection: u64,
    /// How its response may be cached; `None` if it may not.
    pub(crate) cacheable: Option<Cacheable>,
    /// The cost, cached if it does not depend on variables.
    fixed_cost: OnceLock<Cost>,
    /// The metrics series of its operation.
    pub(crate) series: OperationSlot,
    /// The size of the plan in bytes.
    weight: usize,
    /// The size of the statements of its fields in bytes.
    statements: AtomicUsize,
}

/// The merged fields of one object type at one place in the document.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(crate) type_index: TypeIndex,
    pub(crate) type_name: String,
    pub(crate) fields: Vec<PlanField>,
    /// The keys that the fields read from an object stored as JSON.
    pub(crate) keys: Keys,
    /// The kind of methods called in this selection and below it.
    pub(crate) calls: Calls,
    /// Whether this selection or one below it follows a relation or calls a function of a row.
    /// Completing values already in memory must wait for both.
    pub(crate) relations: bool,
    /// Whether this selection or one below it may touch a gated field, for any values of the
    /// variables.
    pub(crate) gates: bool,
    /// Whether an argument in this selection or below it may have rules on values.
    pub(crate) rules: bool,
}

/// The kind of methods called when a selection runs on rows. A relation calls none: its rows are
/// read with their parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Calls {
    /// Only stored fields: rows are written to the response directly.
    None,
    /// Synchronous methods.
    Sync,
    /// Asynchronous methods, and methods that take all objects of a level.
    Async,
}

/// One field of the response.
#[derive(Debug)]
pub struct PlanField {
    /// The response key: the alias, or else the name.
    pub key: String,
    /// `,"key":`.
    pub(crate) prefix: Box<[u8]>,
    pub name: String,
    /// `Type.field`.
    pub(crate) coordinate: String,
    pub kind: PlanKind,
    pub ty: OutType,
    /// Shared by all fields planned from one place in the document.
    pub args: Arc<[ArgPlan]>,
    pub(crate) children: Children,
    /// The offsets in the document of the first places that select the field.
    pub(crate) offsets: Vec<usize>,
    /// The gated field whose value the field itself reveals; its arguments and the fields below it
    /// may reveal others.
    pub(crate) gated: Option<Gated>,
    /// Whether an error in the field becomes a null there, although its type is non-null.
    pub(crate) is_boundary: bool,
    /// Why the client does not get the field.
    pub(crate) denial: Option<Denial>,
    /// The statements generated for the field.
    pub(crate) statements: Slot,
}

/// The source of a field's value.
#[derive(Debug, Clone, Copy)]
pub enum PlanKind {
    Typename,
    Introspection,
    Stored {
        index: usize,
        stored: &'static str,
    },
    Relation(Relation),
    Part(Part),
    /// A method, and its cost in the complexity.
    Method(Method, u32),
    /// A database function that takes the row, and its cost in the complexity.
    Function(&'static RowFunctionMeta, u32),
    Root(RootField),
    /// The root of queries in the result of a mutation. It has no value of its own: the fields below
    /// it run after the mutation.
    Query,
    /// A field guarded by checks, which run for each object first.
    Checked(Checked),
    /// No source, as the client may not access the field.
    Denied,
}

/// The selections below a field.
#[derive(Debug, Clone)]
pub(crate) enum Children {
    None,
    One(Arc<Selection>),
    /// By the value's object type.
    Any(Arc<[(TypeIndex, Arc<Selection>)]>),
}

impl Plan {
    /// The size of the plan in bytes, including the statements of its fields.
    pub(crate) fn weight(&self) -> usize {
        self.weight + self.statements.load(Ordering::Relaxed)
    }

    /// Adds the bytes of statements stored in the plan and subtracts the bytes of statements
    /// removed from it.
    pub(crate) fn count_statements(&self, came: usize, left: usize) {
        self.statements.fetch_add(came, Ordering::Relaxed);
        self.statements.fetch_sub(left, Ordering::Relaxed);
    }

    /// Returns the first field that runs application code: a resolver, a method or a check.
    pub(crate) fn needs_code(&self) -> Option<&str> {
        let mut seen = HashSet::new();
        self.root.needs_code(&mut seen)
    }
}

impl Selection {
    /// Selections are shared; each is visited once.
    fn needs_code<'a>(&'a self, seen: &mut HashSet<*const Selection>) -> Option<&'a str> {
        if !seen.insert(std::ptr::from_ref(self)) {
            return None;
        }

        self.fields.iter().find_map(|field| match field.kind {
            PlanKind::Method(..) | PlanKind::Checked(_) => Some(field.coordinate.as_str()),
            PlanKind::Root(root) if root.needs_code() => Some(field.coordinate.as_str()),
            _ => field
                .children
                .iter()
                .find_map(|selection| selection.needs_code(seen)),
        })
    }

    /// Whether a method is selected: methods need the whole object.
    pub(crate) fn needs_whole_rows(&self) -> bool {
        self.calls > Calls::None
    }
}

impl Plan {
    /// Whether running the plan can have more than one statement in flight. The rows of a planned
    /// field, and the rows that an event names, are read in one statement together with their
    /// related rows.
    pub(crate) fn may_read_at_once(&self) -> bool {
        // Several root fields of a query run at the same time, each with a separate statement.
        let [field] = self.root.fields.as_slice() else {
            return true;
        };
        let reads_once = |root: RootField| match self.kind {
            OperationKind::Subscription => !root.has_stream(),
            _ => root.planned().is_some(),
        };
        // A method needs whole rows, and related rows are then read with separate statements.
        let is_one_statement = !field.children.needs_whole_rows() || !field.children.wait();
        !field.root().is_some_and(reads_once) || !is_one_statement
    }
}

impl Selection {
    /// Returns the kind of calls made to complete a value already in memory.
    pub(crate) fn waits(&self) -> Calls {
        if self.relations {
            Calls::Async
        } else {
            self.calls
        }
    }
}

impl Children {
    /// The selection for an object type.
    pub(crate) fn of(&self, type_index: TypeIndex) -> Option<&Arc<Selection>> {
        match self {
            Self::None => None,
            Self::One(selection) => Some(selection),
            Self::Any(members) => members
                .iter()
                .find(|(index, _)| *index == type_index)
                .map(|(_, selection)| selection),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Selection>> {
        let (one, any) = match self {
            Self::None => (None, None),
            Self::One(selection) => (Some(selection), None),
            Self::Any(members) => (None, Some(members)),
        };

        one.into_iter().chain(
            any.into_iter()
                .flat_map(|members| members.iter().map(|(_, selection)| selection)),
        )
    }

    /// Whether a method is selected: methods need the whole object.
    pub(crate) fn needs_whole_rows(&self) -> bool {
        self.calls() > Calls::None
    }

    pub(crate) fn calls(&self) -> Calls {
        self.iter()
            .map(|selection| selection.calls)
            .max()
            .unwrap_or(Calls::None)
    }

    /// Whether one of the selections follows a relation or calls a function of a row.
    pub(crate) fn relations(&self) -> bool {
        self.iter().any(|selection| selection.relations)
    }

    /// Returns the kind of calls made to complete values already in memory: to methods, or to the
    /// database for the rows of relations.
    pub(crate) fn waits(&self) -> Calls {
        self.iter()
            .map(|selection| selection.waits())
            .max()
            .unwrap_or(Calls::None)
    }

    /// Whether completing values already in memory has to wait.
    pub(crate) fn wait(&self) -> bool {
        self.waits() == Calls::Async
    }
}

impl PlanField {
    /// Returns the prefix of the field where it is the first one of its object: `"key":`.
    pub(crate) fn first_prefix(&self) -> &[u8] {
        &self.prefix[1..]
    }

    /// The name under which the field's value is stored.
    pub(crate) fn stored(&self) -> Option<&'static str> {
        match self.kind {
            PlanKind::Stored { stored, .. } => Some(stored),
            _ => None,
        }
    }

    /// Returns the kind of calls made to run this field and the fields below it.
    pub(crate) fn calls(&self) -> Calls {
        let own = match self.kind {
            // The fields below it are not a part of the value around it.
            PlanKind::Query => return Calls::None,
            PlanKind::Method(Method::Async(_) | Method::Batch(_), _)
            | PlanKind::Root(..)
            | PlanKind::Checked(_) => Calls::Async,
            PlanKind::Method(Method::Sync(_), _) => Calls::Sync,
            // Methods of related rows need whole rows, and therefore whole parents for the key.
            PlanKind::Relation(_) if self.children.calls() > Calls::None => Calls::Async,
            // Rows inside JSON have no statement that could also read their relations.
            PlanKind::Stored { .. } if self.children.relations() => Calls::Async,
            _ => Calls::None,
        };

        own.max(self.children.calls())
    }

    /// Whether this field or one below it follows a relation, or calls a function of a row.
    pub(crate) fn relations(&self) -> bool {
        self.relation().is_some()
            || matches!(self.kind, PlanKind::Function(..))
            || (self.children.relations() && !matches!(self.kind, PlanKind::Query))
    }

    /// The relation that this field follows.
    pub(crate) fn relation(&self) -> Option<Relation> {
        // Limits and caches have to count the relation whether or not checks guard it.
        let kind = if let PlanKind::Checked(checked) = self.kind {
            checked.kind()
        } else {
            self.kind
        };

        if let PlanKind::Relation(relation) = kind {
            Some(relation)
        } else {
            None
        }
    }
}
