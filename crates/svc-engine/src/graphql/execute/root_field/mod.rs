//! Root fields: admitted, run, and completed.

mod after;
mod atomic;
#[cfg_attr(not(feature = "sessions"), path = "no_session_undo.rs")]
mod session_undo;

use std::any::Any;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use self::session_undo::SessionTurn;
use super::size::AnswerSize;
use super::{Decided, Engine, Prepared};
use crate::authz::{bypassed_filter, lost_filter};
use crate::graphql::complete::{CompletedValue, guarded, root_value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::find::{write_nodes, write_planned};
use crate::graphql::mutate::Mutations;
use crate::graphql::mutate::function::write_function;
use crate::graphql::mutate::table::write_table;
use crate::graphql::plan::{Admission, FieldMeter, PlanField, PlanKind, RootField};
use crate::graphql::resolver::{Call, Completed, Outcome, Resolver};
use crate::graphql::response::{ExplainedField, Path, Way};
use crate::repository::Db;
use crate::request::ErrorBehavior;
use crate::sql::RowFilter;
use svc_core::schema::{Code, OperationKind, Run};
use svc_core::task::boxed::{boxed_rare, boxed_unmoved};
use svc_core::trace::OpenSpan;
use svc_core::{Error, ErrorCode};
use svc_telemetry::query_stats;

impl Engine {
    /// Executes the root fields one by one. `decisions` are the decisions already made, in the
    /// order of the fields.
    pub(super) async fn by_field<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        decisions: Vec<Option<Decided<'p>>>,
    ) -> Vec<CompletedValue> {
        let decisions = decisions.into_iter().chain(std::iter::repeat_with(|| None));
        let fields = prepared.plan.root.fields.iter().zip(decisions);
        if prepared.plan.is_atomic {
            self.atomically(cx, prepared).boxed().await
        } else if prepared.plan.kind == OperationKind::Mutation {
            // Before the wait, as none of the mutations has begun then.
            if let Some(ledger) = &cx.context.db().ledger {
                ledger.begin();
            }

            let _turn = SessionTurn::new(cx).await;
            self.in_order(cx, prepared, fields).await
        } else if cx.on_error == ErrorBehavior::Halt {
            self.until_halt(cx, prepared, fields).await
        } else {
            join_all(fields.map(|(field, decided)| self.root_field(cx, prepared, field, decided)))
                .await
        }
    }

    /// Executes fields concurrently. After the first error, the other fields are dropped, and count
    /// with everything that they requested if their work has begun.
    async fn until_halt<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        fields: impl Iterator<Item = (&'p PlanField, Option<Decided<'p>>)>,
    ) -> Vec<CompletedValue> {
        let fields: Vec<_> = fields.collect();
        let meters: Vec<_> = fields
            .iter()
            .map(|(field, _)| cx.field_meter(field))
            .collect();

        let running: FuturesUnordered<_> = fields
            .into_iter()
            .zip(&meters)
            .enumerate()
            .map(|(index, ((field, decided), meter))| async move {
                let run = self.metered_field(cx, meter.as_ref(), prepared, field, decided);
                (index, run.await)
            })
            .collect();

        let completed = until_null(running).await;
        for (meter, value) in meters.iter().zip(&completed) {
            if let (Some(meter), None) = (meter, value) {
                meter.dropped();
            }
        }

        // A dropped field has no effect on `data`, which is null.
        completed
            .into_iter()
            .map(|value| value.unwrap_or_else(CompletedValue::null))
            .collect()
    }

    /// Runs a root field with its own meter, if it has one.
    async fn metered_field<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        meter: Option<&FieldMeter<'_>>,
        prepared: &Prepared,
        field: &'p PlanField,
        decided: Option<Decided<'p>>,
    ) -> CompletedValue {
        let Some(meter) = meter else {
            return self.root_field(cx, prepared, field, decided).await;
        };

        let cx = cx.with_spending(meter.objects());
        let value = self.root_field(&cx, prepared, field, decided).boxed().await;
        if value.bytes.is_err() {
            meter.failed();
        }

        value
    }

    /// Executes fields sequentially, as mutations require. After a null that reaches the root, the
    /// remaining fields do not run.
    async fn in_order<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &'p Prepared,
        fields: impl Iterator<Item = (&'p PlanField, Option<Decided<'p>>)>,
    ) -> Vec<CompletedValue> {
        let (mut mutations, mut size) = (Mutations::new(cx), AnswerSize::default());
        for (field, decided) in fields {
            mutations.begin();
            let meter = cx.field_meter(field);
            let run = self.metered_field(cx, meter.as_ref(), prepared, field, decided);
            let value = size.fit(cx, field, run.await);
            let queried = mutations.queried(&prepared.plan, field, &value);
            let mut is_null = mutations.end(field, value);
            if let Some(member) = queried {
                let (of, so_far) = ((field, member), (&mut mutations, &mut size));
                let reads = self.query_after(cx, meter.as_ref(), prepared, of, so_far);
                is_null = reads.boxed().await;
            }

            if is_null {
                mutations.lose(&prepared.plan.root.fields);
                break;
            }
        }

        mutations.into_completed()
    }

    pub(super) async fn root_field<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        field: &'p PlanField,
        decided: Option<Decided<'p>>,
    ) -> CompletedValue {
        let root = Path::Root;
        let path = root.key(&field.key);

        // A panic fails only its field; the others, which may be mutations that were committed,
        // still report their results.
        let run = pin!(async {
            let run = std::panic::AssertUnwindSafe(
                self.admit_and_run(cx, prepared, field, decided, &path),
            );
            match run.catch_unwind().await {
                Ok(value) => value,
                Err(panic) => panicked(cx, &*panic, field, &path),
            }
        });

        let span = span_of(field);
        match cx.explained(field) {
            Some(explained) => {
                boxed_rare(|| explained.around(self.traced(cx, field, span, run))).await
            }
            // Awaited here, because each future around it would be entered for each wake-up.
            None if span.is_none() && !self.is_observing() => run.await,
            None => boxed_unmoved(|| self.traced(cx, field, span, run)).await,
        }
    }

    /// Whether hooks or the query statistics run around root fields.
    fn is_observing(&self) -> bool {
        query_stats::is_attributing() || !self.hooks.is_empty()
    }

    /// Runs a root field in its own span, if it has one.
    async fn traced(
        &self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        span: Option<OpenSpan>,
        run: Pin<&mut (impl Future<Output = CompletedValue> + Send)>,
    ) -> CompletedValue {
        let Some(span) = span else {
            return self.observed(cx, field, run).await;
        };

        let value = span.around(self.observed(cx, field, run)).boxed().await;
        if let Some(error) = value.errors.first() {
            span.failed(&error.code);
        }

        value
    }

    /// Runs a root field within the hooks and the query statistics.
    async fn observed(
        &self,
        cx: &ExecutionContext<'_>,
        field: &PlanField,
        run: Pin<&mut (impl Future<Output = CompletedValue> + Send)>,
    ) -> CompletedValue {
        if query_stats::is_attributing() {
            return self
                .hooks
                .around_field(
                    cx.context,
                    field,
                    query_stats::attribute(&field.coordinate, run).boxed(),
                )
                .await;
        }

        if self.hooks.is_empty() {
            return run.await;
        }

        self.hooks
            .around_field(cx.context, field, run.boxed())
            .await
    }

    async fn admit_and_run<'p>(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        field: &'p PlanField,
        decided: Option<Decided<'p>>,
        path: &Path<'_>,
    ) -> CompletedValue {
        if let PlanKind::Typename = field.kind {
            // The name of a root type reveals nothing that is not in the document itself.
            return CompletedValue::walk(cx, |_, out| {
                svc_core::exact_json::write_text(out, &prepared.plan.root.type_name);
                Ok(())
            });
        }

        let decided = match decided {
            Some(decided) => decided,
            None => {
                let _gate = cx.explained(field).map(ExplainedField::gate);
                self.admit(cx, field, false).await
            }
        };

        let admission = match decided {
            Ok(admission) => admission,
            Err(denied) => return CompletedValue::failed(cx, &denied, field, path),
        };

        if let Some(spending) = cx.spending {
            spending.begin_work();
        }

        match admission.row_filter() {
            None => run(cx, prepared, &admission, path).await,
            // Boxed, because the context with the filter is large.
            Some(filter) => {
                boxed_unmoved(|| run_filtered(cx, prepared, &admission, filter, path)).await
            }
        }
    }
}

