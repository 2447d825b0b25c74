//! Operations that are executed with their own statement.

use futures_util::FutureExt as _;

use super::{Decided, Engine, Prepared};
use crate::graphql::complete::CompletedValue;
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::check_arguments;
use crate::graphql::mutate::Mutations;
use crate::graphql::operations::{Answered, OperationStatement};
use crate::graphql::plan::{AllAdmitted, Plan, PlanField, PlanKind, RootField};
use crate::graphql::response::{ExplainedField, Path, Way};
use crate::request::ErrorBehavior;
use svc_core::schema::OperationKind;
use svc_core::{Error, ErrorCode};
use svc_telemetry::query_stats;

/// Logs that the SQL of an operation is not used, because it would bypass the row filter of an
/// authorizer.
fn note_filter(cx: &ExecutionContext<'_>, decisions: &[Option<Decided<'_>>]) {
    let is_filtered = |decided: &Decided<'_>| {
        decided
            .as_ref()
            .is_ok_and(|admission| admission.row_filter().is_some())
    };

    if decisions.iter().flatten().any(is_filtered) {
        let operation = cx.operation.name().unwrap_or_default();
        tracing::warn!(
            operation,
            "an authorizer returned a filter for a registered operation, so its SQL is not used"
        );
    }
}

impl Engine {
    /// Executes the statement of a registered operation if all root fields are admitted, none of
    /// them with a row filter, and no row policy applies to the rows that they may read. Otherwise
    /// a mutation with a denied field does nothing, and all other operations are executed field by
    /// field: mutations run in order, each in a separate transaction, as in any other document.
    /// `decisions` are the decisions already made.
    pub(super) async fn by_statement<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        statement: OperationStatement<'_>,
        decisions: Vec<Option<Decided<'p>>>,
    ) -> Vec<CompletedValue> {
        let plan = &prepared.plan;
        let fields = &plan.root.fields;
        let decisions = if decisions.is_empty() {
            self.decide(cx, prepared, true).await
        } else {
            decisions
        };

        // The SQL was written without the conditions of row policies, so it is used only if none
        // applies.
        let admitted = AllAdmitted::of(plan, &decisions).filter(|_| !self.reads_governed(plan));
        let Some(admitted) = admitted else {
            note_filter(cx, &decisions);
            let is_denied = decisions.iter().flatten().any(Result::is_err);
            return match plan.kind {
                OperationKind::Mutation if is_denied => not_done(cx, fields, &decisions),
                _ => self.by_field(cx, prepared, decisions).await,
            };
        };

        let refused = fields
            .iter()
            .find_map(|field| check_arguments(cx, field).err());

        match refused {
            // Execution by field reports the same error, with its location.
            Some(_) if plan.kind == OperationKind::Query && prepared.code.is_none() => {
                return self.by_field(cx, prepared, decisions).await;
            }
            Some(error) => return all_failed(cx, fields, &error),
            None => {}
        }

        let running = async {
            // The cost of one statement cannot be divided, so all of it counts for the first field.
            let attributed = fields.first().filter(|_| query_stats::is_attributing());
            match attributed {
                Some(first) => {
                    query_stats::attribute(&first.coordinate, statement.run(cx, admitted))
                        .boxed()
                        .await
                }
                None => statement.run(cx, admitted).await,
            }
        };

        let answered = match cx
            .explanation
            .and_then(|explanation| explanation.together(Way::ByStatement))
        {
            Some(explained) => explained.around(running).boxed().await,
            None => running.await,
        };

        self.complete_from(cx, prepared, &answered).await
    }

    /// Decides about all root fields before any of them runs. `None` for fields that need no
    /// decision. `has_statement` is whether the program's own statement may bypass their functions.
    pub(in crate::graphql) async fn decide<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        has_statement: bool,
    ) -> Vec<Option<Decided<'p>>> {
        let mut decisions = Vec::with_capacity(prepared.plan.root.fields.len());
        for field in &prepared.plan.root.fields {
            decisions.push(match field.kind {
                PlanKind::Root(_) => {
                    let _gate = cx.explained(field).map(ExplainedField::gate);
                    Some(self.admit(cx, field, has_statement).await)
                }
                _ => None,
            });
        }

        decisions
    }

    /// Whether the operation can reveal rows that a row policy applies to: the rows that it
    /// returns, the rows that relations lead to from there, and the row that it acts on.
    fn reads_governed(&self, plan: &Plan) -> bool {
        let (Some(policies), model) = (&self.row_policies, &self.app.model) else {
            return false;
        };

        let roots = plan.root.fields.iter().filter_map(PlanField::root);
        let acted = |root: RootField| {
            root.acts_on()
                .and_then(|acted| model.by_rust.get(&(acted.row)()).copied())
        };

        let mut acted = roots.filter_map(|root| root.written_rows().or_else(|| acted(root)));

        acted.any(|row| policies.govern(row))
            || plan
                .reachable(model)
                .into_iter()
                .any(|row| policies.govern(row))
    }

    /// Completes all root fields from the result of the statement.
    async fn complete_from(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        answered: &Answered<'_>,
    ) -> Vec<CompletedValue> {
        let fields = &prepared.plan.root.fields;
        if prepared.plan.kind == OperationKind::Query {
            let mut completed = Vec::with_capacity(fields.len());
            for field in fields {
                completed.push(self.answer_of(cx, prepared, answered, field).await);
            }
            return completed;
        }

        // All fields share one transaction, so its outcome applies to each of them.
        let mut mutations = Mutations::new(cx);
        let mut is_null = false;
        for field in fields {
            let value = self.answer_of(cx, prepared, answered, field).await;
            is_null |= mutations.end(field, value);
        }

        if is_null {
            mutations.lose(fields);
        }

        mutations.into_completed()
    }

    async fn answer_of(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        answered: &Answered<'_>,
        field: &PlanField,
    ) -> CompletedValue {
        match field.kind {
            PlanKind::Root(..) => {
                let root = Path::Root;
                let path = root.key(&field.key);
                let Some(meter) = cx.field_meter(field) else {
                    return answered.field(cx, field, &path);
                };

                let value = answered.field(&cx.with_spending(meter.objects()), field, &path);
                if value.bytes.is_err() {
                    meter.failed();
                }
                value
            }
            _ => self.root_field(cx, prepared, field, None).await,
        }
    }
}

