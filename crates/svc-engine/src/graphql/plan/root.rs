//! The resolvers of root fields, accessible only with the field's admission.

use super::{Plan, PlanField, PlanKind, Selection};
use crate::authz::{self, Coordinate, Roots};
use crate::graphql::error::RequestError;
use crate::limits::Limits;
use svc_core::ErrorCode;
use svc_core::schema::{OnFailure, OperationKind, RootRules, Run, Shape, TargetRow, TypeIndex};

/// The proof that a root field may run.
pub(crate) type Admission<'f> = authz::Admission<'f, PlanField>;

/// The proof that all root fields of a plan may run together, and read all rows.
pub(crate) type AllAdmitted<'p> = authz::AllAdmitted<'p, Plan>;

/// The function or the plan that resolves a root field. Only an admission gives access to it.
#[derive(Debug, Clone, Copy)]
pub struct RootField {
    run: Run,
    row: Option<TypeIndex>,
    rules: RootRules,
}

impl RootField {
    pub(super) fn new(run: Run, row: Option<TypeIndex>, rules: RootRules) -> Self {
        Self { run, row, rules }
    }

    /// The authorization rules of the field.
    pub(crate) fn rules(self) -> RootRules {
        self.rules
    }

    /// Returns the function or plan that resolves the admitted field, and the type of its rows;
    /// `None` for introspection.
    pub(crate) fn of(admission: &Admission<'_>) -> Option<(Run, Option<TypeIndex>)> {
        match admission.field().kind {
            PlanKind::Root(Self { run, row, .. }) => Some((run, row)),
            _ => None,
        }
    }

    /// The type of the rows that it returns, if it returns rows.
    pub fn row(self) -> Option<TypeIndex> {
        self.row
    }

    /// For a field without a body, whether it returns one row or many (its shape), and their type.
    pub(crate) fn planned(self) -> Option<(Shape, TypeIndex)> {
        Some((self.run.planned()?.shape, self.row?))
    }

    /// How a function call is finished if the function returns a failing status.
    pub(crate) fn on_failure(self) -> Option<OnFailure> {
        match self.run {
            Run::Function(function) => Some(function.on_failure),
            _ => None,
        }
    }

    /// The row that the function call acts on.
    pub(crate) fn acts_on(self) -> Option<TargetRow> {
        match self.run {
            Run::Function(function) => function.acts_on,
            _ => None,
        }
    }

    /// The type of the rows that it writes, if it writes to a table.
    pub(crate) fn written_rows(self) -> Option<TypeIndex> {
        match self.run {
            Run::Write(_) => self.row,
            _ => None,
        }
    }

    /// The type of the rows that it writes, if the client's filter selects them.
    pub(crate) fn filtered_rows(self) -> Option<TypeIndex> {
        match self.run {
            Run::Write(write) if write.is_by_filter() => self.row,
            _ => None,
        }
    }

    /// Whether the client's filter may be empty, if it selects the rows that it writes.
    pub(crate) fn allows_empty_filter(self) -> bool {
        matches!(self.run, Run::Write(write) if write.allows_empty_filter())
    }

    /// The maximum number of rows that it writes, if the client's filter selects them.
    pub(crate) fn max_rows(self, limits: &Limits) -> Option<u32> {
        match self.run {
            Run::Write(write) => write.max_rows(limits.max_page),
            _ => None,
        }
    }

    /// Whether it finds rows by node id.
    pub(crate) fn finds_nodes(self) -> bool {
        matches!(self.run, Run::Nodes)
    }

    /// Whether application code produces its events.
    pub(crate) fn has_stream(self) -> bool {
        matches!(self.run, Run::Stream(_))
    }

    /// Whether it runs application code.
    pub(crate) fn needs_code(self) -> bool {
        matches!(self.run, Run::Code(_) | Run::Stream(_))
    }
}

impl PlanField {
    /// Returns the root field, if this is one.
    pub(crate) fn root(&self) -> Option<RootField> {
        match self.kind {
            PlanKind::Root(root) => Some(root),
            _ => None,
        }
    }

    /// The authorization rules of the field; only a root field has any.
    pub(crate) fn rules(&self) -> RootRules {
        match &self.kind {
            PlanKind::Root(root) => root.rules,
            _ => RootRules::NONE,
        }
    }
}

impl Selection {
    /// Returns the number of root fields below the `query` of results; `None` if an operation of
    /// this kind selects no `query`.
    ///
    /// # Errors
    /// Introspection below `query`: it is computed for the root of an operation only.
    pub(super) fn queried(&self, kind: OperationKind) -> Result<Option<usize>, RequestError> {
        if kind != OperationKind::Mutation || self.queries().next().is_none() {
            return Ok(None);
        }

        let mut count = 0;
        for field in self.queries().flat_map(PlanField::below) {
            if matches!(field.kind, PlanKind::Introspection) {
                let message = format!("`{}` is available in queries only", field.name);
                return Err(RequestError::new(
                    ErrorCode::GraphqlValidationFailed,
                    message,
                ));
            }
            count += 1;
        }

        Ok(Some(count))
    }

    /// The fields `query` in the results of these mutations.
    pub(crate) fn queries(&self) -> impl Iterator<Item = &PlanField> {
        self.fields
            .iter()
            .flat_map(PlanField::below)
            .filter(|field| matches!(field.kind, PlanKind::Query))
    }
}

impl Plan {
    /// The root fields, including the fields below the `query` of results.
    pub(crate) fn root_fields(&self) -> impl Iterator<Item = &PlanField> {
        let with_queries = self.has_query.then_some(&*self.root);
        let queries = with_queries.into_iter().flat_map(Selection::queries);
        self.root
            .fields
            .iter()
            .chain(queries.flat_map(PlanField::below))
    }
}

impl PlanField {
    /// The fields below this one, for all types that its value may have.
    pub(crate) fn below(&self) -> impl Iterator<Item = &PlanField> {
        self.children.iter().flat_map(|selection| &selection.fields)
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
        self.root
            .fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.root().is_some())
    }
}
