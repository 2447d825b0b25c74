//! The request log: a line for each request, and a warning for each slow operation.
//!
//! A layer around the routes creates a record of each request and makes it current while the
//! request is polled, so that all code that runs in it can add to it: the engine adds the
//! operation, the gate and the driver their times. If neither the log nor the warnings are enabled
//! there is no layer, and code that would record something only checks one flag.

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

pub use notes::OperationNote;
pub use record::{
    RunningSql, gate_asked, in_batch, note_answer, note_code, note_operation, statement_began,
};
pub use subscribed::SubscriptionRecord;

#[cfg(feature = "websocket")]
use record::Record;

/// Whether an application of this process has a request log.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// The request log of the first application that has one, for layers around it.
static FIRST: OnceLock<RequestLog> = OnceLock::new();

/// The request log of an application.
#[derive(Debug, Clone)]
pub struct RequestLog(Arc<Wanted>);

/// The part of the settings that the log uses.
#[derive(Debug)]
struct Wanted {
    requests: bool,
    users: bool,
    slow: Option<Duration>,
}

impl RequestLog {
    /// Creates the request log for these settings; `None` if they disable it.
    pub fn of(config: &LogConfig) -> Option<Self> {
        let LogConfig {
            requests,
            users,
            slow_operation: slow,
            ..
        } = *config;

        if !requests && slow.is_none() {
            return None;
        }

        IS_ON.store(true, Ordering::Relaxed);
        let log = Self(Arc::new(Wanted {
            requests,
            users,
            slow,
        }));

        FIRST.get_or_init(|| log.clone());

        Some(log)
    }

    /// Runs an operation on a connection whose opening request has already been logged.
    #[cfg(feature = "websocket")]
    pub async fn operation<F: Future>(&self, transport: &'static str, operation: F) -> F::Output {
        Arc::new(Record::new(self.0.clone(), transport))
            .around(operation)
            .await
    }
}

/// Adds the process's request log around a router again, where an outer layer rejects requests
/// before they reach the inner log.
pub fn around(router: Router) -> Router {
    match FIRST.get() {
        Some(log) => router.layer(log.clone()),
        None => router,
    }
}

/// Whether anything is logged.
fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}
