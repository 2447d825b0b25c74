//! The record of a subscription, which continues after the response to its request.

use std::sync::Arc;

use super::notes::milliseconds;
use super::record::Record;
use svc_core::request_id::RequestId;

/// The record of a subscription, whose line is written when the record is dropped.
#[derive(Debug)]
pub struct SubscriptionRecord {
    record: Arc<Record>,
    events: u64,
    errors: u64,
}

impl SubscriptionRecord {
    /// Starts the record of the subscription in the current request; `None` if requests are not
    /// logged.
    pub fn begin() -> Option<Box<Self>> {
        let record = Record::current().filter(|record| record.wanted.requests)?;
        Some(Box::new(Self {
            record,
            events: 0,
            errors: 0,
        }))
    }

    /// Counts an event and the errors of its response.
    pub fn event(&mut self, errors: usize) {
        self.events += 1;
        self.errors += errors as u64;
    }
}

impl Drop for SubscriptionRecord {
    fn drop(&mut self) {
        let notes = self.record.notes().clone();
        tracing::info!(
            target: "svc::request",
            request_id = notes.request_id.as_ref().map(RequestId::as_str),
            transport = self.record.transport,
            kind = notes.operation.kind,
            operation = notes.operation.name,
            user_id = notes.operation.user_id,
            events = self.events,
            errors = self.errors,
            duration_ms = milliseconds(self.record.began.elapsed()),
            "a subscription has ended"
        );
    }
}
