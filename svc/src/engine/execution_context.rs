//! The execution context: what executing one operation carries along.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::{Name, Value};
use futures_util::future::BoxFuture;
use indexmap::IndexMap;

use super::answer_bytes::AnswerBytes;
use super::cache::DocumentCache;
use super::coerce::Variables;
use super::completed_value::CompletedValue;
use super::document::Document;
use super::explanation::{ExplainedField, Explanation};
use super::path::Path;
use super::plan::{Admission, ArgPlan, Plan, PlanField, Selection};
use super::resolver::{Call, Outcome, ReturnedQuery};
use super::spending::Spending;
use crate::application::Limits;
use crate::authz::{FieldQuestion, Gate};
use crate::mutation::failed_sql;
use crate::postgres::{Database, DbError, Session};
use crate::repository::Db;
use crate::request::Context;
use crate::schema::{Model, OperationKind, Relation, RowFunctionMeta};
use crate::{Error, ErrorCode};

/// The context of executing one operation, from its root fields to the last value.
#[derive(Clone, Copy)]
pub(crate) struct ExecutionContext<'a> {
    pub(crate) model: &'a Model,
    pub(crate) limits: &'a Limits,
    pub(crate) database: &'a Database,
    pub(crate) variables: &'a Variables,
    pub(crate) context: Context<'a>,
    pub(crate) operation: OperationInfo<'a>,
    /// The gate, for fields whose checks look at objects.
    pub(crate) gate: &'a Gate,
    /// Whether a database that is away gives empty results.
    pub(crate) development: bool,
    /// The place where statements are kept; `None` when the plan is not kept either.
    pub(crate) growth: Option<Growth<'a>>,
    /// The reads of rows that values lead to.
    pub(crate) reads: &'a dyn RowReads,
    /// Whether statements leave out values that they cannot read, as one without care has failed.
    pub(crate) careful: bool,
    /// The bytes of the answer so far.
    pub(crate) answer: &'a AnswerBytes,
    /// The count of what is completed, where somebody wants to know it.
    pub(crate) spending: Option<&'a Spending>,
    /// The explanation of the operation, where it is asked for.
    pub(crate) explanation: Option<&'a Explanation>,
}

/// The reads of rows that completing values waits for.
pub(crate) trait RowReads: Sync {
    /// Follows a relation from many parents; a value for each. A parent is its key, if it has one, and its field's path.
    fn relation<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        relation: Relation,
        parents: Vec<(Option<&'a str>, &'a Path<'a>)>,
    ) -> BoxFuture<'a, Vec<CompletedValue>>;

    /// Calls a function for many rows; a value for each. A row is its `id`, if it has one, and its field's path.
    fn function<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        function: &'static RowFunctionMeta,
        rows: Vec<(Option<&'a str>, &'a Path<'a>)>,
    ) -> BoxFuture<'a, Vec<CompletedValue>>;

    /// Answers a field whose resolver returned a query.
    fn query<'a>(
        &self,
        cx: &'a ExecutionContext<'a>,
        field: &'a PlanField,
        query: ReturnedQuery,
        path: &'a Path<'a>,
    ) -> BoxFuture<'a, CompletedValue>;
}

/// The operation that runs.
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
        self.document.operation(self.requested).ok()?.0.name.as_deref()
    }
}

/// A plan that is kept, and may get heavier by statements.
#[derive(Clone, Copy)]
pub(crate) struct Growth<'a> {
    pub(crate) documents: &'a DocumentCache,
    pub(crate) document: &'a Arc<Document>,
    pub(crate) plan: &'a Arc<Plan>,
}

impl Growth<'_> {
    /// Keeps a statement of `weight` bytes with the plan, if there is room; `keep` says what those weighed that went.
    pub(crate) fn statement(&self, weight: usize, keep: impl FnOnce() -> usize) {
        self.documents.change(self.document, weight, || {
            self.plan.count_statements(weight, keep());
            true
        });
    }
}

