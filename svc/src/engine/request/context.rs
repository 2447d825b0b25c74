use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;

use super::data::Slots;
use super::{RequestParts, Transport};
use crate::db::Db;

/// A request, as [`AppOptions::request_data`](crate::AppOptions::request_data) gets it. It is cheap to clone.
#[derive(Clone)]
pub struct RequestContext(Arc<Shared>);

struct Shared {
    parts: RequestParts,
    db: Db,
    slots: Slots,
}

impl RequestContext {
    pub(super) fn new(parts: RequestParts, db: Db) -> Self {
        let slots = db.app.request_data.slots();
        Self(Arc::new(Shared { parts, db, slots }))
    }

    pub(super) fn parts(&self) -> &RequestParts {
        &self.0.parts
    }

    pub(super) fn slots(&self) -> &Slots {
        &self.0.slots
    }

    /// The database. Where the service has session variables, reading fails: their values are made from the request
    /// data, and no statement runs without them. [`Db::pool`] knows nothing of them.
    pub fn db(&self) -> &Db {
        &self.0.db
    }

    /// A value that an earlier [`AppOptions::request_data`](crate::AppOptions::request_data) has made for this request,
    /// or one given to [`AppOptions::data`](crate::AppOptions::data).
    ///
    /// # Errors
    /// When there is no value of this type; clients see it masked.
    pub fn data<T: Any + Send + Sync>(&self) -> crate::Result<&T> {
        self.0.slots.get(&self.0.db.app.request_data).map_or_else(|| self.0.db.app.data.get(), Ok)
    }

    /// The request's headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.0.parts.headers
    }

    /// A header's text; `None` when it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.parts.header(name)
    }

    /// A value that a layer around the endpoint has put into the request's extensions.
    pub fn extension<T: Any + Clone + Send + Sync>(&self) -> Option<&T> {
        self.0.parts.extension()
    }

    /// The address of the other end of the connection: the client's, or that of the last proxy.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.0.parts.peer_addr()
    }

    /// The way on which the request came.
    pub fn transport(&self) -> Transport {
        self.0.parts.transport
    }

    /// How long the request may still run, to about a second; `None` where it may run as long as it likes.
    pub fn time_left(&self) -> Option<Duration> {
        self.0.db.app.time_left(&self.0.parts)
    }
}

impl std::fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers and extensions may hold tokens.
        f.debug_struct("RequestContext").field("transport", &self.transport()).finish_non_exhaustive()
    }
}
