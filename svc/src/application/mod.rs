//! The parts of a service that all its requests share: its schema, its limits, its database, its data.

mod data;
mod deadline;
mod limits;

pub use limits::{LimitMode, Limits};

pub(crate) use data::DataMap;
pub(crate) use deadline::RequestDeadlines;

use std::sync::Arc;
use std::time::Duration;

use crate::events::Hub;
use crate::mutation::Constraints;
use crate::postgres::Database;
use crate::response_cache::Responses;
use crate::schema::Model;
use crate::security_log::Clients;

/// The state that all requests share, behind one pointer: counting who has it is work that the processors wait for.
pub(crate) struct Application {
    pub(crate) model: Arc<Model>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) database: Arc<Database>,
    pub(crate) data: DataMap,
    /// The messages of constraints that mutations break.
    pub(crate) constraints: Constraints,
    pub(crate) events: Arc<Hub>,
    /// `None` where no answers are kept.
    pub(crate) responses: Option<Arc<Responses>>,
    /// `None` where requests may take as long as they like.
    pub(crate) deadlines: Option<Arc<RequestDeadlines>>,
    /// The clients, as security events name them.
    pub(crate) clients: Clients,
}

impl Application {
    /// Returns the time that a request may take; zero where that has no limit.
    pub(crate) fn request_limit(&self) -> Duration {
        self.deadlines.as_ref().map_or(Duration::ZERO, |deadlines| deadlines.limit)
    }

    /// Returns the time that a request which began at a beat may still run.
    pub(crate) fn time_left(&self, started: u32) -> Option<Duration> {
        self.deadlines.as_ref().map(|deadlines| deadlines.time_left(started))
    }
}

impl std::fmt::Debug for Application {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Application").field("model", &self.model).finish_non_exhaustive()
    }
}
