//! The `query` in the result of a mutation: root fields of queries, which run after the mutation.

use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::FutureExt as _;
use futures_util::future::join_all;

use super::{panicked, span_of, until_null};
use crate::graphql::complete::{CompletedValue, join, key, typename};
use crate::graphql::context::{ExecutionContext, OperationInfo};
use crate::graphql::execute::join::withheld;
use crate::graphql::execute::report::report;
use crate::graphql::execute::size::AnswerSize;
use crate::graphql::execute::{Engine, Prepared};
use crate::graphql::mutate::Mutations;
use crate::graphql::plan::{Children, FieldMeter, PlanField, PlanKind, Selection};
use crate::graphql::response::Path;
use crate::repository::Db;
use crate::request::ErrorBehavior;
use svc_core::Error;
use svc_core::schema::OperationKind;

impl Engine {
    /// Runs the fields below each `query` in the result of the last mutation, and puts their values
    /// into it. Returns whether the mutation makes `data` null.
    pub(super) async fn query_after(
        &self,
        cx: &ExecutionContext<'_>,
        meter: Option<&FieldMeter<'_>>,
        prepared: &Prepared,
        (mutation, member): (&PlanField, &Selection),
        (mutations, size): (&mut Mutations<'_>, &mut AnswerSize),
    ) -> bool {
        mutations.separate();

        // The reads may take long, and other requests must not get older responses meanwhile.
        self.invalidate_after(prepared, mutation);

        // Authorizers see the operation type `Query` for these fields.
        let db = self.db_after(cx);
        let reads = ExecutionContext {
            operation: OperationInfo {
                kind: OperationKind::Query,
                ..cx.operation
            },
            spending: meter.map(FieldMeter::objects).or(cx.spending),
            // Their statements belong to the explanation of the mutation.
            explanation: None,
            ..cx.with_db(&db)
        };

        let root = Path::Root;
        let path = root.key(&mutation.key);
        for (index, field) in member.fields.iter().enumerate() {
            let PlanKind::Query = field.kind else {
                continue;
            };

            let path = path.key(&field.key);
            let run = self.query_fields(&reads, prepared, field, &path);
            let mut value = match cx.explained(mutation) {
                Some(explained) => explained.around(run).await,
                None => run.await,
            };

            if !size.add(cx, &value) {
                // Operators see the errors of the dropped fields, as in a query.
                report(&reads, &mut value.errors, &mut []);
                value = CompletedValue::failed(cx, &cx.limits.answer_too_large(), field, &path);
            }

            if let (Some(meter), Err(_)) = (meter, &value.bytes) {
                meter.failed();
            }

            if mutations.put(index, value) {
                return true;
            }
        }

        false
    }

    /// The database of the fields below `query`: a resolver that writes has no part in the effect of
    /// the mutation.
    fn db_after(&self, cx: &ExecutionContext<'_>) -> Db {
        Db {
            ledger: None,
            // The mutation may have changed the inputs of policies, such as the browser's session.
            rules: self.row_rules(cx.context.request),
            ..cx.context.db().clone()
        }
    }

    /// Completes one `query`: its fields run concurrently, as in a query, up to the first error if
    /// errors halt the operation.
    async fn query_fields(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        field: &PlanField,
        path: &Path<'_>,
    ) -> CompletedValue {
        let Children::One(query) = &field.children else {
            let error = Error::internal("the root of queries is not an object");
            return CompletedValue::failed(cx, &error, field, path);
        };

        let query: &Selection = query;
        cx.spend(query, 1);
        let run = |field| self.field_after(cx, prepared, (query, field), path);
        let fields = query.fields.iter();
        let mut completed: Vec<_> = if cx.on_error == ErrorBehavior::Halt {
            let running = fields
                .enumerate()
                .map(|(index, field)| run(field).map(move |value| (index, value)));

            // Only a value that propagates null drops others, and then none is written.
            let ended = until_null(running.collect()).await;
            ended.into_iter().flatten().collect()
        } else {
            join_all(fields.map(run)).await
        };

        // Operators see the errors behind a null as well, as in a query.
        report(cx, &mut withheld(&mut completed), &mut []);

        let write = |out: &mut Vec<u8>, index: usize, bytes: &[u8]| {
            key(out, index, &query.fields[index]);
            out.extend_from_slice(bytes);
        };

        join(completed, write, *b"{}").stop_null(cx, field, &field.ty)
    }

    /// Executes one field of `query`, which needs the same admission as in a query.
    async fn field_after(
        &self,
        cx: &ExecutionContext<'_>,
        prepared: &Prepared,
        (query, field): (&Selection, &PlanField),
        path: &Path<'_>,
    ) -> CompletedValue {
        if let PlanKind::Typename = field.kind {
            return CompletedValue::walk(cx, |_, out| {
                typename(out, query);
                Ok(())
            });
        }

        let path = path.key(&field.key);

        // A panic fails only its field.
        let run = pin!(async {
            let run = AssertUnwindSafe(self.admit_and_run(cx, prepared, field, None, &path));
            match run.catch_unwind().await {
                Ok(value) => value,
                Err(panic) => panicked(cx, &*panic, field, &path),
            }
        });

        self.traced(cx, field, span_of(field), run).boxed().await
    }
}
