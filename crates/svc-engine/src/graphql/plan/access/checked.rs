//! Fields guarded by checks in application code, which decide object by object.

use crate::graphql::plan::{PlanKind, RootField};
use crate::graphql::resolver::Method;
use svc_core::schema::{Code, FieldDef, FieldKind, ROW_FUNCTION_COST};

/// The cost that a check adds for each object: like an `async` method, it may call another service.
const COST: u64 = 10;

/// A field that is resolved only for the objects that its checks allow.
///
/// It is a separate kind, so that all code that completes values must handle it: the underlying
/// field cannot be reached without its checks.
#[derive(Debug, Clone, Copy)]
pub struct Checked {
    /// The checks; all must allow the object.
    pub(crate) checks: &'static [&'static dyn Code],
    kind: FieldKind,
}

impl Checked {
    pub(in crate::graphql::plan) fn new(field: &FieldDef) -> Self {
        Self {
            checks: field.checks,
            kind: field.kind,
        }
    }

    /// The source of the value, for allowed objects.
    pub fn kind(self) -> PlanKind {
        // Fails closed: a kind without a source must not become readable.
        PlanKind::of(self.kind).unwrap_or(PlanKind::Denied)
    }

    /// The complexity of its checks.
    pub(in crate::graphql::plan) fn cost(self) -> u64 {
        COST.saturating_mul(self.checks.len().try_into().unwrap_or(u64::MAX))
    }
}

impl PlanKind {
    /// Returns the source of a field's value; `None` for a field that an interface only declares.
    pub(in crate::graphql::plan) fn of(kind: FieldKind) -> Option<Self> {
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
            FieldKind::Function(function, cost) => {
                Self::Function(function, cost.unwrap_or(ROW_FUNCTION_COST))
            }
            FieldKind::Root(run, row, rules) => Self::Root(RootField::new(run, row, rules)),
            FieldKind::Query => Self::Query,
            FieldKind::Promised => return None,
        })
    }
}
