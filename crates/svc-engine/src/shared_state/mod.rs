//! The parts of a service shared by all its requests: its schema, its limits, its database, its
//! data.

mod data;
mod deadline;

pub use data::DataMap;
pub use deadline::RequestDeadlines;

use std::sync::Arc;
use std::time::Duration;

use crate::events::Hub;
use crate::limits::Limits;
use crate::mutation_result::Constraints;
use crate::response_cache::Responses;
use svc_core::schema::Model;
use svc_postgres::Database;
use svc_telemetry::security_log::Clients;

/// The state shared by all requests, behind one pointer: each reference count is a point of
/// contention between processors.
pub struct SharedState {
    pub model: Arc<Model>,
    pub limits: Arc<Limits>,
    pub database: Arc<Database>,
    pub data: DataMap,
    /// The messages for violated constraints.
    pub constraints: Constraints,
    pub events: Arc<Hub>,
    /// `None` if no responses are cached.
    pub responses: Option<Arc<Responses>>,
    /// `None` if requests have no time limit.
    pub deadlines: Option<Arc<RequestDeadlines>>,
    /// The client identification used in security events.
    pub clients: Clients,
}

impl SharedState {
    /// Returns the time limit of requests; zero without a limit.
    pub fn request_limit(&self) -> Duration {
        self.deadlines
            .as_ref()
            .map_or(Duration::ZERO, |deadlines| deadlines.limit)
    }

    /// Returns the remaining time of a request that started at a beat.
    pub(crate) fn time_left(&self, started: u32) -> Option<Duration> {
        self.deadlines
            .as_ref()
            .map(|deadlines| deadlines.time_left(started))
    }
}

impl std::fmt::Debug for SharedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedState")
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
