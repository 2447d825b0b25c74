//! Planned subscriptions: the rows named by events.

use std::sync::{Arc, LazyLock};

use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;

use super::Step;
use super::answers::Giver;
use super::event::{Item, Subscriber};
use super::event_rules::EventRules;
use super::sent_rows::{LastLook, SentRows};
use crate::events::{Accepts, Delivery, Event, Feed, Operation, RowEvent, too_slow};
use crate::graphql::find::{EventFilter, EventRow};
use crate::graphql::response::{Answer, Response, ShownErrors};
use crate::sql::Filter;
use svc_postgres::Participant;

/// The rows of a planned subscription.
pub(super) struct Rows<'a> {
    subscriber: Subscriber<'a>,
    asked: Arc<AskedRows>,
    feed: Feed,
}

/// The hasher of responses, which are only compared with others of the same process.
static HASHER: LazyLock<ahash::RandomState> = LazyLock::new(ahash::RandomState::new);

/// The rows that a client subscribes to, and the rows that it has been sent.
pub(super) struct AskedRows {
    filter: EventFilter,
    /// The row rules, if there are any.
    rules: Option<Box<EventRules>>,
    /// Whether deleted rows are reported.
    tells_deleted: bool,
    sent: SentRows,
}

impl AskedRows {
    pub(super) fn new(
        filter: EventFilter,
        rules: Option<Box<EventRules>>,
        tells_deleted: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            filter,
            rules,
            tells_deleted,
            sent: SentRows::default(),
        })
    }

    /// The ids of the rows that the client may hold, and of the rows that waiting events named,
    /// without duplicates.
    fn known(&self, waiting: Vec<String>) -> Vec<String> {
        let mut known = self.sent.ids();
        for id in waiting.into_iter().chain(self.filter.only_row()) {
            if !known.contains(&id) {
                known.push(id);
            }
        }
        known
    }
}

impl Accepts for AskedRows {
    /// Forgets a row that no longer fits, and marks one that is denied as no longer seen.
    fn accepts(&self, event: &RowEvent) -> bool {
        let is_denied = || {
            self.rules
                .as_ref()
                .is_some_and(|rules| rules.deny(self.filter.row(), event))
        };

        match event.operation {
            // The row may be known from before it became forbidden, so its last values decide.
            Operation::Deleted => {
                let may_have = self.sent.may_have(&event.id);
                let is_denied = may_have && is_denied();
                if is_denied {
                    // Another event about the deletion may not show whose row it was.
                    self.sent.lose(&event.id);
                }
                may_have && !is_denied
            }
            Operation::Changed => {
                let fits = self.filter.left(event).is_some();
                if !fits {
                    self.sent.forget(&event.id);
                }
                let is_denied = fits && is_denied();
                if is_denied {
                    self.sent.lose(&event.id);
                }
                fits && !is_denied
            }
        }
    }

