//! The execution context of one operation.

pub(super) mod function_arguments;

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::{Name, Value};
use futures_util::future::BoxFuture;
use indexmap::IndexMap;

use super::coerce::Variables;
use super::document::{Document, DocumentCache};
use super::plan::{Admission, ArgPlan, CostMeter, FieldMeter, OutType, Plan, PlanField, Selection};
use super::resolver::{Call, Outcome, ReturnedQuery};
use super::response::{CompletedValue, ExplainedField, Explanation, Path, ResponseBudget};
use crate::authz::{FieldAccess, Gate};
use crate::limits::Limits;
use crate::mutation_result::{failed_sql, is_failure};
use crate::repository::Db;
use crate::request::{Context, ErrorBehavior};
use svc_core::schema::{Model, OperationKind, Relation, RowFunctionMeta};
use svc_core::{Error, ErrorCode};
use svc_postgres::{Database, DbError, Session};

/// The context of executing one operation, from its root fields to the last value.
#[derive(Clone, Copy)]
pub(crate) struct ExecutionContext<'a> {
    pub(crate) model: &'a Model,
    pub(crate) limits: &'a Limits,
    pub(crate) database: &'a Database,
    pub(crate) variables: &'a Variables,
    pub(crate) context: Context<'a>,
    pub(crate) operation: OperationInfo<'a>,
    /// The gate, for fields that are checked for each object.
    pub(crate) gate: &'a Gate,
    /// The effect of an error on the values around it.
    pub(crate) on_error: ErrorBehavior,
    /// Whether an unreachable database gives empty results.
    pub(crate) development: bool,
    /// The cache for statements; `None` if the plan itself is not cached.
    pub(crate) growth: Option<Growth<'a>>,
    /// Reads the rows that values refer to.
    pub(crate) reads: &'a dyn RowReads,
    /// Whether statements leave out values that they cannot read; set after a statement without
    /// this has failed.
    pub(crate) careful: bool,
    /// The bytes of the response so far.
    pub(crate) answer: &'a ResponseBudget,
    /// Counts completed objects, if a hook meters the operation.
    pub(crate) spending: Option<&'a CostMeter>,
    /// The explanation of the operation, if it is requested.
    pub(crate) explanation: Option<&'a Explanation>,
}

/// The row reads that the completion of values waits for.
pub(crate) trait RowReads: Sync {
    /// Follows a relation from many parents, and returns a value for each. A parent is its key, if
    /// it has one, and the path of its field.
    fn relation<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        relation: Relation,
        parents: Vec<(Option<&'a str>, &'a Path<'a>)>,
    ) -> BoxFuture<'a, Vec<CompletedValue>>;

    /// Calls a function for many rows, and returns a value for each. A row is its `id`, if it has
    /// one, and the path of its field.
    fn function<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        function: &'static RowFunctionMeta,
        rows: Vec<(Option<&'a str>, &'a Path<'a>)>,
    ) -> BoxFuture<'a, Vec<CompletedValue>>;

    /// Completes a field whose resolver returned a query.
    fn query<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        query: ReturnedQuery,
        path: &'a Path<'a>,
    ) -> BoxFuture<'a, CompletedValue>;
}

/// The running operation.
#[derive(Clone, Copy)]
pub(crate) struct OperationInfo<'a> {
    pub(crate) kind: OperationKind,
    pub(crate) document: &'a Document,
    /// The `operationName` of the request.
    pub(crate) requested: Option<&'a str>,
}

impl<'a> OperationInfo<'a> {
    /// The name of the operation in the document.
    pub(crate) fn name(&self) -> Option<&'a str> {
        self.document
            .operation(self.requested)
            .ok()?
            .0
            .name
            .as_deref()
    }
}

/// A cached plan, whose weight grows with its statements.
#[derive(Clone, Copy)]
pub(crate) struct Growth<'a> {
    pub(crate) documents: &'a DocumentCache,
    pub(crate) document: &'a Arc<Document>,
    pub(crate) plan: &'a Arc<Plan>,
}

impl Growth<'_> {
    /// Caches a statement of `weight` bytes with the plan if there is room. `keep` returns the
    /// weight of the statements that it removed.
    pub(crate) fn statement(&self, weight: usize, keep: impl FnOnce() -> usize) {
        self.documents.change(self.document, weight, || {
            self.plan.count_statements(weight, keep());
            true
        });
    }
}

impl<'a> ExecutionContext<'a> {
    /// The context for running a statement again after a value in a row has made it fail, which is
    /// logged.
    pub(crate) fn careful(&self, error: &DbError) -> Self {
        tracing::warn!(error = %error, "a stored value does not fit its type; reading its row with safe casts");
        self.with_care()
    }

    /// The context for running a statement again if keys sent by the client may have made it fail.
    pub(crate) fn with_care(&self) -> Self {
        Self {
            careful: true,
            ..*self
        }
    }

    /// Whether an error in a value of this type, which is the field's type or a part of it, becomes
    /// a null in place of the value, rather than of a value around it.
    pub(crate) fn ends_error(&self, field: &PlanField, ty: &OutType) -> bool {
        let is_boundary = field.is_boundary && std::ptr::eq(ty, &field.ty);
        let is_nullable = !ty.nullable().1;
        let ends = self.on_error.ends_at(is_boundary || is_nullable);
        if ends && !is_nullable {
            self.answer.note_forced_null();
        }

        ends
    }

