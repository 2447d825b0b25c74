//! The answers of root fields, which nobody learns without the field's admission.

use super::{Plan, PlanField, PlanKind};
use crate::authz::{self, Coordinate, Roots};
use crate::schema::{ActsOn, OnFailure, RootRules, Run, Shape, TypeIndex};

/// The proof that a root field may run.
pub(crate) type Admission<'f> = authz::Admission<'f, PlanField>;

/// The proof that all root fields of a plan may run together, and read all rows.
pub(crate) type AllAdmitted<'p> = authz::AllAdmitted<'p, Plan>;

/// The function or the plan that answers a root field; nobody but an admission gets it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootField {
    run: Run,
    row: Option<TypeIndex>,
    rules: RootRules,
}

impl RootField {
    pub(super) fn new(run: Run, row: Option<TypeIndex>, rules: RootRules) -> Self {
        Self { run, row, rules }
    }

    /// The rules of authorization that stand at it.
    pub(crate) fn rules(self) -> RootRules {
        self.rules
    }

    /// Returns what answers the field that was admitted; `None` for introspection.
    pub(crate) fn of(admission: &Admission<'_>) -> Option<(Run, Option<TypeIndex>)> {
        match admission.field().kind {
            PlanKind::Root(Self { run, row, .. }) => Some((run, row)),
            _ => None,
        }
    }

    /// The type of the rows that it answers with, if it does.
    pub(crate) fn row(self) -> Option<TypeIndex> {
        self.row
    }

    /// The number of rows that a field without a body answers with, and their type.
    pub(crate) fn planned(self) -> Option<(Shape, TypeIndex)> {
        Some((self.run.planned()?.shape, self.row?))
    }

    /// The fate of the call of a function that answers with a failing status.
    pub(crate) fn on_failure(self) -> Option<OnFailure> {
        match self.run {
            Run::Function(function) => Some(function.on_failure),
            _ => None,
        }
    }

    /// The row that the call of a function acts on.
    pub(crate) fn acts_on(self) -> Option<ActsOn> {
        match self.run {
            Run::Function(function) => function.acts_on,
            _ => None,
        }
    }

    /// The type of the rows that it writes, where it writes to a table.
    pub(crate) fn written_rows(self) -> Option<TypeIndex> {
        match self.run {
            Run::Write(_) => self.row,
            _ => None,
        }
    }

    /// Whether it finds rows by the ids of nodes.
    pub(crate) fn finds_nodes(self) -> bool {
        matches!(self.run, Run::Nodes)
    }

    /// Whether a function of the program makes its events.
    pub(crate) fn has_stream(self) -> bool {
        matches!(self.run, Run::Stream(_))
    }

    /// Whether it runs a function of the program.
    pub(crate) fn needs_code(self) -> bool {
        matches!(self.run, Run::Code(_) | Run::Stream(_))
    }
}

impl PlanField {
    /// The root field that it is.
    pub(crate) fn root(&self) -> Option<RootField> {
        match self.kind {
            PlanKind::Root(root) => Some(root),
            _ => None,
        }
    }
}

impl Coordinate for PlanField {
    fn coordinate(&self) -> &str {
        &self.coordinate
    }
}

impl Roots for Plan {
    type Field = PlanField;

    fn roots(&self) -> impl Iterator<Item = (usize, &PlanField)> {
        self.root.fields.iter().enumerate().filter(|(_, field)| field.root().is_some())
    }
}
