//! The response to one event of a subscription.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::graphql::complete::{CompletedValue, root_value};
use crate::graphql::context::ExecutionContext;
use crate::graphql::execute::metrics::{count_errors, end_span};
use crate::graphql::execute::{Engine, Prepared, only, record_late, report};
use crate::graphql::find::{EventRow, write_event};
use crate::graphql::plan::{Admission, Plan};
use crate::graphql::resolver::Outcome;
use crate::graphql::response::{Path, Response, ResponseBudget, ShownErrors};
use crate::repository::Db;
use crate::request::{Context, ErrorBehavior, RequestScope};
use crate::shared_state::RequestDeadlines;

/// The content of an event.
pub(super) enum Item<'a> {
    /// A value of a function's stream.
    Value(Outcome<'a>),
    /// A row to read.
    Row(EventRow<'a>),
}

/// The client of a subscription, and its admission.
#[derive(Clone, Copy)]
pub(super) struct Subscriber<'a> {
    pub(super) engine: &'a Engine,
    pub(super) prepared: &'a Prepared,
    pub(super) scope: &'a RequestScope,
    pub(super) admission: &'a Admission<'a>,
}

impl Subscriber<'_> {
    /// The byte limit of one response.
    pub(super) fn answer_bytes(&self) -> ResponseBudget {
        ResponseBudget::new(self.engine.app.limits.answer)
    }

    /// The database as an event may read it: with the row filter of the admission, and row policies
    /// evaluated again.
    pub(super) fn db(&self) -> Db {
        Db {
            row_filter: self.admission.row_filter().cloned(),
            rules: self.engine.row_rules(self.scope),
            ..self.scope.db.clone()
        }
    }

    /// Answers an event within the time limit of a request. Returns `None` for a row that the
    /// subscriber does not see.
    pub(super) async fn answer(&self, item: Item<'_>) -> Option<Response> {
        let field = self.admission.field();
        let Some(span) = self
            .prepared
            .subscribed
            .as_ref()
            .and_then(|span| span.event(&field.coordinate))
        else {
            return self.answer_in_time(item).await;
        };

        let response = span.around(self.answer_in_time(item)).boxed().await;
        response.inspect(|response| end_span(&span, response))
    }

    async fn answer_in_time(&self, item: Item<'_>) -> Option<Response> {
        let deadlines = self.engine.app.deadlines.as_deref();
        let started = deadlines.map_or(0, RequestDeadlines::start);
        self.scope.parts().restart(started);
        let completing = pin!(self.complete(item));
        let Some(deadlines) = deadlines else {
            return completing.await;
        };

        deadlines
            .bound(started, completing)
            .await
            .unwrap_or_else(|| {
                record_late(&self.engine.app, self.scope.parts());
                Some(Response::late(deadlines.limit, &[]))
            })
    }

    /// Completes an event. Access to gated fields is decided again for each event.
    async fn complete(&self, item: Item<'_>) -> Option<Response> {
        let Self {
            engine,
            prepared,
            scope,
            ..
        } = *self;

        let permitted = match engine.decides_about(&prepared.plan) {
            true => engine
                .permitted(prepared, scope)
                .boxed()
                .await
                .map(Arc::new),
            false => None,
        };

        let db = self.db();
        let answer = self.answer_bytes();
        let cx = engine.context(prepared, scope, &answer);
        let cx = ExecutionContext {
            context: Context {
                db: &db,
                ..cx.context
            },
            // Statements are cached with the plan of the document, not with a plan for this event
            // only.
            growth: cx.growth.filter(|_| permitted.is_none()),
            ..cx
        };

        let mut value = self
            .field(&cx, permitted.as_deref().unwrap_or(&prepared.plan), item)
            .await?;
        let mut withheld = match cx.on_error {
            ErrorBehavior::Halt => value.halt(),
            ErrorBehavior::Null | ErrorBehavior::Propagate => Vec::new(),
        };
        report(&cx, &mut value.errors, &mut withheld);
        count_errors(&prepared.plan, &value.errors);

        let (source, most) = (prepared.source(), engine.app.limits.errors);
        let shown = ShownErrors::new(&value.errors, source, most);
        let has_forced_null = answer.has_forced_null();
        let data = value
            .bytes
            .ok()
            .filter(|_| shown.explain_data(has_forced_null));

        Some(Response::executed(data, &shown))
    }

    /// Completes the root field in a plan of the operation.
    async fn field(
        &self,
        cx: &ExecutionContext<'_>,
        plan: &Plan,
        item: Item<'_>,
    ) -> Option<CompletedValue> {
        let root = Path::Root;
        let admission = plan
            .root
            .fields
            .first()
            .and_then(|field| self.admission.for_same(field))?;

        let field = admission.field();
        let path = root.key(&field.key);

        // Hooks expect a value, so an unseen row is a null for them, and is dropped afterwards.
        let mut is_seen = true;
        let run = async {
            let completing = AssertUnwindSafe(complete(cx, &admission, item, &path)).catch_unwind();
            let completed = completing.await.unwrap_or_else(|panic| {
                let error = svc_telemetry::panic::error("the event", &*panic);
                Some(CompletedValue::failed(cx, &error, field, &path))
            });
            is_seen = completed.is_some();
            completed.unwrap_or_else(CompletedValue::null)
        };

        let value = match self.engine.hooks.is_empty() {
            true => run.await,
            false => {
                self.engine
                    .hooks
                    .around_field(cx.context, field, run.boxed())
                    .await
            }
        };

        is_seen.then(|| only(field, value))
    }
}

/// Completes the content of an event. Returns `None` for a row that the subscriber does not see.
async fn complete(
    cx: &ExecutionContext<'_>,
    admission: &Admission<'_>,
    item: Item<'_>,
    path: &Path<'_>,
) -> Option<CompletedValue> {
    let field = admission.field();
    match (&field.denial, item) {
        (Some(denial), _) => Some(CompletedValue::failed(cx, &denial.error(), field, path)),
        (None, Item::Value(outcome)) => Some(root_value(cx, admission, outcome, path).await),
        (None, Item::Row(row)) => write_event(cx, admission, &row, path).await,
    }
}
