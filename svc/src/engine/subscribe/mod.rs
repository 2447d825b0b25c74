//! Subscriptions: a stream of answers to one operation.
//!
//! A subscription is one future, which lives as long as its stream: it passes the gate, makes the stream of events, and
//! completes each event as a query's answer is completed.

mod answers;
mod event;
mod response_stream;
mod rows;
mod sent_rows;
mod visible;

pub(crate) use response_stream::ResponseStream;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};

use self::answers::{Answers, Giver};
use self::event::{Item, Subscriber};
use self::response_stream::Step;
use self::rows::{AskedRows, Rows};
use super::execute::{Engine, Prepared, Request};
use super::execution_context::ExecutionContext;
use super::field_error::FieldError;
use super::find::EventFilter;
use super::measure::{self, Begun};
use super::path::Path;
use super::plan::{Admission, RootField};
use super::resolver::{Outcome, Resolver};
use super::response::Response;
use super::security_events::{record_errors, record_late, record_refused};
use crate::application::RequestDeadlines;
use crate::events::{Feed, RowEvent};
use crate::request::{RequestParts, RequestScope, Transport};
use crate::schema::{Code, EventMeta, OperationKind, Run, Shape};
use crate::{Error, Result};

impl Engine {
    /// Runs an operation on a transport that streams: the answers to a subscription.
    ///
    /// # Errors
    /// The one answer of everything else: of a request that is refused, of a query, and of a mutation.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        request: Request<'_>,
        parts: RequestParts,
    ) -> Result<ResponseStream, Response> {
        #[cfg(feature = "redis")]
        self.learn(&request).await;
        let begun = Begun::now();
        let prepared = self.prepare(request, parts.allowed);
        let mut prepared = prepared
            .inspect_err(|refused| record_refused(&self.app, &parts, refused))
            .map_err(measure::counted_refusal)?;
        let Some(span) = prepared.span_on(parts.transport) else {
            return self.subscribe_prepared(prepared, parts, begun).await;
        };
        prepared.subscribed = Some(span.link());
        let begun = span.around(self.subscribe_prepared(prepared, parts, begun)).boxed().await;
        begun.inspect_err(|response| measure::end_span(&span, response))
    }

    async fn subscribe_prepared(
        self: &Arc<Self>,
        prepared: Prepared,
        parts: RequestParts,
        begun: Begun,
    ) -> Result<ResponseStream, Response> {
        if prepared.plan.kind != OperationKind::Subscription {
            return Err(self.run_prepared(prepared, parts, begun).boxed().await);
        }
        let measured = prepared.measured(begun, &parts);
        let started = self.begin_subscription(prepared, parts).await;
        match started {
            Ok(answers) => {
                measured.begun();
                Ok(answers.recorded())
            }
            Err(response) => Err(measured.answered(response)),
        }
    }

    async fn begin_subscription(
        self: &Arc<Self>,
        prepared: Prepared,
        mut parts: RequestParts,
    ) -> Result<ResponseStream, Response> {
        if parts.transport != Transport::WebSocket {
            parts.transport = Transport::EventStream;
        }
        if self.hooks.concern(&parts) {
            self.after_preparing(&parts, &prepared).boxed().await?;
        }
        let started = self.app.deadlines.as_deref().map_or(0, RequestDeadlines::start);
        parts.restart(started);
        let scope = Arc::new(self.bounded_scope(parts, OperationKind::Subscription).boxed().await?);
        let (engine, shared) = (self.clone(), scope.clone());
        let steps = Answers::new(|giver| async move { engine.answer(&prepared, &shared, &giver).await });
        let begun = pin!(ResponseStream::begin(steps));
        match self.app.deadlines.as_deref() {
            None => begun.await,
            Some(deadlines) => match deadlines.bound(started, begun).await {
                Some(begun) => begun,
                None => {
                    record_late(&self.app, scope.parts());
                    Err(Response::late(deadlines.limit, &[]))
                }
            },
        }
    }

    /// Answers a subscription, from the gate to the last event.
    async fn answer(&self, prepared: &Prepared, scope: &RequestScope, giver: &Giver<Step>) {
        let Some(field) = prepared.plan.root.fields.first() else { return };
        // In a block, as what is not dropped before an `await` stays for as long as the subscription.
        let admitted = {
            let cx = self.context(prepared, scope);
            self.admit(&cx, field, false).boxed().await
        };
        let admission = match admitted {
            Ok(admission) => admission,
            Err(denied) => {
                record_errors(
                    &self.context(prepared, scope),
                    &[FieldError::new(&denied, field, &Path::Root.key(&field.key))],
                );
                return giver.give(Step::Refused(Response::failed(&denied))).await;
            }
        };
        let subscriber = Subscriber { engine: self, prepared, scope, admission: &admission };
        let db = subscriber.db();
        let cx = self.context(prepared, scope).with_db(&db);
        match source(&cx, &admission).await {
            Err(error) => giver.give(Step::Refused(Response::failed(&error))).await,
            Ok(Source::Stream(events)) => {
                giver.give(Step::Begun).await;
                subscriber.answer_all(events, giver).await;
            }
            Ok(Source::Rows(asked, feed)) => {
                giver.give(Step::Begun).await;
                Rows::new(subscriber, asked, feed).answer(giver).await;
            }
        }
    }
}

