//! Fields about which checks of the program decide, object by object.

use super::{PlanKind, RootField};
use crate::engine::resolver::Method;
use crate::schema::{Code, FieldDef, FieldKind, ROW_FUNCTION_COST};

/// The cost that a check adds for each object: as an `async` method, it may ask another service.
const COST: u64 = 10;

/// A field that is answered for the objects that its checks allow.
///
/// It is a kind of its own, so that whatever completes values has to know of it: the field that it stands for cannot be
/// met without its checks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checked {
    /// The checks, of which each must allow.
    pub(crate) checks: &'static [&'static dyn Code],
    kind: FieldKind,
}

impl Checked {
    pub(super) fn new(field: &FieldDef) -> Self {
        Self { checks: field.checks, kind: field.kind }
    }

    /// The source of the value, for objects that are allowed.
    pub(crate) fn kind(self) -> PlanKind {
        PlanKind::of(self.kind).unwrap_or(PlanKind::Denied)
    }

    /// The complexity of its checks.
    pub(super) fn cost(self) -> u64 {
        COST.saturating_mul(self.checks.len().try_into().unwrap_or(u64::MAX))
    }
}

impl PlanKind {
    /// The source of a field's value; `None` where an interface only promises it.
    pub(super) fn of(kind: FieldKind) -> Option<Self> {
        Some(match kind {
            FieldKind::Stored { index, stored } | FieldKind::NodeId { index, stored, .. } => {
                Self::Stored { index, stored }
            }
            FieldKind::Relation(relation) => Self::Relation(relation),
            FieldKind::Part(part) => Self::Part(part),
            FieldKind::Method(code, cost) => {
                let method = Method::of(code);
                Self::Method(method, cost.unwrap_or_else(|| method.default_cost()))
            }
            FieldKind::Function(function, cost) => Self::Function(function, cost.unwrap_or(ROW_FUNCTION_COST)),
            FieldKind::Root(run, row, rules) => Self::Root(RootField::new(run, row, rules)),
            FieldKind::Promised => return None,
        })
    }
}