/// A mutation is one transaction, so nothing is done if a field is denied.
fn not_done(
    cx: &ExecutionContext<'_>,
    fields: &[PlanField],
    decisions: &[Option<Decided<'_>>],
) -> Vec<CompletedValue> {
    let other = Error::new(
        ErrorCode::NotDone,
        "the mutation was not done, as another field of the operation is denied",
    );
    let halts = cx.on_error == ErrorBehavior::Halt;
    let mut mutations = Mutations::new(cx);
    for (field, decision) in fields.iter().zip(decisions) {
        let error = match decision {
            Some(Err(denied)) => denied,
            // The one error of the response should be the denial.
            _ if halts => {
                mutations.skip();
                continue;
            }
            _ => &other,
        };
        mutations.end(
            field,
            CompletedValue::failed(cx, error, field, &Path::Root.key(&field.key)),
        );
    }

    if halts {
        mutations.lose(fields);
    }

    mutations.into_completed()
}

/// All fields share a statement or a transaction, so its failure is the failure of each: an invalid
/// argument of one field, for example, prevents the statement from running for any.
pub(super) fn all_failed(
    cx: &ExecutionContext<'_>,
    fields: &[PlanField],
    error: &Error,
) -> Vec<CompletedValue> {
    let mut mutations = Mutations::new(cx);
    let mut is_null = cx.on_error == ErrorBehavior::Halt;
    for field in fields {
        is_null |= mutations.end(
            field,
            CompletedValue::failed(cx, error, field, &Path::Root.key(&field.key)),
        );
    }

    if is_null {
        mutations.lose(fields);
    }

    mutations.into_completed()
}