impl Subscriber<'_> {
    /// Answers the events of a function's stream. A panic in it is an error and the end.
    async fn answer_all(&self, mut events: BoxStream<'_, Outcome<'_>>, giver: &Giver<Step>) {
        loop {
            let (event, is_over) = match AssertUnwindSafe(events.next()).catch_unwind().await {
                Ok(Some(event)) => (event, false),
                Ok(None) => return,
                Err(panic) => (Err(crate::panic::error("the stream", &*panic)), true),
            };
            if let Some(response) = self.answer(Item::Value(event)).boxed().await {
                giver.give(Step::Event(response)).await;
            }
            if is_over {
                return;
            }
        }
    }
}

/// The source of a subscription's events.
enum Source<'a> {
    /// The stream of a function.
    Stream(BoxStream<'a, Outcome<'a>>),
    /// The rows that the events of a channel name.
    Rows(Arc<AskedRows>, Feed),
}

/// Makes the source of a subscription that was admitted.
async fn source<'a>(cx: &'a ExecutionContext<'_>, admission: &Admission<'_>) -> Result<Source<'a>> {
    match RootField::of(admission) {
        Some((Run::Stream(code), _)) => open(cx, admission, code).await.map(Source::Stream),
        Some((Run::Event(EventMeta { channel, planned }), Some(row))) => {
            let filter = EventFilter::of(cx, admission.field(), row)?;
            let asked = AskedRows::new(filter, planned.shape == Shape::Optional);
            let accepting = asked.clone();
            let accepts = Box::new(move |event: &RowEvent| accepting.accept(event));
            let feed = cx.context.db().app.events.subscribe(channel, Some(accepts)).await?;
            Ok(Source::Rows(asked, feed))
        }
        _ => Err(Error::internal("the field of a subscription has no events")),
    }
}

/// Calls the function of a subscription.
async fn open<'a>(
    cx: &'a ExecutionContext<'_>,
    admission: &Admission<'_>,
    code: &'static dyn Code,
) -> Result<BoxStream<'a, Outcome<'a>>> {
    let Resolver::Stream(open) = Resolver::of(code) else {
        return Err(Error::internal("the code of a subscription gives no stream"));
    };
    let call = cx.call(admission)?;
    // The function itself may panic before it gives a future.
    let opened = AssertUnwindSafe(async { open(call).await }).catch_unwind().await;
    opened.unwrap_or_else(|panic| Err(crate::panic::error("the subscription", &*panic)))
}
