//! Proof that a root field may run.

use std::sync::Arc;

use crate::sql::RowFilter;
use svc_core::Error;

/// Proof that a root field may run. It contains the field, and every function that runs a root
/// field takes the proof in place of the field. Only the gate creates it.
#[derive(Debug)]
pub(crate) struct Admission<'f, F> {
    field: &'f F,
    row_filter: Option<Arc<RowFilter>>,
}

impl<'f, F> Admission<'f, F> {
    pub(super) fn new(field: &'f F, row_filter: Option<Arc<RowFilter>>) -> Self {
        Self { field, row_filter }
    }

    /// The field.
    pub(crate) fn field(&self) -> &'f F {
        self.field
    }

    /// The rows that the field may read, unless it may read all.
    pub(crate) fn row_filter(&self) -> Option<&Arc<RowFilter>> {
        self.row_filter.as_ref()
    }
}

impl<F: Coordinate> Admission<'_, F> {
    /// The same admission for the same field in another plan of the operation, such as for an event
    /// whose gated fields were decided again; `None` for any other field.
    pub(crate) fn for_same<'e>(&self, field: &'e F) -> Option<Admission<'e, F>> {
        (self.field.coordinate() == field.coordinate())
            .then(|| Admission::new(field, self.row_filter.clone()))
    }
}

/// The coordinate of a field in the schema, such as `Subscription.postChanged`.
pub(crate) trait Coordinate {
    fn coordinate(&self) -> &str;
}

/// The decision about a field; `None` if it needs none.
pub(crate) type Decided<'f, F> = Option<Result<Admission<'f, F>, Error>>;

/// A planned operation with root fields that pass the gate.
pub(crate) trait Roots {
    /// A root field.
    type Field;

    /// The fields that need an admission, each with its index among all fields.
    fn roots(&self) -> impl Iterator<Item = (usize, &Self::Field)>;
}

/// Proof that all root fields of a plan may run together, and read all rows.
#[derive(Debug)]
pub(crate) struct AllAdmitted<'p, P> {
    plan: &'p P,
}

impl<'p, P: Roots> AllAdmitted<'p, P> {
    /// Returns the proof if there is at least one root field, and an admission without a filter for
    /// each.
    pub(crate) fn of(plan: &'p P, decisions: &[Decided<'p, P::Field>]) -> Option<Self> {
        let is_admitted = |(index, field): (usize, &P::Field)| {
            let Some(Some(Ok(admission))) = decisions.get(index) else {
                return false;
            };

            // The same field, not an equal one: the admission of another plan proves nothing about
            // this plan.
            std::ptr::eq(admission.field, field) && admission.row_filter.is_none()
        };

        // `all` is true of no fields, which would be a proof without a decision.
        (plan.roots().next().is_some() && plan.roots().all(is_admitted)).then_some(Self { plan })
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &'p P {
        self.plan
    }
}
