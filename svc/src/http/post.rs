//! The service behind `POST`: the endpoint's future, at the least cost.

use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;

use super::guard::panicked;
use super::negotiate::MediaType;
use super::{AppState, endpoint};
use crate::request::Transport;
use crate::wake_flag::WakeFlag;

/// The service that answers `POST`.
///
/// It is not a handler, as those are moved with their future for each request, which is several kB here.
#[derive(Debug, Clone)]
pub(super) struct Post {
    service: Arc<AppState>,
    transport: Transport,
}

impl Post {
    pub(super) fn new(service: &Arc<AppState>, transport: Transport) -> Self {
        Self { service: service.clone(), transport }
    }
}

impl tower::Service<Request> for Post {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Woken;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Woken {
        let (service, transport) = (self.service.clone(), self.transport);
        let media = MediaType::negotiate(request.headers());
        // Written where it stays.
        let future =
            Box::write(Box::new_uninit(), async move { endpoint::post(&service, request, transport, media).await });
        Woken::new(Box::into_pin(future), media)
    }
}

/// A request's future, polled only when something has woken it: hyper polls it for its own reasons as well, such as a
/// body that has been read.
pub(super) struct Woken {
    future: Pin<Box<dyn Future<Output = Response<Body>> + Send>>,
    woken: Arc<WakeFlag>,
    waker: Waker,
    begun: bool,
    media: Option<MediaType>,
}

impl Woken {
    fn new(future: Pin<Box<dyn Future<Output = Response<Body>> + Send>>, media: Option<MediaType>) -> Self {
        let woken = Arc::<WakeFlag>::default();
        Self { future, waker: woken.clone().into(), woken, begun: false, media }
    }
}

impl Future for Woken {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if !this.woken.take_wake(cx.waker()) && this.begun {
            return Poll::Pending;
        }
        this.begun = true;
        let polled =
            catch_unwind(AssertUnwindSafe(|| this.future.as_mut().poll(&mut Context::from_waker(&this.waker))));
        polled.unwrap_or_else(|panic| Poll::Ready(panicked(this.media.unwrap_or(MediaType::Json), &*panic))).map(Ok)
    }
}