/// The value of a root field that panicked.
#[cold]
#[inline(never)]
fn panicked(
    cx: &ExecutionContext<'_>,
    panic: &(dyn Any + Send),
    field: &PlanField,
    path: &Path<'_>,
) -> CompletedValue {
    let error = svc_telemetry::panic::error("the field", panic);
    CompletedValue::failed(cx, &error, field, path)
}

/// Runs fields concurrently until one of them propagates null, and drops the others. Each returns
/// its index with its value.
async fn until_null<F: Future<Output = (usize, CompletedValue)>>(
    mut running: FuturesUnordered<F>,
) -> Vec<Option<CompletedValue>> {
    let mut completed: Vec<Option<CompletedValue>> = (0..running.len()).map(|_| None).collect();
    while let Some((index, value)) = running.next().await {
        let halts = value.bytes.is_err();
        completed[index] = Some(value);
        if halts {
            break;
        }
    }

    completed
}

/// Starts the span of a root field, if its trace is sampled.
fn span_of(field: &PlanField) -> Option<OpenSpan> {
    matches!(field.kind, PlanKind::Root(_))
        .then(|| OpenSpan::root_field(&field.coordinate, &field.key))
        .flatten()
}

/// Runs a root field that was admitted with a row filter.
async fn run_filtered(
    cx: &ExecutionContext<'_>,
    prepared: &Prepared,
    admission: &Admission<'_>,
    filter: &Arc<RowFilter>,
    path: &Path<'_>,
) -> CompletedValue {
    let db = Db {
        row_filter: Some(filter.clone()),
        ..cx.context.db().clone()
    };

    // Only the reads show whether the filter was applied, so a value that was read past it is
    // dropped afterwards.
    let completed = run(&cx.with_db(&db), prepared, admission, path).await;
    let field = admission.field();
    match lost_filter(filter, &field.name) {
        Some(denied) => CompletedValue::failed(cx, &denied, field, path),
        None => completed,
    }
}

