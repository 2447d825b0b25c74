//! The protection against the open internet: forged requests, origins, identifiers, overload.

mod common_headers;
#[cfg(feature = "compression")]
mod compression;
mod cross_origin;
mod csrf;
mod gradient;
mod overload;
mod own_origin;
mod pressure;
#[cfg(feature = "native-auth")]
mod routes;
mod shedding;

pub(super) use common_headers::CommonHeaders;
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
#[cfg(feature = "websocket")]
pub(super) use own_origin::is_own;
#[cfg(feature = "native-auth")]
pub(crate) use routes::protect;
pub(super) use shedding::Shed;

use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode, Version, header};

use super::body::PendingBodies;
use super::panic_guard::Caught;
use super::reply::{MediaType, Refusal};
use super::unread::{PendingResponses, UnreadBody};
use crate::rate_limit::AddressRule;
use svc_core::ErrorCode;
use svc_engine::request::{REQUEST_ID, RequestId};

/// The protection between the open internet and the endpoint.
#[derive(Debug)]
pub(crate) struct Protection {
    /// `None` if requests of other sites are not checked.
    pub(crate) csrf: Option<CsrfProtection>,
    /// `None` if no other site may read responses.
    pub(crate) cross_origin: Option<CrossOriginRules>,
    /// The minimum size of a compressed response; `None` if responses are not compressed.
    #[cfg(feature = "compression")]
    pub(crate) compression: Option<u16>,
    pub(crate) request_ids: bool,
    /// `None` if the number of running requests is not limited.
    pub(crate) overload: Option<Overload>,
    /// The bodies that are still arriving.
    pub(crate) pending_bodies: Arc<PendingBodies>,
    /// The responses that their clients have not accepted yet.
    pub(crate) unread: Arc<PendingResponses>,
    /// The rule that determines the addresses of clients with unread responses.
    pub(crate) addresses: AddressRule,
}

/// The client of a request, as far as its response depends on it.
#[derive(Debug)]
pub(super) struct Client {
    /// The identifier of the request; `None` if requests have none.
    pub(super) id: Option<RequestId>,
    version: Version,
    /// Its address; `None` if it is unknown.
    pub(super) address: Option<IpAddr>,
}

impl Protection {
    /// Answers a request of the endpoint under its identifier, unless there are too many already.
    ///
    /// The request is not admitted yet: [`enter`](Self::enter) admits it once everything has
    /// arrived whose timing depends on its client or on another service. A request that would be
    /// rejected anyway is rejected here, before it costs any work.
    ///
    /// The future of the response is large, so it is constructed in place: nothing takes it by
    /// value.
    pub(super) async fn around<F: Future<Output = Response<Body>>>(
        &self,
        request: Request,
        media: Option<MediaType>,
        answer: impl FnOnce(Request, Option<IpAddr>) -> F,
    ) -> Response<Body> {
        let client = self.client(&request, self.identify(&request));
        let mut response = match self.check_load(client.address) {
            Ok(()) => {
                let answering = pin!(answer(request, client.address));
                Caught::new(client.id.as_ref(), media, answering).await
            }
            Err(refusal) => refusal.reply(media.unwrap_or(MediaType::Json)),
        };

        self.complete(&mut response, client);

        response
    }

    /// Returns the client of a request with this identifier.
    pub(super) fn client(&self, request: &Request, id: Option<RequestId>) -> Client {
        Client {
            id,
            version: request.version(),
            address: self
                .addresses
                .certain(request.headers(), request.extensions()),
        }
    }

    /// Counts the body of a response if it is large, and adds the identifier of the request.
    pub(super) fn complete(&self, response: &mut Response<Body>, client: Client) {
        UnreadBody::wrap(response, client.version, client.address, &self.unread);
        add_request_id(response, client.id);
    }

    /// Returns the identifier of a request, if requests have them.
    pub(super) fn identify(&self, request: &Request) -> Option<RequestId> {
        self.request_ids.then(|| RequestId::of(request.headers()))
    }

    /// Returns the identifier of a request whose common headers have been found.
    pub(super) fn identify_common(
        &self,
        request: &Request,
        common: CommonHeaders,
    ) -> Option<RequestId> {
        if common.has_request_id {
            self.identify(request)
        } else {
            self.request_ids.then(RequestId::fresh)
        }
    }

    /// Rejects a request that could not be admitted even if all of it had arrived.
    pub(super) fn check_load(&self, address: Option<IpAddr>) -> Result<(), Refusal> {
        self.check_unread(address)?;
        match &self.overload {
            Some(overload) if overload.is_refusing() => Err(overloaded()),
            _ => Ok(()),
        }
    }

    /// Admits an operation of a client at an address, unless there are too many already. Its whole
    /// request has arrived, and its user is identified: the permit is for the work of the service.
    ///
    /// # Errors
    /// The rejection of an operation beyond the limit.
    pub(super) async fn enter(
        &self,
        address: Option<IpAddr>,
    ) -> Result<Option<Admitted<'_>>, Refusal> {
        self.check_unread(address)?;
        let Some(overload) = &self.overload else {
            return Ok(None);
        };
        overload.admit().await.map(Some).ok_or_else(overloaded)
    }

    fn check_unread(&self, address: Option<IpAddr>) -> Result<(), Refusal> {
        if self.unread.has_room(address) {
            return Ok(());
        }
        Err(too_many(
            "clients keep more answers waiting than the service can hold; try again in a moment",
        ))
    }
}

/// Adds the identifier of the request to its response. The replies of the endpoint have a place for
/// it, which is found without hashing its name.
pub(super) fn add_request_id(response: &mut Response<Body>, id: Option<RequestId>) {
    let Some(id) = id else { return };
    let headers = response.headers_mut();
    let place = headers.iter_mut().find(|(name, _)| **name == REQUEST_ID);
    if let Some((_, place)) = place {
        *place = id.into_header();
    } else {
        headers.insert(REQUEST_ID, id.into_header());
    }
}

#[cold]
#[inline(never)]
fn overloaded() -> Refusal {
    too_many("the service has more requests than it can take; try again in a moment")
}

#[cold]
fn too_many(message: &str) -> Refusal {
    let refusal = Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::ServiceUnavailable,
        message,
    );
    refusal.with_header(header::RETRY_AFTER, "1")
}
