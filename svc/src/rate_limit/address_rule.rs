//! The rule by which the addresses of clients are found.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};

use super::client::network;
use super::proxies::{ClientAddress, client_address};
use super::{ForwardedHeader, RateLimitConfig, TrustedProxies};

/// The rule by which the addresses of clients are found.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressRule {
    trusted_proxies: Option<TrustedProxies>,
    forwarded_header: ForwardedHeader,
    ipv6_prefix: u8,
}

impl AddressRule {
    /// The rule of the settings.
    pub(crate) fn of(config: &RateLimitConfig) -> Self {
        let RateLimitConfig { trusted_proxies, forwarded_header, ipv6_prefix, .. } = config;
        Self {
            trusted_proxies: trusted_proxies.clone(),
            forwarded_header: *forwarded_header,
            ipv6_prefix: *ipv6_prefix,
        }
    }

    /// The address of a request's client.
    pub(super) fn address(&self, headers: &HeaderMap, extensions: &Extensions) -> ClientAddress {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
        client_address(headers, peer, self.trusted_proxies.as_ref(), self.forwarded_header)
    }

    /// The same where no client may pass for another: headers count only where the proxies are known.
    pub(crate) fn certain(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        let peer = || extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| network(peer.0.ip(), self.ipv6_prefix));
        if self.trusted_proxies.is_some() { self.counted(headers, extensions) } else { peer() }
    }

    /// The address under which a request's client is counted: of a network of IPv6 the first.
    pub(crate) fn counted(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        self.address(headers, extensions).counted.map(|address| network(address, self.ipv6_prefix))
    }
}