/// Runs an admitted root field.
async fn run(
    cx: &ExecutionContext<'_>,
    prepared: &Prepared,
    admission: &Admission<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    let field = admission.field();
    let Some((run, row)) = RootField::of(admission) else {
        return introspected(cx, prepared, admission);
    };

    // Reached if the SQL of the operation was not used, at an endpoint that runs no functions of
    // the program.
    if let Some(message) = &prepared.code {
        return needs_code(cx, message, field, path);
    }

    if let Some(explained) = cx.explained(field) {
        explained.takes(way(run));
    }

    if let (Run::Planned(planned), Some(row)) = (run, row) {
        return write_planned(cx, admission, planned, row, path).await;
    }

    match run {
        Run::Function(function) => {
            boxed_unmoved(|| write_function(cx, admission, function, path)).await
        }
        Run::Write(write) => match row {
            Some(row) => boxed_unmoved(|| write_table(cx, admission, write, row, path)).await,
            None => CompletedValue::failed(
                cx,
                &Error::internal("a mutation writes no rows"),
                field,
                path,
            ),
        },
        Run::Event(_) | Run::Stream(_) => CompletedValue::failed(
            cx,
            &Error::internal("a subscription was run as if it were a query"),
            field,
            path,
        ),
        Run::Nodes => boxed_unmoved(|| write_nodes(cx, admission, path)).await,
        Run::Planned(_) => CompletedValue::failed(
            cx,
            &Error::internal("a planned field has no rows"),
            field,
            path,
        ),
        Run::Code(code) => match cx.call(admission) {
            Ok(call) => boxed_unmoved(|| resolve(cx, admission, code, call, path)).await,
            Err(error) => CompletedValue::failed(cx, &error, field, path),
        },
    }
}

/// The value of a root field that would run a function of the program where none may run.
#[cold]
#[inline(never)]
fn needs_code(
    cx: &ExecutionContext<'_>,
    message: &str,
    field: &PlanField,
    path: &Path<'_>,
) -> CompletedValue {
    let error = Error::new(ErrorCode::BadRequest, message.to_owned());
    CompletedValue::failed(cx, &error, field, path)
}

/// How a root field is executed.
fn way(run: Run) -> Way {
    match run {
        Run::Planned(_) | Run::Nodes => Way::Planned,
        Run::Function(_) => Way::Called,
        Run::Write(_) => Way::Written,
        Run::Code(_) | Run::Event(_) | Run::Stream(_) => Way::Resolved,
    }
}

/// Runs the resolver of a root field.
async fn resolve(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    code: &'static dyn Code,
    call: Call<'_>,
    path: &Path<'_>,
) -> CompletedValue {
    let outcome = match Resolver::of(code) {
        Resolver::Sync(resolve) => resolve(call),
        Resolver::Async(resolve) => guarded(resolve(call)).await,
        Resolver::Stream(_) => Err(Error::internal(
            "a subscription was run as if it were a query",
        )),
    };
    root_value(cx, admission, cx.noted(filtered(admission, outcome)), path).await
}

/// Replaces values that were read past the row filter of the field with a denial. A returned query
/// is read later, with the filter.
fn filtered<'a>(admission: &Admission<'_>, outcome: Outcome<'a>) -> Outcome<'a> {
    let denied = match (admission.row_filter(), &outcome) {
        (Some(filter), Ok(Completed::Value(value))) => {
            bypassed_filter(filter, value.resolve(), &admission.field().name)
        }
        _ => None,
    };
    denied.map_or(outcome, Err)
}

/// The value of `__schema` or `__type`, which was computed when the operation was prepared.
pub(in crate::graphql) fn introspected(
    cx: &ExecutionContext<'_>,
    prepared: &Prepared,
    admission: &Admission<'_>,
) -> CompletedValue {
    CompletedValue::walk(cx, |_, out| {
        let answer = prepared
            .introspection
            .as_ref()
            .and_then(|answers| answers.get(admission.field().key.as_str()));
        out.extend_from_slice(
            answer
                .map_or_else(|| "null".to_owned(), ToString::to_string)
                .as_bytes(),
        );
        Ok(())
    })
}
