//! Request data: values that are made once for each request.

use std::any::{Any, TypeId};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::RequestContext;
use crate::{Error, Result};

type Value = Box<dyn Any + Send + Sync>;
type Make = dyn Fn(RequestContext) -> BoxFuture<'static, Result<Value>> + Send + Sync;

/// The functions that make the request data, in the order in which they run.
#[derive(Default)]
pub(crate) struct RequestDataMakers(Vec<Maker>);

struct Maker {
    ty: TypeId,
    name: &'static str,
    make: Box<Make>,
}

/// The request data of one request, in the order of the makers; those that have not run yet are empty.
pub(super) struct Slots(Box<[OnceLock<Value>]>);

impl RequestDataMakers {
    /// Adds a maker; one for the same type is replaced.
    pub(crate) fn insert<T, F, R>(&mut self, make: F)
    where
        T: Any + Send + Sync,
        F: Fn(RequestContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T>> + Send + 'static,
    {
        let make = move |request| {
            let made = make(request);
            async move { Ok(Box::new(made.await?) as Value) }.boxed()
        };
        let maker = Maker { ty: TypeId::of::<T>(), name: std::any::type_name::<T>(), make: Box::new(make) };
        match self.0.iter_mut().find(|known| known.ty == maker.ty) {
            Some(known) => *known = maker,
            None => self.0.push(maker),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn slots(&self) -> Slots {
        Slots(self.0.iter().map(|_| OnceLock::new()).collect())
    }

    /// Makes the values of a request, one after the other.
    ///
    /// # Errors
    /// The first one, which is the request's.
    pub(super) async fn make(&self, request: &RequestContext) -> Result<()> {
        for (maker, slot) in self.0.iter().zip(&request.slots().0) {
            let make = async { (maker.make)(request.clone()).await };
            let made = AssertUnwindSafe(make).catch_unwind().await.unwrap_or_else(|panic| {
                let why = crate::panic::message(&*panic);
                Err(Error::internal(format!("making the request data `{}` panicked: {why}", maker.name)))
            });
            // Each is made once.
            let _ = slot.set(made?);
        }
        Ok(())
    }
}

impl Slots {
    /// The value of a type, once it is made.
    pub(super) fn get<T: Any>(&self, makers: &RequestDataMakers) -> Option<&T> {
        let index = makers.0.iter().position(|maker| maker.ty == TypeId::of::<T>())?;
        self.0.get(index)?.get()?.downcast_ref()
    }
}

impl std::fmt::Debug for RequestDataMakers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|maker| maker.name)).finish()
    }
}
