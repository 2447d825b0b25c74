//! Subscriptions: a stream of responses to one operation.
//!
//! A subscription is one future, which lives as long as its stream: it passes the gate, creates the
//! stream of events, and completes each event like the response of a query.

mod answers;
mod event;
mod event_rules;
mod response_stream;
mod rows;
mod sent_rows;
mod visible;

pub use response_stream::ResponseStream;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};

use self::answers::{Answers, Giver};
use self::event::{Item, Subscriber};
use self::event_rules::EventRules;
use self::response_stream::Step;
use self::rows::{AskedRows, Rows};
use super::context::ExecutionContext;
use super::execute::metrics::{self, Begun};
use super::execute::{Engine, Prepared, Request, record_errors, record_late, record_refused};
use super::find::EventFilter;
use super::plan::{Admission, RootField};
use super::resolver::{Outcome, Resolver};
use super::response::{FieldError, Path, Response, ResponseBudget};
use crate::request::{RequestParts, RequestScope, Transport};
use crate::shared_state::RequestDeadlines;
use svc_core::schema::{Code, EventMeta, OperationKind, Run, Shape, TypeIndex};
use svc_core::{Error, Result};

impl Engine {
    /// Runs an operation on a streaming transport, and returns the responses to a subscription.
    ///
    /// # Errors
    /// The single response to everything else: to a request that is rejected, to a query, and to a
    /// mutation.
    pub async fn subscribe(
        self: &Arc<Self>,
        mut request: Request<'_>,
        parts: RequestParts,
    ) -> Result<ResponseStream, Response> {
        #[cfg(feature = "redis")]
        self.learn(&request).await;
        let begun = Begun::now();
        let prepared = self.prepare(&mut request, parts.allowed);
        let mut prepared = prepared
            .inspect_err(|refused| record_refused(&self.app, &parts, refused))
            .map_err(metrics::counted_refusal)?;
        let Some(span) = prepared.span_on(parts.transport) else {
            return self.subscribe_prepared(prepared, parts, begun).await;
        };

        prepared.subscribed = Some(span.link());
        let begun = span
            .around(self.subscribe_prepared(prepared, parts, begun))
            .boxed()
            .await;

        begun.inspect_err(|response| metrics::end_span(&span, response))
    }

    async fn subscribe_prepared(
        self: &Arc<Self>,
        mut prepared: Prepared,
        parts: RequestParts,
        begun: Begun,
    ) -> Result<ResponseStream, Response> {
        if prepared.plan.kind != OperationKind::Subscription {
            return Err(self.run_prepared(&mut prepared, parts, begun).boxed().await);
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

        let started = self
            .app
            .deadlines
            .as_deref()
            .map_or(0, RequestDeadlines::start);

        parts.restart(started);
        let scope = match self.request_data.is_empty() {
            true => self.scope(parts, &prepared.plan),
            false => self.bounded_scope(parts, &prepared.plan).boxed().await?,
        };

        let scope = Arc::new(scope);
        let (engine, shared) = (self.clone(), scope.clone());
        let steps =
            Answers::new(|giver| async move { engine.answer(&prepared, &shared, &giver).await });
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

    /// Runs a subscription, from the gate to the last event.
    async fn answer(&self, prepared: &Prepared, scope: &RequestScope, giver: &Giver<Step>) {
        let Some(field) = prepared.plan.root.fields.first() else {
            return;
        };

        // Boxed with its context, because this future reserves space for everything that it holds
        // while it waits.
        let answer = ResponseBudget::new(self.app.limits.answer);
        let admitting = async {
            let cx = self.context(prepared, scope, &answer);
            self.admit(&cx, field, false).await
        };

        let admitted = admitting.boxed().await;
        let admission = match admitted {
            Ok(admission) => admission,
            Err(denied) => {
                record_errors(
                    &self.context(prepared, scope, &answer),
                    &[FieldError::new(&denied, field, &Path::Root.key(&field.key))],
                );
                return giver.give(Step::Refused(Response::failed(&denied))).await;
            }
        };

        let subscriber = Subscriber {
            engine: self,
            prepared,
            scope,
            admission: &admission,
        };

        // Boxed are the futures that need more space than most subscriptions that wait for an
        // event.
        let refused = match RootField::of(&admission) {
            Some((Run::Stream(code), _)) => subscriber.answer_stream(code, giver).boxed().await,
            Some((Run::Event(event), Some(row))) => match subscriber.rows(event, row).boxed().await
            {
                Ok(mut rows) => {
                    giver.give(Step::Begun).await;
                    return rows.answer(giver).await;
                }
                Err(error) => Err(error),
            },
            _ => Err(Error::internal("the field of a subscription has no events")),
        };

        if let Err(error) = refused {
            giver.give(Step::Refused(Response::failed(&error))).await;
        }
    }
}

impl<'a> Subscriber<'a> {
    /// Answers with the items of a function's stream.
    ///
    /// # Errors
    /// The error of a function that rejects the subscription.
    async fn answer_stream(&self, code: &'static dyn Code, giver: &Giver<Step>) -> Result<()> {
        let (db, answer) = (self.db(), self.answer_bytes());
        let cx = self
            .engine
            .context(self.prepared, self.scope, &answer)
            .with_db(&db);
        let events = open(&cx, self.admission, code).boxed().await?;
        giver.give(Step::Begun).await;
        self.answer_all(events, giver).await;

        Ok(())
    }

    /// The rows named by the events of a channel.
    async fn rows(
        self,
        EventMeta { channel, planned }: EventMeta,
        row: TypeIndex,
    ) -> Result<Rows<'a>> {
        // In a block, because a value that is alive across an `await` takes space in each waiting
        // subscription.
        let filter = {
            let (db, answer) = (self.db(), self.answer_bytes());
            let cx = self
                .engine
                .context(self.prepared, self.scope, &answer)
                .with_db(&db);
            EventFilter::of(&cx, self.admission.field(), row)?
        };

        let asked = AskedRows::new(
            filter,
            EventRules::of(&self),
            planned.shape == Shape::Optional,
        );

        // Subscribed before the client is told that the subscription has begun, so that it misses
        // no event from then on.
        let feed = self
            .engine
            .app
            .events
            .subscribe(channel, Some(asked.clone()))
            .await?;

        Ok(Rows::new(self, asked, feed))
    }

    /// Answers the events of a function's stream. A panic in the stream is an error, and ends it.
    async fn answer_all(&self, mut events: BoxStream<'_, Outcome<'_>>, giver: &Giver<Step>) {
        loop {
            let (event, is_over) = match AssertUnwindSafe(events.next()).catch_unwind().await {
                Ok(Some(event)) => (event, false),
                Ok(None) => return,
                Err(panic) => (
                    Err(svc_telemetry::panic::error("the stream", &*panic)),
                    true,
                ),
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

/// Calls the function of a subscription.
async fn open<'a>(
    cx: &'a ExecutionContext<'_>,
    admission: &Admission<'_>,
    code: &'static dyn Code,
) -> Result<BoxStream<'a, Outcome<'a>>> {
    let Resolver::Stream(open) = Resolver::of(code) else {
        return Err(Error::internal(
            "the code of a subscription gives no stream",
        ));
    };

    let call = cx.call(admission)?;

    // The function itself may panic before it returns a future.
    let opened = AssertUnwindSafe(async { open(call).await })
        .catch_unwind()
        .await;

    opened.unwrap_or_else(|panic| Err(svc_telemetry::panic::error("the subscription", &*panic)))
}
