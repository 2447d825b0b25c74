//! The proof that a root field may run.

use std::sync::Arc;

use crate::Error;
use crate::sql::RowFilter;

/// The proof that a root field may run. It holds the field, and whatever runs a root field takes it in the field's place;
/// only the gate makes one.
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

    /// The rows that the field may read, where not all.
    pub(crate) fn row_filter(&self) -> Option<&Arc<RowFilter>> {
        self.row_filter.as_ref()
    }
}

impl<F: Coordinate> Admission<'_, F> {
    /// The same admission for the same field in another plan of the operation, as for an event of which gated fields were
    /// decided about anew; `None` for any other field.
    pub(crate) fn for_same<'e>(&self, field: &'e F) -> Option<Admission<'e, F>> {
        (self.field.coordinate() == field.coordinate()).then(|| Admission::new(field, self.row_filter.clone()))
    }
}

/// The coordinate of a field in the schema, such as `Subscription.postChanged`.
pub(crate) trait Coordinate {
    fn coordinate(&self) -> &str;
}

/// The decision about a field; `None` where nobody decides about it.
pub(crate) type Decided<'f, F> = Option<Result<Admission<'f, F>, Error>>;

/// A planned operation, whose root fields pass the gate.
pub(crate) trait Roots {
    /// A field of it.
    type Field;

    /// The fields that need an admission, each with its place among all fields.
    fn roots(&self) -> impl Iterator<Item = (usize, &Self::Field)>;
}

/// The proof that all root fields of a plan may run together, and read all rows.
#[derive(Debug)]
pub(crate) struct AllAdmitted<'p, P> {
    plan: &'p P,
}

impl<'p, P: Roots> AllAdmitted<'p, P> {
    /// The proof, if there is one root field at least, and an admission without a filter for each.
    pub(crate) fn of(plan: &'p P, decisions: &[Decided<'p, P::Field>]) -> Option<Self> {
        let is_admitted = |(index, field): (usize, &P::Field)| {
            let Some(Some(Ok(admission))) = decisions.get(index) else { return false };
            std::ptr::eq(admission.field, field) && admission.row_filter.is_none()
        };
        (plan.roots().next().is_some() && plan.roots().all(is_admitted)).then_some(Self { plan })
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &'p P {
        self.plan
    }
}
