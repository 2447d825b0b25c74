//! The services for `POST` and `QUERY`, which run the endpoint's future with minimal overhead.

use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;
use futures_util::future::{Either, Ready, ready};

use super::panic_guard::{Caught, panicked};
use super::protection::{Client, CommonHeaders};
use super::reply::MediaType;
use super::streamed::StreamType;
use super::{HttpState, endpoint, streamed};
use crate::rate_limit::{Answer, LimitedFuture};
use svc_core::task::wake_flag::WakeFlag;
use svc_engine::request::{Hooked, RequestHook, Transport, is_query};

/// The boxed future of a response.
type ResponseFuture = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// The service that handles requests with a body.
///
/// Implemented as a `Service`, not a handler: axum moves a handler's future on every request, and
/// ours is several kB.
#[derive(Debug, Clone)]
pub(super) struct Post {
    service: Arc<HttpState>,
    transport: Transport,
    /// Whether this service applies rate limits itself. If an outer layer does, it leaves its hook
    /// in the extensions.
    is_limiting: bool,
}

impl Post {
    pub(super) fn new(service: &Arc<HttpState>, transport: Transport, is_limiting: bool) -> Self {
        Self {
            service: service.clone(),
            transport,
            is_limiting,
        }
    }
}

impl tower::Service<Request> for Post {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = LimitedFuture<Woken>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> LimitedFuture<Woken> {
        match self
            .service
            .rate_limits
            .as_ref()
            .filter(|_| self.is_limiting)
        {
            Some(limits) => limits.around(request, |request, hook| self.answer(request, hook)),
            None => LimitedFuture::Free {
                answering: self.answer(request, None),
            },
        }
    }
}

impl Post {
    fn answer(&self, request: Request, hook: Option<Arc<dyn RequestHook>>) -> Woken {
        let (service, transport) = (self.service.clone(), self.transport);
        let hook = hook.or_else(|| Hooked::of(request.extensions()));
        let common = CommonHeaders::of(request.headers());
        let media = if common.accepts_json {
            Some(MediaType::Json)
        } else {
            MediaType::negotiate(request.headers())
        };

        if transport != Transport::RustEndpoint
            && !common.accepts_json
            && let Some(wanted) = StreamType::wanted(request.headers())
        {
            let future = boxed_stream(service, request, hook, wanted, media);
            return Woken::new(future, media);
        }

        let id = service.protection.identify_common(&request, common);
        let client = service.protection.client(&request, id);

        Woken::new(
            boxed(service, client, request, hook, transport, media, common),
            media,
        )
    }
}

/// The service for the methods that axum cannot route: `QUERY`, and the rejected ones.
#[derive(Debug, Clone)]
pub(super) struct OtherMethods(pub(super) Post);

impl tower::Service<Request> for OtherMethods {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<LimitedFuture<Woken>, Ready<Answer>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if is_query(request.method()) {
            Either::Left(tower::Service::call(&mut self.0, request))
        } else {
            Either::Right(ready(Ok(endpoint::other_method())))
        }
    }
}

/// Returns the boxed future of a stream.
#[cold]
#[inline(never)]
fn boxed_stream(
    service: Arc<HttpState>,
    request: Request,
    hook: Option<Arc<dyn RequestHook>>,
    wanted: StreamType,
    media: Option<MediaType>,
) -> ResponseFuture {
    Box::pin(async move {
        let answer =
            |request, address| streamed::answer(&service, request, hook, wanted, media, address);
        service.protection.around(request, media, answer).await
    })
}

/// Returns the boxed future of a response. A function of its own: in a longer one, the compiler
/// does not notice that most of the future is uninitialized, and copies all of it. It does what
/// [`Protection::around`](super::protection::Protection::around) does, without moving the request
/// through further futures.
#[inline(never)]
fn boxed(
    service: Arc<HttpState>,
    client: Client,
    request: Request,
    hook: Option<Arc<dyn RequestHook>>,
    transport: Transport,
    media: Option<MediaType>,
    common: CommonHeaders,
) -> ResponseFuture {
    // Written directly into its allocation.
    let future = Box::write(Box::new_uninit(), async move {
        let protection = &service.protection;
        let mut response = match protection.check_load(client.address) {
            Ok(()) => {
                let address = client.address;
                let answering = pin!(endpoint::post(
                    &service, request, hook, transport, media, common, address
                ));
                Caught::new(client.id.as_ref(), media, answering).await
            }
            Err(refusal) => refusal.reply(media.unwrap_or(MediaType::Json)),
        };

        protection.complete(&mut response, client);

        response
    });

    Box::into_pin(future)
}

/// A request's future, polled only if it was woken: hyper also polls for its own reasons, such as a
/// body that has been read.
pub(super) struct Woken {
    future: ResponseFuture,
    woken: Arc<WakeFlag>,
    waker: Waker,
    begun: bool,
    media: Option<MediaType>,
}

impl Woken {
    fn new(future: ResponseFuture, media: Option<MediaType>) -> Self {
        let woken = Arc::<WakeFlag>::default();
        Self {
            future,
            waker: woken.clone().into(),
            woken,
            begun: false,
            media,
        }
    }
}

impl Future for Woken {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;

        // The first poll comes from hyper without a wake-up of the future.
        if !this.woken.take_wake(cx.waker()) && this.begun {
            return Poll::Pending;
        }

        this.begun = true;

        // Stored here, because the result of `catch_unwind` would move the response.
        let mut polled = Poll::Pending;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            polled = this
                .future
                .as_mut()
                .poll(&mut Context::from_waker(&this.waker));
        }));

        match caught {
            Ok(()) => polled.map(Ok),
            Err(panic) => Poll::Ready(Ok(panicked(this.media.unwrap_or(MediaType::Json), &*panic))),
        }
    }
}
