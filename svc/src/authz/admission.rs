use std::sync::Arc;

use crate::Error;
use crate::engine::{Plan, PlanField, RowFilter};

/// The proof that a root field may run. It holds the field, and whatever runs a root field takes it in the field's place;
/// only the gate makes one.
#[derive(Debug)]
pub(crate) struct Admission<'f> {
    field: &'f PlanField,
    row_filter: Option<Arc<RowFilter>>,
}

impl<'f> Admission<'f> {
    pub(super) fn new(field: &'f PlanField, row_filter: Option<Arc<RowFilter>>) -> Self {
        Self { field, row_filter }
    }

    /// The field.
    pub(crate) fn field(&self) -> &'f PlanField {
        self.field
    }

    /// The rows that the field may read, where not all.
    pub(crate) fn row_filter(&self) -> Option<&Arc<RowFilter>> {
        self.row_filter.as_ref()
    }
}

/// The proof that all root fields of a plan may run together, and read all rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllAdmitted<'p> {
    plan: &'p Plan,
}

impl<'p> AllAdmitted<'p> {
    /// The proof, if there is one root field at least, and an admission without a filter for each.
    pub(crate) fn of(plan: &'p Plan, decisions: &[Option<Result<Admission<'p>, Error>>]) -> Option<Self> {
        let is_admitted = |field: &&PlanField, decision: Option<&Option<Result<Admission<'p>, Error>>>| {
            let Some(Some(Ok(admission))) = decision else { return false };
            std::ptr::eq(admission.field, *field) && admission.row_filter.is_none()
        };
        let roots = || plan.root.fields.iter().enumerate().filter(|(_, field)| field.root().is_some());
        let all = roots().all(|(index, field)| is_admitted(&field, decisions.get(index)));
        (all && roots().next().is_some()).then_some(Self { plan })
    }

    /// The plan.
    pub(crate) fn plan(self) -> &'p Plan {
        self.plan
    }
}
