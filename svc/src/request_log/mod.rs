//! The request log: a line for each request, and a warning of each slow operation.
//!
//! A layer around the routes makes a record of each request, which is the task's while the request is polled, so that
//! whatever runs in it notes what it knows: the engine the operation, the gate and the driver their times. Where neither
//! the log nor the warnings are wanted there is no layer, and whoever would note something asks for one flag.

mod config;
mod layer;
mod line;
mod notes;
mod record;
mod slow;
mod subscribed;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;

pub use config::{LogConfig, LogFormat};

pub(crate) use notes::OperationNote;
pub(crate) use record::{RunningSql, gate_asked, in_batch, note_answer, note_code, note_operation, statement_began};
pub(crate) use subscribed::SubscriptionRecord;

#[cfg(feature = "websocket")]
use record::Record;

/// Whether an application of this process has a request log.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// The request log of the first application that has one, for what is put around it.
static FIRST: OnceLock<RequestLog> = OnceLock::new();

/// The request log of an application.
#[derive(Debug, Clone)]
pub(crate) struct RequestLog(Arc<Wanted>);

/// The part of the settings that says what is wanted of it.
#[derive(Debug)]
struct Wanted {
    requests: bool,
    users: bool,
    slow: Option<Duration>,
}

impl RequestLog {
    /// The request log of these settings; `None` where nothing is wanted of it.
    pub(crate) fn of(config: &LogConfig) -> Option<Self> {
        let LogConfig { requests, users, slow_operation: slow, .. } = *config;
        if !requests && slow.is_none() {
            return None;
        }
        IS_ON.store(true, Ordering::Relaxed);
        let log = Self(Arc::new(Wanted { requests, users, slow }));
        FIRST.get_or_init(|| log.clone());
        Some(log)
    }

    /// Answers an operation on a connection whose request was answered before.
    #[cfg(feature = "websocket")]
    pub(crate) async fn operation<F: Future>(&self, transport: &'static str, operation: F) -> F::Output {
        Arc::new(Record::new(self.0.clone(), transport)).around(operation).await
    }
}

/// Puts the request log of the process around a router, once more, where something around it refuses requests that would
/// not come to it otherwise.
pub(crate) fn around(router: Router) -> Router {
    match FIRST.get() {
        Some(log) => router.layer(log.clone()),
        None => router,
    }
}

/// Whether somebody may want to know what happens.
fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}
