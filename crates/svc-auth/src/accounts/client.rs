//! The client of a request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::HeaderMap;

/// The client of a request; missing details are `None`.
#[derive(Debug, Clone, Default)]
pub(super) struct Client {
    pub(super) address: Option<IpAddr>,
    pub(super) user_agent: Option<String>,
}

impl Client {
    /// The network for counting attempts: an address, or for IPv6 the 64-bit prefix that one
    /// subscriber has.
    pub(super) fn network(&self) -> String {
        // All IPv4-mapped addresses have the same prefix of 64 bits, and would share one count (RFC
        // 4291, section 2.5.5.2).
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

/// Determines a client's address from the headers and the peer address of the connection.
pub(super) type ClientAddress =
    Arc<dyn Fn(&HeaderMap, Option<SocketAddr>) -> Option<IpAddr> + Send + Sync>;
