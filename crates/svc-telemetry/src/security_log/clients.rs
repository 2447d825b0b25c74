//! Events of requests: the client's address and user agent, from the head of the request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap, header};

use super::{SecurityEvent, SecurityEventType};
use svc_core::request_id::RequestId;

/// Returns the address of a client, given the headers of its request and the peer of the
/// connection.
type Address = Arc<dyn Fn(&HeaderMap, Option<IpAddr>) -> Option<IpAddr> + Send + Sync>;

/// Determines the clients of a service. Without trusted proxies, the client is the peer of the
/// connection, as headers can be forged.
#[derive(Clone, Default)]
pub struct Clients(Option<Address>);

impl Clients {
    /// Clients behind proxies whose headers count.
    pub fn behind(
        address: impl Fn(&HeaderMap, Option<IpAddr>) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(address)))
    }

    /// Returns the address of a client, given the headers of its request and the peer of the
    /// connection.
    pub fn address(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<IpAddr> {
        // A socket for both families reports IPv4 clients as mapped addresses (RFC 4291, section
        // 2.5.5.2), which would be another client in the log.
        let peer = peer.map(|peer| peer.to_canonical());
        self.0
            .as_ref()
            .map_or(peer, |address| address(headers, peer))
    }

    /// Creates an event of a request with this head.
    pub fn event(
        &self,
        event_type: SecurityEventType,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> SecurityEvent {
        let peer = extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map(|peer| peer.0.ip());
        let address = self.address(headers, peer);
        let agent = headers
            .get(header::USER_AGENT)
            .map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned());

        // Events on a WebSocket happen outside of the request that opened it.
        let id = RequestId::current()
            .or_else(|| RequestId::given(headers))
            .map(|id| id.as_str().to_owned());

        SecurityEvent {
            ip_address: address,
            user_agent: agent,
            request_id: id,
            ..SecurityEvent::new(event_type)
        }
    }
}

impl std::fmt::Debug for Clients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clients")
            .field("behind_proxies", &self.0.is_some())
            .finish()
    }
}