    /// The maximum number of errors that a value keeps: one more than a response shows, to notice
    /// that not all can be shown.
    pub(crate) fn max_errors(&self) -> usize {
        self.limits.errors.saturating_add(1)
    }

    /// Counts completed objects.
    pub(crate) fn spend(&self, selection: &Selection, count: usize) {
        if let Some(spending) = self.spending {
            spending.objects(selection, count);
        }
    }

    /// Starts metering a root field separately if the operation is metered and its first error
    /// halts it.
    pub(crate) fn field_meter(&self, field: &PlanField) -> Option<FieldMeter<'a>> {
        let spending = self.spending?;
        (self.on_error == ErrorBehavior::Halt)
            .then(|| spending.field(field.result_cost(self.model, self.limits, self.variables)))
    }

    /// The context for a root field that is metered separately.
    pub(crate) fn with_spending(&self, spending: &'a CostMeter) -> Self {
        Self {
            spending: Some(spending),
            ..*self
        }
    }

    /// The explanation of a root field, if it is requested.
    #[inline]
    pub(crate) fn explained(&self, field: &PlanField) -> Option<&'a ExplainedField> {
        self.explanation?.field(field)
    }

    /// Records the type of the object that a mutation returns: for a union, the type shows whether
    /// the mutation succeeded.
    pub(crate) fn note_result(&self, field: &PlanField, selection: &Selection) {
        // Called for each object of a response: most are not at the root.
        if field.root().is_none() {
            return;
        }

        let (db, ty) = (self.context.db(), selection.type_index);
        if let Some(ledger) = &db.ledger {
            ledger.answered_with(ty);
        }
        if let Some(atomic) = &db.atomic
            && is_failure(self.model, ty)
        {
            atomic.note_failure(ty);
        }
    }

    /// The context for a root field that may read only some rows; `db` is the database with its row
    /// filter.
    pub(crate) fn with_db(&self, db: &'a Db) -> Self {
        Self {
            context: Context { db, ..self.context },
            ..*self
        }
    }

    /// The context for values that count in another budget.
    pub(crate) fn with_answer(&self, answer: &'a ResponseBudget) -> Self {
        Self { answer, ..*self }
    }

    /// The call of the function behind a root field.
    pub(crate) fn call(&self, admission: &Admission<'_>) -> Result<Call<'_>, Error> {
        Ok(Call::of_root(
            admission,
            &self.context,
            self.parameters(admission.field())?,
        ))
    }

    /// The call of a method.
    pub(crate) fn call_method(&self, field: &PlanField) -> Result<Call<'_>, Error> {
        Ok(Call::of_method(&self.context, self.parameters(field)?))
    }

    /// The access question about a field, which its checks decide for each object.
    pub(crate) fn field_question(&self, field: &PlanField) -> Result<FieldAccess<'_>, Error> {
        Ok(FieldAccess {
            context: self.context,
            name: field.coordinate.clone(),
            guards: &[],
            is_authorized: false,
            arguments: Cow::Owned(field.named_arguments(self.model, self.variables)?),
        })
    }

    /// The values of a function's parameters. Arguments that belong to one parameter become one
    /// object.
    fn parameters(&self, field: &PlanField) -> Result<Vec<Option<Value>>, Error> {
        let values = self.arguments(&field.args)?;
        if !field.args.iter().any(|arg| arg.spread) {
            return Ok(values);
        }

        let mut slots: Vec<Option<Value>> = Vec::new();
        for (arg, value) in field.args.iter().zip(values) {
            slots.resize(slots.len().max(arg.slot + 1), None);
            if !arg.spread {
                slots[arg.slot] = value;
                continue;
            }

            // The object exists even if none of its fields is given, because the parameter is not
            // optional.
            let slot = slots[arg.slot].get_or_insert_with(|| Value::Object(IndexMap::new()));
            if let (Value::Object(fields), Some(value)) = (slot, value) {
                fields.insert(Name::new(&arg.rust), value);
            }
        }

        Ok(slots)
    }

    /// Records the outcome of a resolver in the ledger and returns it. A mutation whose function
    /// has returned a value counts as done, regardless of its effects, unless it is yet to be
    /// committed with others. Errors of its SQL are reported like errors of database function
    /// calls.
    pub(crate) fn noted<'o>(&self, outcome: Outcome<'o>) -> Outcome<'o> {
        let db = self.context.db();
        let Some(ledger) = &db.ledger else {
            return outcome;
        };

        match outcome {
            Ok(value) => {
                if !db.is_enclosed() {
                    ledger.done();
                }
                Ok(value)
            }
            Err(error) => Err(failed_sql(error, &db.app.constraints)),
        }
    }

    /// The session variables of the request.
    pub(crate) fn session(&self) -> &'a Session {
        self.context.db().session()
    }

    /// The coerced value of an argument; `None` is absent.
    pub(crate) fn argument(&self, arg: &'a ArgPlan) -> Result<Option<Cow<'a, Value>>, Error> {
        arg.value(self.model, self.variables)
            .map_err(|error| Error::new(ErrorCode::BadUserInput, error.message))
    }

    /// The coerced arguments of a field.
    pub(crate) fn arguments(&self, args: &[ArgPlan]) -> Result<Vec<Option<Value>>, Error> {
        args.iter()
            .map(|arg| Ok(self.argument(arg)?.map(Cow::into_owned)))
            .collect()
    }
}
