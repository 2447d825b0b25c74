//! The scope of a request: the state that its root fields share.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{RequestContext, RequestParts};
use crate::repository::Db;
use svc_postgres::Session;

/// The part of a request that its root fields share while it is executed.
pub struct RequestScope {
    /// The database with the session of the request.
    pub db: Db,
    request: Held,
    /// Whether a part of the response is a placeholder for data that could not be read.
    is_incomplete: AtomicBool,
}

/// The request, which is shared only if functions that create request data, or authorizers, may
/// keep it.
pub(crate) enum Held {
    Alone(RequestParts),
    Shared(RequestContext),
}

/// A small value to recreate a scope from, for holders that rarely need it. It contains no row
/// rules.
#[derive(Clone)]
pub(crate) struct ScopeSeed {
    request: RequestContext,
    session: Option<Arc<Session>>,
}

impl ScopeSeed {
    pub(crate) fn scope(&self) -> RequestScope {
        let db = Db {
            session: self.session.clone(),
            ..self.request.db().clone()
        };
        RequestScope::new(db, Held::Shared(self.request.clone()))
    }
}

impl RequestScope {
    pub(crate) fn new(db: Db, request: Held) -> Self {
        Self {
            db,
            request,
            is_incomplete: AtomicBool::new(false),
        }
    }

    /// Returns the same scope for keeping beyond the request; `None` if the request is not shared.
    pub fn share(&self) -> Option<Self> {
        self.share_with(&self.db)
    }

    /// Returns the same scope with another database, for keeping beyond the request; `None` if the
    /// request is not shared.
    pub(crate) fn share_with(&self, db: &Db) -> Option<Self> {
        match &self.request {
            Held::Alone(_) => None,
            Held::Shared(request) => Some(Self::new(db.clone(), Held::Shared(request.clone()))),
        }
    }

    /// Returns a seed of the same scope; `None` if the request is not shared.
    pub(crate) fn seed(&self) -> Option<ScopeSeed> {
        match &self.request {
            Held::Alone(_) => None,
            Held::Shared(request) => Some(ScopeSeed {
                request: request.clone(),
                session: self.db.session.clone(),
            }),
        }
    }

    /// Records that a part of the response is a placeholder for data that could not be read.
    pub(crate) fn note_incomplete(&self) {
        self.is_incomplete.store(true, Ordering::Relaxed);
    }

    /// Whether a part of the response is a placeholder for data that could not be read.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.is_incomplete.load(Ordering::Relaxed)
    }

    pub(crate) fn parts(&self) -> &RequestParts {
        match &self.request {
            Held::Alone(parts) => parts,
            Held::Shared(request) => request.parts(),
        }
    }

    /// Returns a value of the request data.
    pub fn data<T: Any>(&self) -> Option<&T> {
        match &self.request {
            Held::Alone(_) => None,
            Held::Shared(request) => request.request_data(),
        }
    }
}
