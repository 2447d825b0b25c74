//! The client of a request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::HeaderMap;

/// The client of a request, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Client {
    pub(super) address: Option<IpAddr>,
    pub(super) user_agent: Option<String>,
}

impl Client {
    /// The network that attempts are counted for: an address, or the 64 bits of IPv6 that one subscriber has.
    pub(super) fn network(&self) -> String {
        match self.address.map(|address| address.to_canonical()) {
            Some(IpAddr::V6(address)) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::")
            }
            Some(address) => address.to_string(),
            None => String::new(),
        }
    }
}

/// Tells a client's address by the headers and the other end of the connection.
pub(super) type ClientAddress = Arc<dyn Fn(&HeaderMap, Option<SocketAddr>) -> Option<IpAddr> + Send + Sync>;
