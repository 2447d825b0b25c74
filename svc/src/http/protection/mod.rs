//! The protection on the open internet: forged requests, origins, identifiers, overload.

#[cfg(feature = "compression")]
mod compression;
mod cross_origin;
mod csrf;
mod gradient;
mod overload;
mod pressure;
#[cfg(feature = "native-auth")]
mod routes;
mod shedding;

#[cfg(feature = "compression")]
pub(super) use compression::compression;
pub(super) use cross_origin::CrossOriginLayer;
pub(crate) use cross_origin::CrossOriginRules;
pub(crate) use csrf::CsrfProtection;
pub(super) use csrf::Head;
#[cfg(feature = "upload")]
pub(super) use csrf::is_preflighted;
use overload::Admitted;
pub(crate) use overload::Overload;
#[cfg(feature = "native-auth")]
pub(crate) use routes::protect;
pub(super) use shedding::Shed;

use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode, header};

use super::guard::Caught;
use super::negotiate::MediaType;
use super::pending_bodies::PendingBodies;
use super::reply::Refusal;
use super::unread::{UnreadAnswers, UnreadBody};
use crate::ErrorCode;
use crate::rate_limit::AddressRule;
use crate::request::{REQUEST_ID, RequestId};

/// The protection between the open internet and the endpoint.
#[derive(Debug)]
pub(crate) struct Protection {
    /// `None` where requests of other sites are not told apart.
    pub(crate) csrf: Option<CsrfProtection>,
    /// `None` where no other site may read answers.
    pub(crate) cross_origin: Option<CrossOriginRules>,
    /// `None` where answers are not compressed: the fewest bytes of one that is.
    #[cfg(feature = "compression")]
    pub(crate) compression: Option<u16>,
    pub(crate) request_ids: bool,
    /// `None` where any number of requests may run.
    pub(crate) overload: Option<Overload>,
    /// The bodies that are still arriving.
    pub(crate) pending_bodies: Arc<PendingBodies>,
    /// The answers that their clients have not taken yet.
    pub(crate) unread: Arc<UnreadAnswers>,
    /// The way in which the addresses are found that keep them.
    pub(crate) addresses: AddressRule,
}

impl Protection {
    /// Answers a request of the endpoint under its identifier, unless there are too many already.
    ///
    /// The request is not admitted yet: [`enter`](Self::enter) does that once all is there whose time is decided by its
    /// client or by another service. One that would be refused anyway is refused here, before it costs any work.
    ///
    /// The future that answers is large, so it is made where it stays: nothing takes it by value.
    pub(super) async fn around<F: Future<Output = Response<Body>>>(
        &self,
        request: Request,
        media: Option<MediaType>,
        answer: impl FnOnce(Request, Option<IpAddr>) -> F,
    ) -> Response<Body> {
        let (id, version) = (self.identify(&request), request.version());
        let address = self.addresses.certain(request.headers(), request.extensions());
        let response = match self.check_load(address) {
            Ok(()) => {
                // A panic is answered in here, so that the log has the identifier of its request.
                let answering = pin!(answer(request, address));
                let caught = Caught::new(media.unwrap_or(MediaType::Json), answering);
                RequestId::scope(id.as_ref(), pin!(caught)).await
            }
            Err(refusal) => refusal.reply(media.unwrap_or(MediaType::Json)),
        };
        told(UnreadBody::of(response, version, address, &self.unread), id)
    }

    /// The identifier of a request, where requests have them.
    pub(super) fn identify(&self, request: &Request) -> Option<RequestId> {
        self.request_ids.then(|| RequestId::of(request.headers()))
    }

    /// Refuses a request that could not be admitted if all of it were there.
    fn check_load(&self, address: Option<IpAddr>) -> Result<(), Refusal> {
        self.check_unread(address)?;
        match &self.overload {
            Some(overload) if overload.is_refusing() => Err(overloaded()),
            _ => Ok(()),
        }
    }

    /// Admits an operation of a client at an address, unless there are too many already. All of its request has arrived,
    /// and its user is known: the permit is for the work of the service.
    ///
    /// # Errors
    /// The refusal of one that is too many.
    pub(super) async fn enter(&self, address: Option<IpAddr>) -> Result<Option<Admitted<'_>>, Refusal> {
        self.check_unread(address)?;
        let Some(overload) = &self.overload else { return Ok(None) };
        overload.admit().await.map(Some).ok_or_else(overloaded)
    }

    fn check_unread(&self, address: Option<IpAddr>) -> Result<(), Refusal> {
        if self.unread.has_room(address) {
            return Ok(());
        }
        Err(too_many("clients keep more answers waiting than the service can hold; try again in a moment"))
    }
}

/// The answer with the identifier of its request.
pub(super) fn told(mut response: Response<Body>, id: Option<RequestId>) -> Response<Body> {
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id.into_header());
    }
    response
}

fn overloaded() -> Refusal {
    too_many("the service has more requests than it can take; try again in a moment")
}

fn too_many(message: &str) -> Refusal {
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::ServiceUnavailable, message);
    refusal.with_header(header::RETRY_AFTER, "1")
}
