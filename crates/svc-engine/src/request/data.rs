//! The request as passed to the functions that create request data, and the values that they
//! create.

use std::any::{Any, TypeId};
use std::future::Future;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::HeaderMap;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{RequestParts, Transport};
use crate::repository::Db;
use svc_core::Result;

/// A request, as passed to `AppOptions::request_data`. It is cheap to clone.
#[derive(Clone)]
pub struct RequestContext(Arc<Shared>);

struct Shared {
    parts: RequestParts,
    db: Db,
    makers: Arc<RequestDataMakers>,
    slots: Slots,
}

impl RequestContext {
    pub(crate) fn new(parts: RequestParts, db: Db, makers: Arc<RequestDataMakers>) -> Self {
        let slots = makers.slots();
        Self(Arc::new(Shared {
            parts,
            db,
            makers,
            slots,
        }))
    }

    pub(crate) fn parts(&self) -> &RequestParts {
        &self.0.parts
    }

    /// Returns a value of the request data, once created.
    pub(super) fn request_data<T: Any>(&self) -> Option<&T> {
        self.0.slots.get(&self.0.makers)
    }

    /// Returns the database. If the service has session variables, reading fails: their values
    /// depend on the request data, and no statement runs without them. [`Db::pool`] does not set
    /// them.
    pub fn db(&self) -> &Db {
        &self.0.db
    }

    /// Returns a value that an earlier `AppOptions::request_data` has created for this request, or
    /// one passed to `AppOptions::data`.
    ///
    /// # Errors
    /// Fails if there is no value of this type; the message is masked for clients.
    pub fn data<T: Any + Send + Sync>(&self) -> Result<&T> {
        self.request_data()
            .map_or_else(|| self.0.db.app.data.get(), Ok)
    }

    /// Returns the request's headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.0.parts.headers
    }

    /// Returns a header's text; `None` if it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.parts.header(name)
    }

    /// Returns a value that a layer around the endpoint has inserted into the request's extensions.
    pub fn extension<T: Any + Clone + Send + Sync>(&self) -> Option<&T> {
        self.0.parts.extension()
    }

    /// Returns the authenticated user; see [`Context::user`](crate::Context::user).
    #[cfg(feature = "auth")]
    pub fn user(&self) -> Option<&svc_auth::UserContext> {
        self.0.parts.user()
    }

    /// Returns the authenticated user, or an error if there is none; see
    /// [`Context::require_user`](crate::Context::require_user).
    ///
    /// # Errors
    /// `UNAUTHENTICATED` if there is none.
    #[cfg(feature = "auth")]
    pub fn require_user(&self) -> Result<&svc_auth::UserContext> {
        self.user().ok_or_else(|| self.0.parts.unauthenticated())
    }

    /// Returns the address of the peer of the connection: the client, or the last proxy.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.0.parts.peer_addr()
    }

    /// Returns the transport of the request.
    pub fn transport(&self) -> Transport {
        self.0.parts.transport
    }

    /// Returns the time that the request may still run, to about a second; `None` if it is not
    /// limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.0.db.app.time_left(self.0.parts.started())
    }
}

impl std::fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers and extensions may contain tokens.
        f.debug_struct("RequestContext")
            .field("transport", &self.transport())
            .finish_non_exhaustive()
    }
}

type Value = Box<dyn Any + Send + Sync>;
type Make = dyn Fn(RequestContext) -> BoxFuture<'static, Result<Value>> + Send + Sync;

/// The functions that create the request data, in the order of their execution.
#[derive(Default)]
pub struct RequestDataMakers(Vec<Maker>);

struct Maker {
    ty: TypeId,
    name: &'static str,
    make: Box<Make>,
}

/// The request data of one request, in the order of the makers; slots of makers that have not run
/// yet are empty.
struct Slots(Box<[OnceLock<Value>]>);

impl RequestDataMakers {
    /// Adds a maker, replacing an existing one for the same type.
    pub fn insert<T, F, R>(&mut self, make: F)
    where
        T: Any + Send + Sync,
        F: Fn(RequestContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T>> + Send + 'static,
    {
        let make = move |request| {
            let made = make(request);
            async move { Ok(Box::new(made.await?) as Value) }.boxed()
        };

        let maker = Maker {
            ty: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
            make: Box::new(make),
        };

        match self.0.iter_mut().find(|known| known.ty == maker.ty) {
            Some(known) => *known = maker,
            None => self.0.push(maker),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn slots(&self) -> Slots {
        Slots(self.0.iter().map(|_| OnceLock::new()).collect())
    }

    /// Creates the values of a request, one after the other.
    ///
    /// # Errors
    /// Returns the first error, which becomes the request's.
    pub(crate) async fn make(&self, request: &RequestContext) -> Result<()> {
        for (maker, slot) in self.0.iter().zip(&request.0.slots.0) {
            // Called inside of the future, because the function may panic before it returns one.
            let make = async { (maker.make)(request.clone()).await };
            let made = AssertUnwindSafe(make)
                .catch_unwind()
                .await
                .unwrap_or_else(|panic| {
                    Err(svc_telemetry::panic::error(
                        &format!("making the request data `{}`", maker.name),
                        &*panic,
                    ))
                });

            // Each value is created once.
            let _ = slot.set(made?);
        }

        Ok(())
    }
}

impl Slots {
    /// Returns the value of a type, once created.
    fn get<T: Any>(&self, makers: &RequestDataMakers) -> Option<&T> {
        let index = makers
            .0
            .iter()
            .position(|maker| maker.ty == TypeId::of::<T>())?;
        self.0.get(index)?.get()?.downcast_ref()
    }
}

impl std::fmt::Debug for RequestDataMakers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|maker| maker.name))
            .finish()
    }
}
