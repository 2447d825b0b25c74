//! Addresses of clients, as far as the proxies in between can be trusted.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, header};
use ipnet::IpNet;

use super::forwarded;
use super::list::network;
use svc_core::settings::items;

/// The proxies that are trusted to report the addresses of their clients.
///
/// ```
/// use svc::rate_limit::TrustedProxies;
///
/// let proxies: TrustedProxies = "10.0.0.0/8, 192.0.2.7".parse().map_err(|()| "not a list of networks")?;
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Whether no proxy is trusted.
    pub(in crate::rate_limit) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for TrustedProxies {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Ok(Self::default());
        }

        let entries = items(text).ok_or(())?;
        entries
            .iter()
            .map(|entry| network(entry))
            .collect::<Option<_>>()
            .map(Self)
            .ok_or(())
    }
}

impl fmt::Display for TrustedProxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(if networks.is_empty() { "none" } else { "" })?;
        f.write_str(&networks.join(", "))
    }
}

/// The header that trusted proxies report the addresses of their clients in. A proxy forwards the
/// other headers as the client has sent them, so only one header is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `X-Real-IP`.
    XRealIp,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

impl ForwardedHeader {
    const NAMES: [(Self, &str); 3] = [
        (Self::XForwardedFor, "x-forwarded-for"),
        (Self::XRealIp, "x-real-ip"),
        (Self::Forwarded, "forwarded"),
    ];
}

impl FromStr for ForwardedHeader {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let found = Self::NAMES
            .iter()
            .find(|(_, name)| name.eq_ignore_ascii_case(text));
        found.map(|(known, _)| *known).ok_or(())
    }
}

impl fmt::Display for ForwardedHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            Self::NAMES
                .iter()
                .find(|(known, _)| known == self)
                .map_or("", |(_, name)| name),
        )
    }
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// The address of a request's client, and whether it can be trusted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress {
    /// The address under which the client is counted.
    pub(crate) counted: Option<IpAddr>,
    /// The peer of the connection, if an untrusted header reports another address.
    unvouched: Option<IpAddr>,
    /// Whether the address is that of the peer, or vouched for by a trusted proxy.
    is_vouched: bool,
}

impl ClientAddress {
    /// An address that can be trusted.
    fn known(address: Option<IpAddr>) -> Self {
        Self {
            counted: address,
            unvouched: None,
            is_vouched: true,
        }
    }

    /// Returns the address, unless the client itself may have chosen it.
    pub(in crate::rate_limit) fn vouched(&self) -> Option<IpAddr> {
        self.counted.filter(|_| self.is_vouched)
    }

    /// Returns all addresses that may be the client's.
    pub(in crate::rate_limit) fn all(&self) -> impl Iterator<Item = IpAddr> {
        self.counted.into_iter().chain(self.unvouched)
    }
}

/// Returns the address of a request's client. Without a list of proxies, any client may set it: it
/// is the first entry of `X-Forwarded-For`, else `X-Real-IP`. With a list, the peer must be on it;
/// then the entries are walked from the right, as each proxy appends the peer that it saw, up to
/// the first that is not a trusted proxy.
pub(in crate::rate_limit) fn client_address(
    headers: &HeaderMap,
    peer: Option<IpAddr>,
    proxies: Option<&TrustedProxies>,
    named_in: ForwardedHeader,
) -> ClientAddress {
    let peer = peer.map(|address| address.to_canonical());
    let Some(TrustedProxies(proxies)) = proxies else {
        return named_by_anyone(headers, peer);
    };

    let is_trusted = |address: &IpAddr| proxies.iter().any(|network| network.contains(address));
    let Some(mut nearest) = peer.filter(is_trusted) else {
        return ClientAddress::known(peer);
    };

    // An unreadable entry might hide any address, so the walk ends at the proxy that appended it.
    for entry in entries(headers, named_in).into_iter().rev() {
        let Some(address) = entry else { break };
        nearest = address;
        if !is_trusted(&nearest) {
            break;
        }
    }

    ClientAddress::known(Some(nearest))
}

/// Returns the address if no proxies are configured. A header may come from the client itself, or
/// from a proxy, in which case the peer is that proxy; so neither of the two can be trusted.
fn named_by_anyone(headers: &HeaderMap, peer: Option<IpAddr>) -> ClientAddress {
    // Comparing the few header names of a request costs less than three hash lookups.
    let names_one = |name: &HeaderName| {
        *name == FORWARDED_FOR || *name == REAL_IP || *name == header::FORWARDED
    };
    if !headers.keys().any(names_one) {
        return ClientAddress::known(peer);
    }

    let first = |name: &HeaderName| {
        forwarded::address(headers.get(name)?.to_str().ok()?.split(',').next()?)
    };

    let named = first(&FORWARDED_FOR).or_else(|| first(&REAL_IP));

    ClientAddress {
        counted: named.or(peer),
        unvouched: peer,
        is_vouched: false,
    }
}

/// Returns the addresses in a header, from the left; `None` for an entry that is not an address.
fn entries(headers: &HeaderMap, named_in: ForwardedHeader) -> Vec<Option<IpAddr>> {
    let name = match named_in {
        ForwardedHeader::XForwardedFor => FORWARDED_FOR,
        ForwardedHeader::XRealIp => REAL_IP,
        ForwardedHeader::Forwarded => header::FORWARDED,
    };

    let mut entries = Vec::new();

    // Headers of the same name are one list, in their order (RFC 9110, section 5.3).
    for value in headers.get_all(name) {
        match (value.to_str(), named_in) {
            (Err(_), _) => entries.push(None),
            (Ok(text), ForwardedHeader::Forwarded) => entries.extend(forwarded::addresses(text)),
            (Ok(text), _) => entries.extend(text.split(',').map(forwarded::address)),
        }
    }

    entries
}
