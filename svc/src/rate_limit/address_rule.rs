//! Determines the addresses of clients.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};

use super::client::{ClientAddress, client_address, network};
use super::{ForwardedHeader, RateLimitConfig, TrustedProxies};

/// How the address of a client is determined: from the connection, or from headers of trusted
/// proxies.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressRule {
    trusted_proxies: Option<TrustedProxies>,
    forwarded_header: ForwardedHeader,
    ipv6_prefix: u8,
}

impl AddressRule {
    /// Reads the rule from the settings.
    pub(crate) fn of(config: &RateLimitConfig) -> Self {
        let RateLimitConfig {
            trusted_proxies,
            forwarded_header,
            ipv6_prefix,
            ..
        } = config;

        Self {
            trusted_proxies: trusted_proxies.clone(),
            forwarded_header: *forwarded_header,
            ipv6_prefix: *ipv6_prefix,
        }
    }

    /// Returns the address of a request's client.
    pub(super) fn address(&self, headers: &HeaderMap, extensions: &Extensions) -> ClientAddress {
        let peer = extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map(|peer| peer.0.ip());
        client_address(
            headers,
            peer,
            self.trusted_proxies.as_ref(),
            self.forwarded_header,
        )
    }

    /// Returns an address that no client can forge: headers count only if trusted proxies are
    /// configured.
    pub(crate) fn certain(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        let peer = || {
            extensions
                .get::<ConnectInfo<SocketAddr>>()
                .map(|peer| network(peer.0.ip(), self.ipv6_prefix))
        };

        if self.trusted_proxies.is_some() {
            self.counted(headers, extensions)
        } else {
            peer()
        }
    }

    /// Returns the address under which a request's client is counted: for IPv6, the first address
    /// of its network.
    pub(crate) fn counted(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        self.address(headers, extensions)
            .counted
            .map(|address| network(address, self.ipv6_prefix))
    }
}