impl<'a> ExecutionContext<'a> {
    /// The same for a statement that is run again, as a value in a row has failed it.
    pub(crate) fn careful(&self, error: &DbError) -> Self {
        tracing::warn!(error = %error, "a stored value breaks its type; its row is read with care");
        self.with_care()
    }

    /// The same for a statement whose keys of a client may be at fault.
    pub(crate) fn with_care(&self) -> Self {
        Self { careful: true, ..*self }
    }

    /// Counts objects that are completed.
    pub(crate) fn spend(&self, selection: &Selection, count: usize) {
        if let Some(spending) = self.spending {
            spending.objects(selection, count);
        }
    }

    /// The explanation of a root field, where it is asked for.
    pub(crate) fn explained(&self, field: &PlanField) -> Option<&'a ExplainedField> {
        self.explanation?.field(field)
    }

    /// Notes the type of an object that a mutation answers with: of a union, that says whether it succeeded.
    pub(crate) fn note_result(&self, field: &PlanField, selection: &Selection) {
        // Asked for each object of an answer: most are not at the root.
        if field.root().is_some()
            && let Some(ledger) = &self.context.db().ledger
        {
            ledger.answered_with(selection.type_index);
        }
    }

    /// The same for a root field that may read some rows only; `db` is the database with its row filter.
    pub(crate) fn with_db(&self, db: &'a Db) -> Self {
        Self { context: Context { db, ..self.context }, ..*self }
    }

    /// The call of the function behind a root field.
    pub(crate) fn call(&self, admission: &Admission<'_>) -> Result<Call<'_>, Error> {
        Ok(Call::of_root(admission, &self.context, self.parameters(admission.field())?))
    }

    /// The call of a method.
    pub(crate) fn call_method(&self, field: &PlanField) -> Result<Call<'_>, Error> {
        Ok(Call::of_method(&self.context, self.parameters(field)?))
    }

    /// The question that the checks of a field are asked about each object.
    pub(crate) fn field_question(&self, field: &PlanField) -> Result<FieldQuestion<'_>, Error> {
        Ok(FieldQuestion {
            context: self.context,
            name: field.coordinate.clone(),
            guards: &[],
            is_authorized: false,
            arguments: Cow::Owned(field.named_arguments(self.model, self.variables)?),
        })
    }

    /// The values of a function's parameters. Arguments that one parameter stands for become one object.
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
            let slot = slots[arg.slot].get_or_insert_with(|| Value::Object(IndexMap::new()));
            if let (Value::Object(fields), Some(value)) = (slot, value) {
                fields.insert(Name::new(&arg.rust), value);
            }
        }
        Ok(slots)
    }

    /// Notes the outcome of a resolver in the ledger and returns it. A mutation whose function has returned a value is
    /// done, whatever it did; what its SQL has broken is told as of calls.
    pub(crate) fn noted<'o>(&self, outcome: Outcome<'o>) -> Outcome<'o> {
        let Some(ledger) = &self.context.db().ledger else { return outcome };
        match outcome {
            Ok(value) => {
                ledger.done();
                Ok(value)
            }
            Err(error) => Err(failed_sql(error, &self.context.db().app.constraints)),
        }
    }

    /// The session variables of the request.
    pub(crate) fn session(&self) -> &'a Session {
        self.context.db().session()
    }

    /// The coerced value of an argument; `None` is absent.
    pub(crate) fn argument(&self, arg: &'a ArgPlan) -> Result<Option<Cow<'a, Value>>, Error> {
        arg.value(self.model, self.variables).map_err(|error| Error::new(ErrorCode::BadUserInput, error.message))
    }

    /// The coerced arguments of a field.
    pub(crate) fn arguments(&self, args: &[ArgPlan]) -> Result<Vec<Option<Value>>, Error> {
        args.iter().map(|arg| Ok(self.argument(arg)?.map(Cow::into_owned))).collect()
    }
}