    fn is_fit(&self, event: &RowEvent) -> bool {
        self.filter.is_key(&event.id)
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(subscriber: Subscriber<'a>, asked: Arc<AskedRows>, feed: Feed) -> Self {
        Self {
            subscriber,
            asked,
            feed,
        }
    }

    /// Answers each event that the client subscribes to.
    pub(super) async fn answer(&mut self, giver: &Giver<Step>) {
        while let Some(delivery) = self.feed.next().await {
            match delivery {
                Delivery::Event {
                    event,
                    hides,
                    participant,
                } => {
                    let Some(participant) = participant else {
                        continue;
                    };
                    // Owns the event, so that none of it is kept while the client takes the
                    // response.
                    if let Some(response) = self.event(event, hides, participant).boxed().await {
                        self.give(giver, response).await;
                    }
                }
                Delivery::Gap {
                    participant,
                    waiting,
                } => {
                    let Some(participant) = participant else {
                        continue;
                    };
                    self.look_at_all(participant, waiting, giver).boxed().await;
                }
                Delivery::Overflow => return self.end(giver).boxed().await,
            }
        }
    }

    /// Sends the client a response, and waits until it is taken.
    async fn give(&self, giver: &Giver<Step>, response: Response) {
        // Until the client has taken it, events that do not fit in the queue count as slowness of
        // the client.
        self.feed.set_reading(false);
        giver.give(Step::Event(response)).await;
        self.feed.set_reading(true);
    }

    /// Answers with the rows that changed while there was no listener, or while too many events
    /// were waiting.
    async fn look_at_all(
        &self,
        participant: Participant,
        waiting: Vec<String>,
        giver: &Giver<Step>,
    ) {
        for id in self.asked.known(waiting) {
            if let Some(response) = self.look(&id, &participant).boxed().await {
                self.give(giver, response).await;
            }
        }
    }

    /// Answers with the error that the client was too slow.
    async fn end(&self, giver: &Giver<Step>) {
        if let Some(response) = self.subscriber.answer(Item::Value(Err(too_slow()))).await {
            giver.give(Step::Event(response)).await;
        }
    }

    /// Answers an event. `hides` means that an earlier change of the row was skipped.
    async fn event(
        &self,
        event: Arc<Event>,
        hides: bool,
        participant: Participant,
    ) -> Option<Response> {
        let event = event.row.as_ref()?;
        match event.operation {
            Operation::Deleted => {
                let last = self
                    .asked
                    .sent
                    .forget(&event.id)
                    .filter(|_| self.asked.tells_deleted)?;

                // After an unsent change, the row may have belonged to another subscriber when it
                // was deleted.
                let was_theirs = !hides && last != LastLook::Unseen;
                let (row, Subscriber { engine, scope, .. }) =
                    (self.asked.filter.row(), self.subscriber);
                let is_told = was_theirs || self.subscriber.could_see(row, event);

                // The response consists of the key, which may be a gated field.
                (is_told && engine.tells_keys(row, scope).await).then(|| self.deleted(&event.id))
            }
            Operation::Changed => {
                let filters = self.asked.filter.left(event)?;
                self.read(&event.id, filters, &participant).await
            }
        }
    }

    /// Answers with a row that may have changed while there was no listener. Returns `None` if it
    /// has not.
    async fn look(&self, id: &str, participant: &Participant) -> Option<Response> {
        let before = self.asked.sent.get(id);
        let response = self
            .read(id, self.asked.filter.besides_key(), participant)
            .await?;
        let is_same = before.is_some() && self.asked.sent.get(id) == before;
        (!is_same).then_some(response)
    }

    /// Reads a row. A row that the subscriber no longer sees is marked as such, and a row with
    /// errors is forgotten. What events show meanwhile counts more, because they are about later
    /// changes.
    async fn read(
        &self,
        id: &str,
        filters: Vec<Filter>,
        participant: &Participant,
    ) -> Option<Response> {
        let sent = &self.asked.sent;

        // Begun before the read: an event that arrives meanwhile is newer than the result.
        sent.begin_reading(id);
        let row = EventRow {
            row: &self.asked.filter,
            id,
            filters,
            participant,
        };

        let response = self.subscriber.answer(Item::Row(row)).await;
        match &response {
            Some(Response {
                answer: Answer::Executed { errors: 0 },
                body,
                ..
            }) => sent.put(id, HASHER.hash_one(body)),
            Some(_) => {
                sent.forget(id);
            }
            None => sent.lose(id),
        }

        sent.end_reading();

        response
    }

    /// The response for a deleted row: null, with its id in `extensions`.
    fn deleted(&self, id: &str) -> Response {
        let mut body = Response::begin(64);
        let key = self.subscriber.admission.field().key.as_str();
        body.extend_from_slice(json!({ key: null }).to_string().as_bytes());
        let response = Response::executed(Some(body), &ShownErrors::NONE);
        response.with_extension("deleted", &json!({ "id": id }))
    }
}
